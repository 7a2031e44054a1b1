package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"earshot/npu"
	"earshot/whisper"
	"earshot/whisper/onnpu"
	"earshot/whisper/weights"
)

// npuCommand is `earshot npu …`: what a board's NPU is used for.
func npuCommand(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "npu",
		Short: "Plan for a board's neural processor",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(npuPlanCommand(env), npuWorkerCommand())
	return cmd
}

// npuPlanFlags are the flags of `earshot npu plan`.
type npuPlanFlags struct {
	soc, model                      string
	budget, allocations, operations int
	asJSON, sweep                   bool
	svg                             string
}

func npuPlanCommand(env *Env) *cobra.Command {
	var f npuPlanFlags
	var boards []string
	for _, p := range onnpu.Profiles() {
		boards = append(boards, p.Board)
	}
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Say in which windows and graphs a model's encoder fits a board's NPU",
		Long: `Predict for every length of window and every way of cutting the encoder into graphs
what it takes on a board's NPU, and say which would be used. Nothing is compiled or run,
and no board is needed.

Ways: whole is the encoder as one plain graph; heads computes the scores of one head at
a time, rows of one head and 128 rows; halves and layers have as many graphs; reloaded has
one graph loaded at a time, for each window anew; parts has two graphs of each layer;
feed-forward leaves attention to the CPU.

--json prints one object:
  profile     the board: each figure as {value, source}
  model       the model's name
  plans       for each window and way: window_s, positions, way, fits, refused (why not),
              peak_bytes and allocations held at once, spare_bytes of the budget,
              operations of the largest graph, calls of the NPU, weight_bytes, flop,
              moved_bytes, predicted_ms
  choices     for each window: window_s, positions, way, reason
  sweep       with --sweep, for each way: way, and largest_window_s by budget in MiB;
              null where no window fits
  note        what has not been measured`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return planNPU(env, f) },
	}
	cmd.Flags().StringVar(&f.soc, "soc", "auto", "`NAME` of a board: "+strings.Join(boards, ", ")+"; auto is the one that this is")
	cmd.Flags().StringVarP(&f.model, "model", "m", "tiny.en", "`NAME` of a model; it need not be here")
	cmd.Flags().IntVar(&f.budget, "budget-mib", 0, "plan with so many MiB instead of the profile's")
	cmd.Flags().IntVar(&f.allocations, "max-allocs", 0, "plan with so many allocations at once")
	cmd.Flags().IntVar(&f.operations, "max-ops", 0, "plan with so many operations in a graph")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&f.sweep, "sweep", false, "add the longest window of each way for budgets from 4 MiB on")
	cmd.Flags().StringVar(&f.svg, "svg", "", "plot what is held at once over the length of the window, to `FILE`")
	return cmd
}

func planNPU(env *Env, f npuPlanFlags) error {
	profile, err := f.profile()
	if err != nil {
		return err
	}
	parameters, err := planModel(env, f.model)
	if err != nil {
		return err
	}
	report := newPlanReport(profile, parameters)
	if f.sweep {
		report.sweep(parameters)
	}
	if f.svg != "" {
		if err := os.WriteFile(f.svg, []byte(report.plot()), 0o666); err != nil {
			return err
		}
	}
	if f.asJSON {
		return writeJSON(env.Stdout, report)
	}
	return report.WriteTable(env.Stdout)
}

// profile is the board's, with what the user knows better.
func (f npuPlanFlags) profile() (onnpu.Profile, error) {
	name := f.soc
	if name == "auto" {
		if name = npu.Here().Board; name == "" {
			return onnpu.Profile{}, errors.New("--soc auto: this is no board that is known; name one, as in --soc genio-700")
		}
	}
	p, err := onnpu.FindProfile(name)
	if err != nil {
		return p, fmt.Errorf("--soc: %w", err)
	}
	for _, given := range []struct {
		flag  string
		value int
		to    *onnpu.Known[int]
	}{{"--budget-mib", f.budget, &p.BudgetMiB}, {"--max-allocs", f.allocations, &p.MaxAllocations}, {"--max-ops", f.operations, &p.MaxOperations}} {
		switch {
		case given.value < 0 || given.value > 1<<20:
			return p, fmt.Errorf("%s %d: between 1 and %d", given.flag, given.value, 1<<20)
		case given.value > 0:
			*given.to = onnpu.Known[int]{Value: given.value, Source: "given by " + given.flag}
		}
	}
	return p, nil
}

// planModel is a model that is here, or a published one by its sizes.
func planModel(env *Env, name string) (*onnpu.Parameters, error) {
	m, err := openModel(env, name)
	if err == nil {
		defer m.Close()
		return onnpu.Sizes(name, whisper.Dims(m.Header.Dims)), nil
	}
	if known, ok := weights.FindModel(name); ok {
		return onnpu.Sizes(name, whisper.Dims(known.Dims)), nil
	}
	return nil, err
}
