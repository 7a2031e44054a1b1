package npu

import (
	"bytes"
	"errors"
	"testing"

	"earshot/npu/graph"
)

func someStored(t testing.TB) []byte {
	t.Helper()
	b, err := stored{Version: "6.3.3", In: []tensor{{graph.Float16, 6}}, Out: []tensor{{graph.Int32, 4}}, Boost: 50}.store([]byte("net\nwork"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestStored(t *testing.T) {
	b := someStored(t)
	s, network, err := parseStored(b, "6.3.3")
	if err != nil || string(network) != "net\nwork" || s.Boost != 50 || s.In[0] != (tensor{graph.Float16, 6}) || s.Out[0].Bytes != 4 {
		t.Errorf("got %+v %q %v", s, network, err)
	}
	if _, _, err := parseStored(b, "8.2.16"); !errors.Is(err, ErrStored) {
		t.Errorf("another version: %v", err)
	}
	for i := range b {
		damaged := bytes.Clone(b)
		damaged[i] ^= 0x10
		if s, network, err := parseStored(damaged, "6.3.3"); err == nil && (string(network) != "net\nwork" || checkTensors(s.In, s.Out) != nil) {
			t.Errorf("a wrong byte %d was not seen", i)
		}
		if _, _, err := parseStored(b[:i], "6.3.3"); !errors.Is(err, ErrStored) {
			t.Errorf("cut off at %d: %v", i, err)
		}
	}
}

func FuzzStored(f *testing.F) {
	f.Add(someStored(f))
	f.Add([]byte(storedMagic + "{}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, network, err := parseStored(b, "6.3.3")
		switch {
		case err != nil && !errors.Is(err, ErrStored):
			t.Errorf("an error of another kind: %v", err)
		case err == nil && (len(network) > len(b) || checkTensors(s.In, s.Out) != nil):
			t.Errorf("got %+v", s)
		}
	})
}
