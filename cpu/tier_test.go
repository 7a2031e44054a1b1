package cpu

import (
	"os"
	"testing"
)

// TestTier fails where a tier was asked for and another one runs, so that a test
// run by tier cannot pass without it.
func TestTier(t *testing.T) {
	t.Logf("tier %s of %v", Tier(), Tiers())
	if want := os.Getenv("EARSHOT_CPU"); want != "" && Tier() != want {
		t.Errorf("EARSHOT_CPU asks for tier %s, got %s of %v", want, Tier(), Tiers())
	}
}

func TestPickTier(t *testing.T) {
	low, middle, high := &kernels{name: "low"}, &kernels{name: "middle"}, &kernels{name: "high"}
	all := []*kernels{low, middle, high}
	for mask, want := range map[string]*kernels{"": high, "low": low, "middle": middle, "high": high, "higher": high} {
		if got := pickTier(all, mask); got != want {
			t.Errorf("pickTier(%q) = %s, want %s", mask, got.name, want.name)
		}
	}
}
