package cli

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"earshot/app/config"
	"earshot/app/pipeline"
	"earshot/audio/capture"
	"earshot/store"
)

func serveCommand(env *Env) *cobra.Command {
	var f configFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Listen, and write down what is said",
		Long: `Listen to a microphone, find speech, and write it down while people talk. What was said
is kept in the state folder: see earshot recordings, search and export.

Everything is set in the configuration file (earshot config example); flags stand above
it. SIGHUP reads it again. SIGINT and SIGTERM end it when the current utterance is
written down.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serve(cmd.Context(), env, func() (*config.Loaded, error) { return f.load(cmd, env) })
		},
	}
	f.add(cmd)
	return cmd
}

// service is a running earshot serve.
type service struct {
	env      *Env
	load     func() (*config.Loaded, error)
	log      *slog.Logger
	level    *slog.LevelVar
	pipeline *pipeline.Pipeline
	controls *controls
	started  time.Time

	mu     sync.Mutex
	config config.Config // as it was at the start; reload changes what is live
}

func serve(ctx context.Context, env *Env, load func() (*config.Loaded, error)) error {
	loaded, err := load()
	if err != nil {
		return err
	}
	s := &service{env: env, load: load, config: loaded.Config, level: new(slog.LevelVar), started: time.Now()}
	s.log = slog.New(slog.NewTextHandler(env.Stderr, &slog.HandlerOptions{Level: s.level}))
	s.setLevel()
	for _, note := range loaded.Notes {
		s.log.Warn(note.Error())
	}
	listener, err := listenHTTP(s.config.Server.Listen)
	if err != nil {
		return err
	}
	if listener != nil {
		defer listener.Close()
	}
	db, err := store.Open(ctx, s.storeOptions())
	if err != nil {
		return err
	}
	if s.controls, err = newControls(env.StateDir, s.config.Controls, s.log); err != nil {
		db.Close()
		return err
	}
	source, err := s.build(ctx, db)
	if err != nil {
		db.Close()
		return err
	}
	defer func() { s.pipeline.Store().Close() }()
	defer source.Close()

	s.controls.attach(s.pipeline)
	defer s.controls.run(ctx)()
	ctx, stop := context.WithCancel(ctx)
	var cared sync.WaitGroup
	cared.Go(func() { s.care(ctx) })
	defer cared.Wait()
	defer stop()
	if listener != nil {
		stop := s.serveHTTP(listener)
		defer stop()
		s.log.Info("listening", "address", "http://"+listener.Addr().String())
	}
	notify := notifier(os.Getenv("NOTIFY_SOCKET"))
	go notify.run(ctx, s.line)
	context.AfterFunc(ctx, func() { notify.send("STOPPING=1") })
	if err := s.pipeline.Run(ctx); err != nil {
		return err
	}
	if ctx.Err() == nil {
		s.log.Info("the source is at its end")
		<-ctx.Done() // what was said can be asked for
	}
	return nil
}

// build makes the pipeline.
func (s *service) build(ctx context.Context, db *store.Store) (capture.Source, error) {
	models, err := s.models()
	if err != nil {
		return nil, err
	}
	detector, err := openDetector(s.env)
	if err != nil {
		return nil, err
	}
	options := captureOptions(s.env)
	options.Log, options.Preset = s.log, soundOptions(s.config.Audio)
	var built atomic.Pointer[pipeline.Pipeline] // the source may have something to say before
	options.Notify = func(e capture.Event) {
		s.controls.sourceRuns(e.State == capture.Running)
		if p := built.Load(); p != nil {
			p.SourceChanged(e)
		}
	}
	source, err := capture.Open(ctx, s.config.Source, options)
	if err != nil {
		return nil, err
	}
	s.pipeline = pipeline.New(source, detector, db, models, s.pipelineOptions())
	built.Store(s.pipeline)
	return source, nil
}

// care looks after the store, opens it again where it has to be, and reads the
// configuration again when it is told to.
func (s *service) care(ctx context.Context) {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	ended := make(chan error)
	run := func() { ended <- s.pipeline.Store().Run(ctx) }
	go run()
	for {
		select {
		case <-hup:
			s.reload()
		case err := <-ended:
			if ctx.Err() != nil {
				return
			}
			s.log.Warn("the store is opened again", "reason", err)
			s.reopen(ctx)
			go run()
		}
	}
}

// reopenEvery is how often it is tried.
const reopenEvery = 5 * time.Second

// reopen opens the store again, which sets a damaged database aside.
func (s *service) reopen(ctx context.Context) {
	s.mu.Lock()
	options := s.storeOptions()
	s.mu.Unlock()
	for ctx.Err() == nil {
		err := s.pipeline.Reopen(func() (*store.Store, error) {
			return store.Open(context.WithoutCancel(ctx), options) // what is written down last wants a store too
		})
		if err == nil {
			return
		}
		s.log.Error("the store cannot be opened", "problem", err)
		select {
		case <-ctx.Done():
		case <-time.After(reopenEvery):
		}
	}
}

// reload applies what may change while earshot runs.
func (s *service) reload() {
	loaded, err := s.load()
	if err != nil {
		s.log.Error("the configuration stays as it is", "problem", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range config.Diff(s.config, loaded.Config) {
		if !c.Live {
			s.log.Warn("this takes a restart", "key", c.Key, "now", c.Old, "then", c.New)
			continue
		}
		s.log.Info("changed", "key", c.Key, "from", c.Old, "to", c.New)
	}
	now, then := &s.config.Store, loaded.Store
	now.KeepText, now.KeepAudio = then.KeepText, then.KeepAudio
	now.MaxTextSize, now.MaxAudioSize = then.MaxTextSize, then.MaxAudioSize
	s.config.LogLevel = loaded.LogLevel
	s.setLevel()
	s.pipeline.Store().SetRetention(s.storeOptions().Retention)
}

func (s *service) setLevel() {
	if err := s.level.UnmarshalText([]byte(s.config.LogLevel)); err != nil {
		panic("BUG: " + err.Error()) // it was checked
	}
}

// line says in a few words how things are.
func (s *service) line() string {
	st := s.pipeline.Status()
	text := fmt.Sprintf("%s; %d texts; %s", st.Source.State, st.Segments, st.Model)
	if st.Muted {
		text = "muted; " + text
	}
	for _, p := range st.Problems {
		text += "; " + p.Kind + ": " + p.Reason
	}
	return text
}
