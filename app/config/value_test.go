package config_test

import (
	"fmt"
	"testing"
	"time"
)

// TestValues has each value in several forms, the first as it is shown.
func TestValues(t *testing.T) {
	for _, c := range []struct {
		key   string
		forms []string
		want  any
	}{
		{"backup-every", []string{"300ms", "0.3s", "300000us"}, 300 * time.Millisecond},
		{"backup-every", []string{"0s", "0", "0d", "0h"}, time.Duration(0)},
		{"backup-every", []string{"90s", "1m30s", "1.5m"}, 90 * time.Second},
		{"backup-every", []string{"36h", "1d12h", "1.5d"}, 36 * time.Hour},
		{"backup-every", []string{"30d", "720h"}, 720 * time.Hour},
		{"backup-every", []string{"1ns"}, time.Nanosecond},
		{"max-audio-size", []string{"500MB", "500 MB", "0.5GB", "500000kB", "500000000B"}, "500MB"},
		{"max-audio-size", []string{"64MiB", "65536KiB", "0.0625GiB"}, "64MiB"},
		{"max-audio-size", []string{"0", "0B", "0GB"}, "0"},
		{"max-audio-size", []string{"99999999999999B"}, "99999999999999B"},
		{"keep-text", []string{"never"}, "never"},
		{"keep-text", []string{"forever"}, "forever"},
		{"keep-text", []string{"7d", "168h"}, "7d"},
	} {
		t.Run(c.forms[0], func(t *testing.T) {
			for _, form := range c.forms {
				s := load(t, fmt.Sprintf("store: {%s: %s}", c.key, form)).Store
				got := map[string]any{"backup-every": s.BackupEvery, "max-audio-size": s.MaxAudioSize.String(), "keep-text": s.KeepText.String()}[c.key]
				if got != c.want {
					t.Errorf("%s: got %v, want %v", form, got, c.want)
				}
			}
		})
	}
}
