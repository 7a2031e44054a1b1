// Package config knows what earshot is told: one YAML file that people write, what the
// page changed (settings.yaml in the state folder), and what the command line says, in
// this order, the later ones first in rank. It also knows where the state folder is.
//
// The structs here are the one source of all keys: names, defaults, checks and comments
// stand in their tags, and the annotated example, the checks and the documentation of
// the page come from there.
//
// It reads a subset of YAML 1.2: mappings and plain values, no anchors, tags or merges.
// The file of the administrator is never written. settings.yaml is replaced whole.
//
// What needs other packages to judge (is there such a language) comes in as Checks.
package config

import "time"

// Config is everything that can be set. Its tags are:
//
//	yaml     the name of the key
//	default  what holds where nothing is said
//	in       the least and the greatest value
//	oneof    all values there are
//	check    a name in the table checks
//	live     the key can change while earshot runs (SIGHUP); others need a restart
//	page     the page may change the key
//	doc      the comment in the annotated example
type Config struct {
	Source      string `yaml:"source" default:"default" doc:"Where sound comes from, as for --source: default, or the name of a microphone or a part of it (earshot devices lists them); file:PATH, loop:PATH or stdin for tests. Options follow behind a question mark, as in stdin?rate=48000."`
	Model       string `yaml:"model" default:"tiny.en" check:"model" page:"yes" doc:"The model that writes down what is said; earshot model list tells which are here."`
	Language    string `yaml:"language" default:"auto" check:"language" page:"yes" doc:"What is spoken: en, de, French …; several with commas to choose from; auto for all that the model knows."`
	Window      string `yaml:"window" default:"auto" oneof:"auto full" doc:"What the model looks at: auto is the utterance and 2 s of silence, longer where the text is doubtful; full is always 30 s, at several times the work."`
	Threads     int    `yaml:"threads" default:"0" in:"0 256" doc:"Threads that compute; 0 is one for each processor core."`
	ComputeType string `yaml:"compute-type" default:"int8" oneof:"int8 float32" doc:"int8, or float32 for the accuracy of the reference at four times the memory."`
	Hotwords    string `yaml:"hotwords" default:"" page:"yes" doc:"Words that are likely: names, terms of the trade."`
	Prompt      string `yaml:"prompt" default:"" page:"yes" doc:"Text that the speech is to be understood to follow on, for spelling and style."`
	LogLevel    string `yaml:"log-level" default:"info" oneof:"debug info warn error" live:"yes" doc:"The least important messages that are logged."`

	Audio       Audio       `yaml:"audio" doc:"What is done to sound before anything listens to it."`
	Endpointing Endpointing `yaml:"endpointing" doc:"Where an utterance begins and ends."`
	Live        Live        `yaml:"live" doc:"Text while someone speaks, and what gives way when the machine is too slow."`
	Store       Store       `yaml:"store" doc:"What is kept, and for how long. What is deleted is gone from the disk, from the search index and from the backups."`
	Server      Server      `yaml:"server" doc:"The page and the programs' way in."`
	Controls    Controls    `yaml:"controls" doc:"A key that mutes, and a light that is lit while earshot listens, on devices that have them."`
}

// Audio is how sound is prepared.
type Audio struct {
	Gain     string `yaml:"gain" default:"auto" oneof:"auto on off" doc:"Slow gain for people far from the microphone. auto is on for microphones and off for files and pipes."`
	HighPass string `yaml:"high-pass" default:"auto" oneof:"auto on off" doc:"Removes a constant offset and rumble below 60 Hz. auto is as with gain."`
	Channel  string `yaml:"channel" default:"mix" check:"channel" doc:"mix, or the number of the one channel to take. The mix leaves out what is silent, and one of two channels that cancel each other."`
}

// Endpointing is vad.Options for live sound, and what goes with it.
type Endpointing struct {
	Threshold    float64       `yaml:"threshold" default:"0.5" in:"0.05 0.95" doc:"Probability of speech from which on someone speaks. Higher is deafer to noise and to quiet voices."`
	EndThreshold float64       `yaml:"end-threshold" default:"0.35" in:"0.01 0.95" doc:"Probability below which a pause begins; at most threshold."`
	BackgroundDB float64       `yaml:"background-db" default:"10" in:"0 40" doc:"Where people talk behind the speaker, what is so many decibels quieter than he is, and no louder than they are, is a pause. Lower ends more utterances in time and splits more sentences; 0 is off."`
	MinSpeech    time.Duration `yaml:"min-speech" default:"96ms" in:"0s 2s" doc:"What is shorter was no speech."`
	MinSilence   time.Duration `yaml:"min-silence" default:"608ms" in:"100ms 5s" doc:"A pause of this length ends the utterance. Shorter gives text sooner and splits more sentences."`
	PreRoll      time.Duration `yaml:"pre-roll" default:"300ms" in:"0s 2s" doc:"Sound kept in front of the first speech, so that no first word is lost."`
	Trail        time.Duration `yaml:"trail" default:"400ms" in:"0s 2s" doc:"Sound kept behind the last speech; never more than min-silence."`
	Longest      time.Duration `yaml:"longest" default:"14s" in:"2s 29s" doc:"Longest utterance; it is cut at its quietest point."`
	Speculate    time.Duration `yaml:"speculate" default:"200ms" in:"0s 5s" doc:"Silence after which the text is computed in advance; it is thrown away when speech goes on. From min-silence on nothing is done in advance."`
}

