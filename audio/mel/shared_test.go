package mel

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// sharedFile is the path of a file in the folder with recordings and reference
// values beside the repository.
func sharedFile(t *testing.T, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = parent
	}
	shared := filepath.Join(filepath.Dir(dir), "shared")
	if _, err := os.Stat(shared); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("reference values are missing: %v", err)
		}
		t.Skipf("reference values are missing: %v", err)
	}
	return filepath.Join(shared, filepath.FromSlash(name))
}

// readWAV reads a well-formed 16-bit mono file.
func readWAV(t *testing.T, path string) []float32 {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 12; at+8 <= len(data); {
		size := int(binary.LittleEndian.Uint32(data[at+4:]))
		body := data[at+8:][:size]
		if string(data[at:at+4]) == "data" {
			samples := make([]float32, size/2)
			for i := range samples {
				samples[i] = float32(int16(binary.LittleEndian.Uint16(body[2*i:]))) / 32768
			}
			return samples
		}
		at += 8 + size + size%2
	}
	t.Fatalf("%s: no data chunk", path)
	return nil
}

// readNPY reads a numpy file of version 1 that holds [rows, columns] of float32 or
// float16.
func readNPY(t *testing.T, path string, rows, columns int) []float32 {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	header, body := data[10:][:binary.LittleEndian.Uint16(data[8:])], data[10:]
	body = body[len(header):]
	if want := fmt.Sprintf("'fortran_order': False, 'shape': (%d, %d)", rows, columns); !bytes.Contains(header, []byte(want)) {
		t.Fatalf("%s: header %s, want %s", path, header, want)
	}
	out := make([]float32, rows*columns)
	half := bytes.Contains(header, []byte("'<f2'"))
	for i := range out {
		if half {
			out[i] = fromHalf(binary.LittleEndian.Uint16(body[2*i:]))
			continue
		}
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(body[4*i:]))
	}
	return out
}

// fromHalf converts a finite float16.
func fromHalf(h uint16) float32 {
	exponent, fraction := int(h>>10&31), float64(h&1023)
	x := math.Ldexp(fraction, -24)
	if exponent > 0 {
		x = math.Ldexp(1024+fraction, exponent-25)
	}
	if h>>15 != 0 {
		x = -x
	}
	return float32(x)
}
