package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"earshot/store"
)

// withStore opens the store in the state folder for one command. It may be open in
// `earshot serve` meanwhile. Where there is none yet, none is made: it would belong to
// whoever asked, not to the service.
func withStore(ctx context.Context, env *Env, opts store.Options, do func(*store.Store) error) (err error) {
	opts.Dir = env.StateDir
	if !store.Exists(opts.Dir) {
		return fmt.Errorf("%s: %w", opts.Dir, store.ErrNothing)
	}
	s, err := store.Open(ctx, opts)
	if err != nil {
		return err
	}
	defer func() {
		if closed := s.Close(); err == nil {
			err = closed
		}
	}()
	if err := s.Salvaged(ctx); err != nil {
		return err
	}
	status, err := s.Status(ctx)
	if err != nil {
		return err
	}
	for _, p := range status.Problems {
		fmt.Fprintf(env.Stderr, "earshot: note: %s: %s\n", p.Kind, p.Reason)
	}
	return do(s)
}

// parseID reads the id of a recording.
func parseID(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 {
		return 0, fmt.Errorf("%q is not the id of a recording; `earshot recordings` lists them", text)
	}
	return id, nil
}

func deleteCommand(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "delete ID…",
		Short: "Delete recordings for good",
		Long: "Delete recordings: their text, their sound, and what the search index and backups hold of them.\n" +
			"Copies that `earshot backup` made are changed too, where they still are in their place.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withStore(cmd.Context(), env, store.Options{}, func(s *store.Store) error {
				var ids []int64
				missing := eachModel(env, args, func(text string) error {
					id, err := parseID(text)
					if err == nil {
						_, err = s.Recording(cmd.Context(), id)
					}
					if err != nil {
						return err
					}
					ids = append(ids, id)
					return nil
				})
				// All at once: each deletion goes through all backups.
				if err := s.Delete(cmd.Context(), ids...); err != nil {
					return err
				}
				return missing
			})
		},
	}
}

func backupCommand(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy all recordings' text into a file",
		Long: "Copy the database as it is now into a file; a recording may be going on. Kept sound is not in it.\n\n" +
			"To go back to a copy: end earshot, put the copy in the place of earshot.db in the state folder,\n" +
			"and remove the other files named earshot.* there.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withStore(cmd.Context(), env, store.Options{}, func(s *store.Store) error {
				return s.Backup(cmd.Context(), args[0])
			})
		},
	}
}

func pruneCommand(env *Env) *cobra.Command {
	var keep store.Retention
	var textMB, audioMB int64
	var setAside bool
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Delete what is older or larger than wanted",
		Long: "Delete text and sound that is too old, or the oldest of what is too much, as `earshot delete` does.\n" +
			"Sound that is not transcribed yet goes only with its text's age. Without flags, only deletions\n" +
			"that were cut off are finished.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			keep.TextBytes, keep.AudioBytes = textMB*1e6, audioMB*1e6
			keep.KeepAudio = true
			return withStore(cmd.Context(), env, store.Options{Retention: keep}, func(s *store.Store) error {
				if setAside {
					if err := s.RemoveSetAside(cmd.Context()); err != nil {
						return err
					}
				}
				return s.Prune(cmd.Context())
			})
		},
	}
	flags := cmd.Flags()
	flags.DurationVar(&keep.TextAge, "text-age", 0, "delete text older than this, such as 168h")
	flags.DurationVar(&keep.AudioAge, "audio-age", 0, "delete sound older than this")
	flags.Int64Var(&textMB, "text-mb", 0, "delete the oldest text until the database has no more than this many MB")
	flags.Int64Var(&audioMB, "audio-mb", 0, "delete the oldest sound until there is no more than this many MB")
	flags.BoolVar(&setAside, "set-aside", false, "delete damaged databases that were set aside")
	return cmd
}
