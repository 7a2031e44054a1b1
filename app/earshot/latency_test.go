package main

import (
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"
)

// reportLatency says how long things took, by the service's own log.
func reportLatency(t *testing.T, log string) {
	t.Helper()
	figures := map[string][]float64{}
	take := func(what, duration string) {
		d, err := time.ParseDuration(duration)
		if err != nil {
			t.Fatal(err)
		}
		figures[what] = append(figures[what], d.Seconds())
	}
	for _, m := range regexp.MustCompile(`msg=stored .*delay=(\S+) silence=(\S+)`).FindAllStringSubmatch(log, -1) {
		take("from the end that was found to stored text", m[1])
		take("from the last speech to stored text", m[2])
	}
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`msg=caption .*start=(\S+) age=(\S+)`).FindAllStringSubmatch(log, -1) {
		if !seen[m[1]] {
			take("from the start, pre-roll included, to the first caption", m[2])
		}
		seen[m[1]] = true
	}
	for what, x := range figures {
		t.Logf("%s: %s s (%d)", what, spread(x), len(x))
	}
}

// spread is the least, the middle, the 95th percentile and the most of x.
func spread(x []float64) string {
	slices.Sort(x)
	if len(x) == 0 {
		return "-"
	}
	at := func(q float64) float64 { return x[min(len(x)-1, int(q*float64(len(x))))] }
	return fmt.Sprintf("%.3f, p50 %.3f, p95 %.3f, %.3f", x[0], at(0.5), at(0.95), x[len(x)-1])
}
