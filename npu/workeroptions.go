package npu

import "time"

// WorkerOptions are how the worker process is started and watched. The zero value is
// right.
type WorkerOptions struct {
	Command []string // the process; nil: this program with the arguments "npu worker"
	Library string   // as for Open

	// How long a call may take before the worker is killed, where its context doesn't end
	// it earlier. 0: 30 s to open, 10 min to compile or restore, 30 s to execute.
	OpenLimit, CompileLimit, ExecuteLimit time.Duration
}
