package cli

import (
	"github.com/spf13/cobra"

	"earshot/npu"
)

// npuWorkerCommand is the process that package npu starts to have the vendor's library in.
func npuWorkerCommand() *cobra.Command {
	var fd int
	cmd := &cobra.Command{
		Use:    "worker",
		Short:  "Run the vendor's library for another earshot process",
		Hidden: true,
		Long: `Do what comes over a socket that is open as a file descriptor, with the vendor's
library for the neural processor. earshot starts this process by itself, and starts
it again when the library hangs or crashes.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return npu.Serve(fd) },
	}
	cmd.Flags().IntVar(&fd, "fd", 3, "the descriptor")
	return cmd
}
