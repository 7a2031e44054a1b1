// Package onnpu is Whisper's encoder as graphs for an NPU (package npu/graph), in windows
// of fixed lengths, and the planner that says which windows and which way of cutting the
// encoder fit what a board has. No board has been measured yet: what profiles assume is
// marked as assumed.
//
// It computes what whisper/ref defines, in float16: weights, and every tensor between two
// operations. Where the board lacks an operation it is put together from others whose
// intermediate values stay inside float16 (see norm and gelu). A score tensor never leaves
// the graph that made it: what crosses between graphs has D columns.
//
// The package knows no vendor: graphs go to a Compile function and come back as Networks.
// It has no way back to the CPU when an NPU fails; its caller has.
package onnpu
