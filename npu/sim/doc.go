// Package sim is a library with the C interface of MediaTek's Neuron Adapter that computes
// on the CPU and behaves like a named board. It is a test double of the vendor: it is C,
// shares no code with the Go side, and is found by it as the vendor's library would be.
// README.md says what it reproduces and what is assumed.
//
// Its Go code is for tests: where the library is, and the test that builds and drives it.
package sim
