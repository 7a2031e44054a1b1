package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"earshot/app/config"
	"earshot/app/panel"
	"earshot/whisper/token"
)

// configCommand is `earshot config …`: the one configuration file.
func configCommand(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Write, check and show the configuration",
		Long: "The configuration is one YAML file, " + config.DefaultPath + " or the one that --config names.\n" +
			"Everything works without it.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(configExampleCommand(env), configCheckCommand(env), configShowCommand(env))
	return cmd
}

func configExampleCommand(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:     "example",
		Short:   "Print a configuration file with every key, explained",
		Example: "  earshot config example > earshot.yaml",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(env.Stdout, config.Example())
			return err
		},
	}
}

func configCheckCommand(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "check [FILE]",
		Short: "Find everything that is wrong with a configuration file",
		Long: "Find everything that is wrong with a configuration file, by default " + config.DefaultPath + ".\n" +
			"The exit status is 0 when the file is right, and 1 when it is wrong.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			path := strings.Join(args, "")
			l, err := config.Load(config.Sources{Path: path, Checks: configChecks})
			if errors.As(err, new(config.Problems)) {
				return wrongConfig{err}
			}
			if err != nil {
				return err
			}
			if l.Path == "" {
				fmt.Fprintf(env.Stderr, "there is no %s; the defaults hold\n", config.DefaultPath)
				return nil
			}
			_, err = fmt.Fprintf(env.Stdout, "%s: ok\n", l.Path)
			return err
		},
	}
}

// wrongConfig is the end of a check that found something: it has done its work, so the
// exit status is exitSome.
type wrongConfig struct{ error }

func (e wrongConfig) Unwrap() error { return e.error }

func configShowCommand(env *Env) *cobra.Command {
	var f configFlags
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print what holds, and where each value comes from",
		Long: "Print the configuration that holds, as a file, and behind each value where it comes from: the\n" +
			"configuration file, what was changed on the page (" + config.SettingsName + " in the state folder), flags, or\n" +
			"the default. It takes the flags that can stand behind earshot serve.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := f.load(cmd, env)
			if err != nil {
				return err
			}
			for _, note := range l.Notes {
				fmt.Fprintln(env.Stderr, "earshot: note:", note)
			}
			_, err = fmt.Fprint(env.Stdout, l.Show())
			return err
		},
	}
	f.add(cmd)
	return cmd
}

// configFlags say where the configuration is, and what is not as it says.
type configFlags struct{ path string }

// configOverrides are the flags that stand for keys, in the form that they have with
// other commands.
var configOverrides = []struct{ flag, short, key, usage string }{
	{"source", "s", "source", "where sound comes from: the `NAME` of a microphone or a part of it, file:PATH, loop:PATH or stdin"},
	{"model", "m", "model", "`NAME` of a model; earshot model list tells which are here"},
	{"language", "l", "language", "spoken language (en, de, \"French\", …), several with commas to choose from, or auto"},
	{"window", "", "window", "auto, or full for the model's 30 s"},
	{"threads", "", "threads", "threads that compute; 0 is one for each core"},
	{"compute-type", "", "compute-type", "int8 or float32"},
	{"listen", "", "server.listen", "`ADDRESS:PORT` of the page and the API, or off"},
	{"log-level", "", "log-level", "debug, info, warn or error"},
}

func (f *configFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.path, "config", "", "configuration `FILE` (default "+config.DefaultPath+", if it is there)")
	for _, o := range configOverrides {
		cmd.Flags().StringP(o.flag, o.short, "", o.usage)
	}
}

// load reads the configuration with the flags of cmd on top of it.
func (f *configFlags) load(cmd *cobra.Command, env *Env) (*config.Loaded, error) {
	s := config.Sources{Path: f.path, StateDir: env.StateDir, Checks: configChecks}
	for _, o := range configOverrides {
		if flag := cmd.Flags().Lookup(o.flag); flag.Changed {
			s.Overrides = append(s.Overrides, config.Override{Key: o.key, Value: flag.Value.String(), From: "--" + o.flag})
		}
	}
	return config.Load(s)
}

// configChecks know what app/config cannot.
var configChecks = config.Checks{"language": checkLanguages, "controls.mute-key": checkKey}

func checkKey(value string) error {
	if value == "off" {
		return nil
	}
	_, err := panel.ParseCode(value)
	return err
}

func checkLanguages(value string) error {
	if value == "auto" {
		return nil
	}
	for name := range strings.SplitSeq(value, ",") {
		if _, known := token.FindLanguage(strings.TrimSpace(name)); !known {
			return fmt.Errorf("no language %q is known", name)
		}
	}
	return nil
}
