package npu

import (
	"fmt"
	"os"
	"testing"
)

// TestMain lets the test binary be its own worker.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "npu" {
		if err := Serve(3); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}
