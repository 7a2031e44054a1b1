//go:build linux && cgo && (amd64 || arm64)

package npu

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"earshot/npu/graph"
	"earshot/npu/sim"
)

// simulator is the vendor's library for tests: the one that make builds, or another one
// that is named.
func simulator(t testing.TB) string {
	t.Helper()
	if path := os.Getenv(LibraryVariable); path != "" {
		return path
	}
	return sim.Library(t)
}

// devices are the two ways to a library; each test below goes both.
var devices = map[string]func(t testing.TB, library string) (Device, error){
	"here": func(t testing.TB, library string) (Device, error) { return Open(t.Context(), library) },
	"worker": func(t testing.TB, library string) (Device, error) {
		return startWorker(t, WorkerOptions{Library: library})
	},
}

// startWorker starts this test binary as the worker, or, where it can't be run as it is,
// what EARSHOT_TEST_WORKER says.
func startWorker(t testing.TB, o WorkerOptions) (Device, error) {
	o.Command = strings.Fields(os.Getenv("EARSHOT_TEST_WORKER"))
	return StartWorker(t.Context(), o)
}

// onDevices runs a test with each device, of a simulator with these faults.
func onDevices(t *testing.T, faults string, test func(t *testing.T, d Device)) {
	library := simulator(t)
	for name, open := range devices {
		t.Run(name, func(t *testing.T) {
			t.Setenv("NEURONSIM_FAULT", faults)
			d, err := open(t, library)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			}()
			test(t, d)
		})
	}
}

// halves are numbers that a float16 holds exactly.
func halves(all ...float64) []byte {
	var b []byte
	for _, v := range all {
		bits := math.Float64bits(v)
		h := uint16(bits >> 48 & 0x8000)
		if v != 0 {
			h |= uint16(int(bits>>52&0x7ff)-1023+15)<<10 | uint16(bits>>42&0x3ff)
		}
		b = binary.LittleEndian.AppendUint16(b, h)
	}
	return b
}

// sums is a graph of one product: y [1, 16] has the sum of x [1, 8], plus 0 … 15.
func sums() *graph.Graph {
	g := graph.New("sums")
	ones, bias := make([]float64, 16*8), make([]float64, 16)
	for i := range ones {
		ones[i] = 1
	}
	for i := range bias {
		bias[i] = float64(i)
	}
	x := g.Input("x", graph.Float16, 1, 8)
	g.Output(g.FullyConnected(x, g.Const("ones", graph.Float16, halves(ones...), 16, 8), g.Const("bias", graph.Float16, halves(bias...), 16)))
	return g
}

// add runs the graph sums.
func add(n Network) (y []byte, err error) {
	y = make([]byte, 32)
	err = n.Execute(context.Background(), [][]byte{halves(1, 2, 3, 4, 5, 6, 7, 8)}, [][]byte{y})
	return y, err
}

var added = halves(36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51)

