// Package neuron is the raw symbol table of MediaTek's Neuron Adapter library, and of its
// Runtime library, by dlopen and dlsym. C names are kept. Each symbol is optional: calling
// one that the library lacks gives an *Error with the code Missing.
//
// It is written from facts/npu.md (sections 3, 4, 5 and 7.1) and facts/neuron-observed.md
// alone; the vendor's own header was neither read nor copied. Sections of facts/npu.md
// are what "section" means below.
//
// A Library is not safe for concurrent use: it belongs to one goroutine on one locked
// thread. The package keeps no memory; who calls says how long a buffer must live.
package neuron
