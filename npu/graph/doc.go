// Package graph is what earshot asks of an NPU: a small list of operations with their
// shapes and types, and what they cost. It knows no vendor's numbers and no network.
//
// A Graph is built once for fixed shapes, checked while it is built, and not changed
// afterwards. Package npu hands it to the vendor's library; Eval says in plain Go what
// it means.
package graph