func compile(t testing.TB, d Device) Network {
	t.Helper()
	n, err := d.Compile(t.Context(), sums(), DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestExecute(t *testing.T) {
	onDevices(t, "", func(t *testing.T, d Device) {
		s := d.Status()
		if s.Version != "6.3.3" || !reflect.DeepEqual(s.Devices, []string{"mtk-mdla"}) || s.Networks != 0 || s.DescriptorLimit < s.Descriptors {
			t.Errorf("status %+v", s)
		}
		n := compile(t, d)
		y, err := add(n)
		if err != nil || !bytes.Equal(y, added) {
			t.Errorf("got %x %v, want %x", y, err, added)
		}
		b, err := n.Store(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		restored, err := d.Restore(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
		if y, err := add(restored); err != nil || !bytes.Equal(y, added) {
			t.Errorf("restored: got %x %v", y, err)
		}
		if _, err := add(n); !errors.Is(err, ErrClosed) {
			t.Errorf("a closed network: %v", err)
		}
		if err := n.Close(); err != nil {
			t.Errorf("closed twice: %v", err)
		}
		b[len(b)-1]++
		if _, err := d.Restore(t.Context(), b); !errors.Is(err, ErrStored) {
			t.Errorf("a damaged network: %v", err)
		}
		if err := restored.Execute(t.Context(), nil, [][]byte{y}); err == nil || !strings.Contains(err.Error(), "inputs") {
			t.Errorf("no inputs: %v", err)
		}
		if err := restored.Execute(t.Context(), [][]byte{make([]byte, 15)}, [][]byte{y}); err == nil || !strings.Contains(err.Error(), "15 bytes") {
			t.Errorf("an input that is too short: %v", err)
		}
	})
}

// TestAfterClose makes every call of a device that is closed.
func TestAfterClose(t *testing.T) {
	onDevices(t, "", func(t *testing.T, d Device) {
		n := compile(t, d)
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		_, err1 := d.Compile(t.Context(), sums(), DefaultOptions())
		_, err2 := d.Supports(t.Context(), sums())
		_, err3 := add(n)
		_, err4 := n.Store(t.Context())
		for _, err := range []error{err1, err2, err3, err4} {
			if !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
		d.Status()
	})
}

// TestFaults lets the library fail in every way that does not end its process.
func TestFaults(t *testing.T) {
	t.Run("open", func(t *testing.T) {
		library := simulator(t)
		t.Setenv("NEURONSIM_FAULT", "open")
		for name, open := range devices {
			_, err := open(t, library)
			wantRefused(t, name, err, "Neuron_getVersion", 10)
		}
	})
	for fault, f := range map[string]string{"create": "NeuronModel_create", "compile": "NeuronCompilation_create"} {
		t.Run(fault, func(t *testing.T) {
			onDevices(t, fault, func(t *testing.T, d Device) {
				before := d.Status().Descriptors
				_, err := d.Compile(t.Context(), sums(), DefaultOptions())
				if e := (*Error)(nil); !errors.As(err, &e) || e.Code == 0 || e.Name == "" || e.What != `compile graph "sums"` {
					t.Errorf("%v; want one of %s", err, f)
				}
				if s := d.Status(); s.Descriptors != before || s.Networks != 0 {
					t.Errorf("%d descriptors, then %d; %d networks", before, s.Descriptors, s.Networks)
				}
			})
		})
	}
	t.Run("execute", func(t *testing.T) {
		onDevices(t, "execute:2,nan:4", func(t *testing.T, d Device) {
			n := compile(t, d)
			for i := range 5 {
				y, err := add(n)
				switch i + 1 {
				case 2:
					wantRefused(t, "execution 2", err, "NeuronExecution_compute", 5)
					if e := err.(*Error); d.Status().PID != 0 && (len(e.Log) == 0 || !strings.Contains(e.Log[len(e.Log)-1], "execute:2")) {
						t.Errorf("the library's log is not with the error: %q", e.Log)
					}
				case 4:
					if !errors.Is(err, ErrNaN) {
						t.Errorf("execution 4: %v", err)
					}
				default:
					if err != nil || !bytes.Equal(y, added) {
						t.Errorf("execution %d: %x %v", i+1, y, err)
					}
				}
			}
		})
	})
}

func wantRefused(t *testing.T, what string, err error, function string, code int) {
	t.Helper()
	if e := (*Error)(nil); !errors.As(err, &e) || e.Func != function || e.Code != code || e.Name == "" || e.What == "" {
		t.Errorf("%s: %v; want code %d of %s", what, err, code, function)
	}
}

// TestCrash lets the worker crash and hang, between calls and during them.
func TestCrash(t *testing.T) {
	for _, c := range []struct {
		fault string
		kind  error
		text  string
	}{{"crash:2", ErrCrashed, "signal: segmentation fault"}, {"hang:2", ErrHung, "no reply"}} {
		t.Run(c.fault, func(t *testing.T) {
			library := simulator(t)
			t.Setenv("NEURONSIM_FAULT", c.fault)
			d, err := startWorker(t, WorkerOptions{Library: library})
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			w := d.(*worker)
			limit := w.options.ExecuteLimit
			n := compile(t, d)
			before, pid := descriptors(), d.Status().PID
			if _, err := add(n); err != nil {
				t.Fatal(err)
			}
			if c.kind == ErrHung {
				w.options.ExecuteLimit = 50 * time.Millisecond
			}
			_, err = add(n)
			w.options.ExecuteLimit = limit
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.text) || err.(*Error).What != "execute sums" {
				t.Errorf("execution 2: %v", err)
			}
			if s := d.Status(); s.Failure == "" || s.PID != 0 || s.Networks != 0 {
				t.Errorf("status %+v", s)
			}
			if _, err := add(n); !errors.Is(err, ErrCrashed) {
				t.Errorf("a network of the process that is gone: %v", err)
			}
			if _, err := d.Compile(t.Context(), sums(), DefaultOptions()); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), "at the earliest") {
				t.Errorf("before the pause is over: %v", err)
			}
			w.pauses.until = time.Time{}
			if err := n.Close(); err != nil {
				t.Error(err)
			}
			again := compile(t, d)
			if y, err := add(again); err != nil || !bytes.Equal(y, added) {
				t.Errorf("after it was started again: %x %v", y, err)
			}
			if s := d.Status(); s.Restarts != 1 || s.PID == pid || s.PID == 0 || s.Failure != "" || s.Networks != 1 {
				t.Errorf("status %+v", s)
			}
			if after := descriptors(); after != before {
				t.Errorf("%d descriptors, then %d", before, after)
			}
		})
	}
}

// TestKilled ends the worker between two calls.
func TestKilled(t *testing.T) {
	d, err := startWorker(t, WorkerOptions{Library: simulator(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	w := d.(*worker)
	n := compile(t, d)
	if err := syscall.Kill(w.process.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-w.process.gone
	if s := d.Status(); !strings.Contains(s.Failure, "signal: killed") || s.PID != 0 {
		t.Errorf("status %+v", s)
	}
	if _, err := add(n); !errors.Is(err, ErrCrashed) {
		t.Errorf("a network of it: %v", err)
	}
}

// TestNoWorker starts what is no worker.
func TestNoWorker(t *testing.T) {
	before := descriptors()
	for _, c := range []struct {
		command []string
		kind    error
		text    string
	}{
		{[]string{"/there/is/none"}, os.ErrNotExist, "/there/is/none"},
		{[]string{"false"}, ErrCrashed, "exit status 1"},
		{[]string{"sh", "-c", "cat <&3"}, ErrHung, "no reply"},
	} {
		_, err := StartWorker(t.Context(), WorkerOptions{Command: c.command, OpenLimit: 300 * time.Millisecond})
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%q: %v", c.command, err)
		}
	}
	if after := descriptors(); after != before {
		t.Errorf("%d descriptors, then %d", before, after)
	}
}

// TestCanceled gives up calls of a worker that hangs, without any blame.
func TestCanceled(t *testing.T) {
	library := simulator(t)
	t.Setenv("NEURONSIM_FAULT", "hang:1")
	d, err := startWorker(t, WorkerOptions{Library: library})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	n := compile(t, d)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if err := n.Execute(ctx, [][]byte{make([]byte, 16)}, [][]byte{make([]byte, 32)}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	compile(t, d) // at once
}

// TestOrphan sees that a worker ends when nobody is left to ask it, even while it hangs.
func TestOrphan(t *testing.T) {
	library := simulator(t)
	t.Setenv("NEURONSIM_FAULT", "hang:1")
	d, err := startWorker(t, WorkerOptions{Library: library})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	n := compile(t, d).(*remoteNetwork)
	p := d.(*worker).process
	if err := p.link.send(message{Op: opExecute, Network: n.number}); err != nil {
		t.Fatal(err)
	}
	p.link.close()
	<-p.gone // or the test's own limit
}

// TestHungHere gives a call up that goes on in this process, and comes back to it.
func TestHungHere(t *testing.T) {
	d, err := Open(t.Context(), simulator(t))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	n := compile(t, d)
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer cancel()
	if err := n.Execute(ctx, [][]byte{make([]byte, 16)}, [][]byte{make([]byte, 32)}); err != nil && !errors.Is(err, ErrHung) {
		t.Error(err)
	}
	for {
		y, err := add(n)
		if errors.Is(err, ErrHung) {
			runtime.Gosched()
			continue
		}
		if err != nil || !bytes.Equal(y, added) {
			t.Errorf("after it: %x %v", y, err)
		}
		return
	}
}

// TestFlat counts the descriptors of both processes over many executions and restores.
func TestFlat(t *testing.T) {
	onDevices(t, "", func(t *testing.T, d Device) {
		n := compile(t, d)
		b, err := n.Store(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		here, there := 0, 0
		for i := range 1010 {
			if i == 10 {
				here, there = descriptors(), d.Status().Descriptors
			}
			if _, err := add(n); err != nil {
				t.Fatal(err)
			}
			if i%50 == 0 {
				other, err := d.Restore(t.Context(), b)
				if err != nil {
					t.Fatal(err)
				}
				if err := other.Close(); err != nil {
					t.Fatal(err)
				}
				if _, err := d.Supports(t.Context(), sums()); err != nil {
					t.Fatal(err)
				}
			}
		}
		if h, th := descriptors(), d.Status().Descriptors; h != here || th != there {
			t.Errorf("here %d descriptors, then %d; of the library's process %d, then %d", here, h, there, th)
		}
	})
}

// TestBudget needs more memory than the board has: the error is that of the thread which
// is in facts/npu.md 10.1, and the library's line is with it.
func TestBudget(t *testing.T) {
	t.Setenv("NEURONSIM_PROFILE", "genio-700")
	onDevices(t, "", func(t *testing.T, d Device) {
		g := graph.New("scores")
		rows, columns := g.Input("rows", graph.Float16, 8, 1500, 1), g.Input("columns", graph.Float16, 8, 1, 1500)
		g.Output(g.Mean(g.Softmax(g.Add(rows, columns))))
		n, err := d.Compile(t.Context(), g, DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		before := d.Status().Descriptors
		err = n.Execute(t.Context(), buffers(8*1500*2, 8*1500*2), buffers(8*1500*2))
		wantRefused(t, "execute", err, "NeuronExecution_create", 7)
		if log := err.(*Error).Log; d.Status().PID != 0 && !strings.Contains(strings.Join(log, "\n"), "memAlloc: alloc mem(160/0/0/0x5) fail(Cannot allocate memory)") {
			t.Errorf("log %q", log)
		}
		if after := d.Status().Descriptors; after != before {
			t.Errorf("%d descriptors, then %d", before, after)
		}
	})
}

// BenchmarkExecute is the cost of a call apart from the library's: of almost no tensors,
// and of what goes in and out for a window of base (608 positions of 512 channels). The
// difference between the two devices is that of the worker.
func BenchmarkExecute(b *testing.B) {
	library := simulator(b)
	for _, rows := range []int{1, 608} {
		for _, name := range []string{"here", "worker"} {
			b.Run(fmt.Sprintf("%d/%s", rows, name), func(b *testing.B) {
				d, err := devices[name](b, library)
				if err != nil {
					b.Fatal(err)
				}
				defer d.Close()
				g := graph.New("copy")
				g.Output(g.Reshape(g.Input("x", graph.Float16, rows, 512), 512, rows))
				n, err := d.Compile(b.Context(), g, DefaultOptions())
				if err != nil {
					b.Fatal(err)
				}
				x, y := make([]byte, rows*1024), make([]byte, rows*1024)
				for b.Loop() {
					if err := n.Execute(b.Context(), [][]byte{x}, [][]byte{y}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// TestProbe asks boards that differ.
func TestProbe(t *testing.T) {
	for profile, want := range map[string]Features{
		"genio-700": {ComputedFullyConnected: true, ComputedConv2D: true},
		"genio-720": {true, true, true, true, true},
	} {
		t.Run(profile, func(t *testing.T) {
			t.Setenv("NEURONSIM_PROFILE", profile)
			onDevices(t, "", func(t *testing.T, d Device) {
				got, err := ProbeFeatures(t.Context(), d)
				if err != nil || got != want {
					t.Errorf("got %+v %v, want %+v", got, err, want)
				}
				if s := d.Status(); s.Networks != 0 {
					t.Errorf("%d networks are left", s.Networks)
				}
			})
		})
	}
	t.Run("a device that fails", func(t *testing.T) {
		onDevices(t, "", func(t *testing.T, d Device) {
			d.Close()
			if _, err := ProbeFeatures(t.Context(), d); !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
		})
	})
}

// TestLargeConstants compiles values that are borrowed: the simulator looks at them again
// when it compiles, and fails where one has moved or changed.
func TestLargeConstants(t *testing.T) {
	onDevices(t, "", func(t *testing.T, d Device) {
		const k, n = 512, 2048
		weights, bias := make([]byte, 2*n*k), make([]byte, 2*n)
		for i := range n {
			copy(weights[2*(i*k+i%k):], halves(2)) // y[i] is twice x[i mod k]
		}
		g := graph.New("large")
		x := g.Input("x", graph.Float16, 1, k)
		g.Output(g.FullyConnected(x, g.Const("weights", graph.Float16, weights, n, k), g.Const("bias", graph.Float16, bias, n)))
		network, err := d.Compile(t.Context(), g, DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		clear(weights) // it is not looked at any more
		in, out, want := make([]byte, 2*k), make([]byte, 2*n), make([]byte, 2*n)
		for i := range k {
			copy(in[2*i:], halves(float64(i%32)))
		}
		for i := range n {
			copy(want[2*i:], halves(2*float64(i%k%32)))
		}
		if err := network.Execute(t.Context(), [][]byte{in}, [][]byte{out}); err != nil || !bytes.Equal(out, want) {
			t.Errorf("%v, output as expected: %v", err, bytes.Equal(out, want))
		}
	})
}
