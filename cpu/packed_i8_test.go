package cpu

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// TestPackI8 checks every byte and scale, the padding, and the way back.
func TestPackI8(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 7, 15, 16, 17, 32, 37} {
		for _, k := range []int{0, 1, 2, 3, 4, 5, 8, 9, 29, 32, 96} {
			w := make([]float32, n*k)
			normals(r, w, 2)
			p := PackI8(w, n, k)
			if data, scales := SizesI8(n, k); len(p.Data()) != data || len(p.Scales()) != scales {
				t.Fatalf("%d×%d: %d bytes, %d scales, want %d, %d", n, k, len(p.Data()), len(p.Scales()), data, scales)
			}
			for i := range len(p.scales) {
				var row []float32
				if i < n {
					row = slices.Clone(w[i*k : (i+1)*k])
					rotateI8(row)
				}
				var top float32
				for _, v := range row {
					top = max(top, v, -v)
				}
				if want := top / 127; p.scales[i] != want {
					t.Fatalf("%d×%d: scale %d is %v, want %v", n, k, i, p.scales[i], want)
				}
				for j := range StrideI8(k) {
					var want int8
					if j < len(row) {
						want = int8(math.RoundToEven(float64(float32(row[j] * (127 / top)))))
					}
					if got := p.at(i, j); got != want {
						t.Fatalf("%d×%d: (%d,%d) is %d, want %d", n, k, i, j, got, want)
					}
				}
				if i >= n {
					continue
				}
				back := make([]float32, k)
				p.Row(i, back)
				for j, v := range back {
					was := w[i*k+j]
					if math.Abs(float64(v-was)) > float64(p.scales[i])*0.50001*spread(k) {
						t.Fatalf("%d×%d: (%d,%d) comes back as %v, was %v", n, k, i, j, v, was)
					}
				}
			}
		}
	}
}

// spread is by how much errors add up at most when a row of k values is rotated back.
func spread(k int) (sum float64) {
	row := make([]float32, k)
	row[0] = 1
	rotateI8(row)
	for _, v := range row {
		sum += math.Abs(float64(v))
	}
	return sum
}

func TestViewI8(t *testing.T) {
	p := newProductI8(1, 3, 37, 29, true)
	want := p.run(t, 0)
	// Copies at odd addresses: a file may hold them anywhere.
	data := append([]int8{0}, p.w.Data()...)[1:]
	scales := slices.Clone(p.w.Scales())
	view, err := ViewI8(37, 29, data, scales)
	if err != nil {
		t.Fatal(err)
	}
	p.w = view
	if got := p.run(t, 0); !slices.Equal(got, want) {
		t.Error("a view gives another product")
	}
	for name, f := range map[string]func() (*PackedI8, error){
		"n":        func() (*PackedI8, error) { return ViewI8(50, 29, data, scales) },
		"k":        func() (*PackedI8, error) { return ViewI8(37, 33, data, scales) },
		"scales":   func() (*PackedI8, error) { return ViewI8(37, 29, data, scales[1:]) },
		"negative": func() (*PackedI8, error) { return ViewI8(-1, -1, nil, nil) },
		"huge":     func() (*PackedI8, error) { return ViewI8(math.MaxInt, math.MaxInt, nil, nil) },
		"wide":     func() (*PackedI8, error) { return ViewI8(0, maxColumnsI8+1, nil, nil) },
	} {
		if v, err := f(); err == nil {
			t.Errorf("%s: no error, %v", name, v)
		}
	}
}

func TestPackedI8Aligned(t *testing.T) {
	for n := 1; n < 100; n += 7 {
		p := NewPackedI8(n, n)
		if uintptr(unsafe.Pointer(&p.data[0]))%64 != 0 || uintptr(unsafe.Pointer(&p.scales[0]))%64 != 0 {
			t.Fatalf("%d×%d is not aligned to 64 bytes", n, n)
		}
	}
}