// Live is about the time from speech to text.
type Live struct {
	Partials     bool          `yaml:"partials" default:"true" page:"yes" doc:"Show text while someone still speaks."`
	Queue        time.Duration `yaml:"queue" default:"1m" in:"5s 1h" doc:"Sound that may wait for the model in memory. What is more waits on the disk."`
	WhenSlow     []string      `yaml:"when-slow" default:"[drop-partials, smaller-model, later]" oneof:"drop-partials smaller-model later" doc:"What is done when the machine is slower than speech, in this order: show no partial text, take a smaller model, keep the sound and write it down later. Without later up to an hour of sound waits in memory."`
	SmallerModel string        `yaml:"smaller-model" default:"auto" check:"model" doc:"The model for smaller-model; auto is the largest one here that is smaller than model."`
}

// Store is how long things are kept.
type Store struct {
	KeepText         Keep          `yaml:"keep-text" default:"forever" live:"yes" page:"yes" doc:"How long text is kept. never keeps no history: nothing is written to the disk, neither text nor sound; to begin or end that takes a restart."`
	KeepAudio        Keep          `yaml:"keep-audio" default:"never" live:"yes" page:"yes" doc:"How long sound is kept; never once it is written down, and not without its text. To begin or end that takes a restart."`
	MaxTextSize      Size          `yaml:"max-text-size" default:"0" in:"0 1TB" live:"yes" doc:"The oldest text goes when the database is larger; 0 is no limit."`
	MaxAudioSize     Size          `yaml:"max-audio-size" default:"0" in:"0 100TB" live:"yes" doc:"The oldest sound goes when there is more of it; 0 is no limit."`
	MinFree          Size          `yaml:"min-free" default:"64MiB" in:"1MB 1TB" doc:"When less of the disk is free, the oldest sound goes and no more is kept; text is."`
	DeleteTextIfFull bool          `yaml:"delete-text-if-full" default:"false" doc:"When that was not enough, the oldest text may go too."`
	BackupEvery      time.Duration `yaml:"backup-every" default:"1d" in:"0s 366d" doc:"Interval of copies of the text in the state folder, from which a damaged database is restored; 0s makes none."`
	Backups          int           `yaml:"backups" default:"2" in:"1 100" doc:"Copies that are kept."`
}

// NoHistory says that nothing may be written to the disk.
func (s Store) NoHistory() bool { return s.KeepText == Never }

// KeepsAudio says whether sound is kept once it is written down.
func (s Store) KeepsAudio() bool { return s.KeepAudio != Never && !s.NoHistory() }

// Server is about HTTP.
type Server struct {
	Listen string `yaml:"listen" default:"127.0.0.1:8080" check:"listen" doc:"Address and port of the page and the API, or off. 127.0.0.1 is reached from this machine only."`
}

// Controls are keys and lights on the device's case.
type Controls struct {
	MuteKey     string `yaml:"mute-key" default:"KEY_MICMUTE" check:"key" doc:"The key that mutes with one press and listens again with the next, or a switch that mutes as long as it is on, such as SW_MUTE_DEVICE. What has another name is key:NUMBER or switch:NUMBER, as in linux/input-event-codes.h; off is none. The user that earshot runs as needs leave to read /dev/input."`
	InputDevice string `yaml:"input-device" default:"" doc:"The input device with that key: its name, a part of it, or its path. Empty takes every one that has the key."`
	Light       string `yaml:"light" default:"" check:"led" doc:"The LED that is lit while earshot listens, by its name in /sys/class/leds; empty is none. The user that earshot runs as needs leave to write there."`
}

// Default is what holds where nothing is said.
func Default() Config {
	var c Config
	for _, k := range keys() {
		if p := k.set(&c, k.Default, "", nil); p != nil {
			panic("BUG: default of " + p.Error())
		}
	}
	return c
}
