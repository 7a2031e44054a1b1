//go:build linux

package npu

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"earshot/npu/graph"
)

func links(t *testing.T) (a, b *link) {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	var l [2]*link
	for i := range l {
		if l[i], err = newLink(os.NewFile(uintptr(pair[i]), "socket")); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(l[i].close)
	}
	return l[0], l[1]
}

func TestLink(t *testing.T) {
	a, b := links(t)
	o := DefaultOptions()
	sent := message{Op: opCompile, Options: &o, In: []tensor{{graph.Float16, 6}}, DMABuf: [2]bool{true, false},
		Error: toWire(&Error{What: "w", Func: "f", Code: 7, Name: "n"})}
	fd, err := fill("test", 5, func(mem []byte) { copy(mem, "hello") })
	if err != nil {
		t.Fatal(err)
	}
	if err := a.send(sent, fd); err != nil {
		t.Fatal(err)
	}
	unix.Close(fd)
	got, fds, err := b.receive()
	if err != nil || !reflect.DeepEqual(got, sent) || len(fds) != 1 {
		t.Fatalf("got %+v %v %v", got, fds, err)
	}
	if err := withMemory(fds, func(mem []byte) error {
		if string(mem) != "hello" {
			t.Errorf("memory %q", mem)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	closeAll(fds)
	if err := a.send(message{Supported: make([]byte, maxMessage)}); err == nil {
		t.Error("a message that is too large was sent")
	}
	if _, err := a.conn.Write(make([]byte, maxMessage+100)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.receive(); err == nil {
		t.Error("a message that is too large was taken")
	}
	a.close()
	if _, _, err := b.receive(); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %v", err)
	}
}

// TestWireError sends errors there and back.
func TestWireError(t *testing.T) {
	for _, e := range []*Error{
		{What: "execute x", Func: "NeuronExecution_compute", Code: 7, Name: "NEURON_BAD_STATE"},
		{What: "open", Err: ErrAbsent, Text: "more"},
		{What: "execute x", Err: errors.Join(errors.New("output 0"), ErrNaN)},
		{What: "open", Err: errors.New("permission denied")},
	} {
		b, err := json.Marshal(toWire(e))
		if err != nil {
			t.Fatal(err)
		}
		var w wireError
		if err := json.Unmarshal(b, &w); err != nil {
			t.Fatal(err)
		}
		got := fromWire(&w)
		if got.Error() != e.Error() || got.Code != e.Code || got.Func != e.Func {
			t.Errorf("got %v, want %v", got, e)
		}
		for _, kind := range kinds {
			if errors.Is(got, kind) != errors.Is(e, kind) {
				t.Errorf("%v: is it %v?", got, kind)
			}
		}
	}
	if w := toWire(errors.New(strings.Repeat("long ", 1e5))); len(w.Cause) > maxMessage/10 {
		t.Errorf("a cause of %d bytes", len(w.Cause))
	}
}

func FuzzMessage(f *testing.F) {
	f.Add([]byte(`{"Op":"execute","Network":3}`))
	f.Add([]byte(`{"Network":1,"In":[{"Type":0,"Bytes":64}],"Out":[{"Type":1,"Bytes":64}],"DMABuf":[true,false]}`))
	f.Add([]byte(`{"Error":{"What":"compile","Code":7,"Kind":9}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parseMessage(b)
		if err != nil {
			return
		}
		layOut(m.In)
		if m.Error != nil {
			_ = fromWire(m.Error).Error()
		}
	})
}

// everything is a graph with all operations.
func everything() *graph.Graph {
	constant := func(g *graph.Graph, name string, shape ...int) *graph.Tensor {
		n := 1
		for _, d := range shape {
			n *= d
		}
		return g.Const(name, graph.Float16, make([]byte, 2*n), shape...)
	}
	g := graph.New("everything")
	x := g.Input("x", graph.Float16, 2, 16)
	w := constant(g, "w", 16, 16)
	bias := constant(g, "bias", 16)
	y := g.FullyConnected(x, w, bias)
	y = g.LayerNorm(y, bias, bias, 1e-5)
	y = g.Gelu(g.Logistic(g.Tanh(g.Add(g.Sub(y, x), g.Mul(x, bias)))), true)
	y = g.Div(y, g.Sqrt(g.Mean(y)))
	y = g.Concat(1, y, g.Slice(x, []int{0, 4}, []int{2, 8}))
	y = g.Pad(y, []int{1, 0}, []int{0, 0})
	z := g.Transpose(g.Reshape(y, 1, 3, 4, 6), 0, 2, 1, 3)
	z = g.Softmax(g.BatchMatMul(z, z, true))
	g.Output(z)
	g.Output(g.Conv2D(z, constant(g, "filter", 16, 1, 3, 3), bias, 2, 1))
	return g
}

func TestWireGraph(t *testing.T) {
	g := everything()
	copy(g.Constants[0].Data, "the weights")
	fd, description, err := writeGraph(g)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	mem, err := mapFile(fd)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(mem)
	got, err := readGraph(mem, description)
	if err != nil {
		t.Fatal(err)
	}
	if want := graphText(g); graphText(got) != want {
		t.Errorf("got\n%swant\n%s", graphText(got), want)
	}
	for i, c := range got.Constants {
		if string(c.Data) != string(g.Constants[i].Data) {
			t.Errorf("constant %v has other data", c)
		}
	}
	// Cut off anywhere it is an error, or at least no harm.
	for n := 0; n < len(mem); n += 13 {
		if _, err := readGraph(mem[:n], min(n, description)); err == nil && n < description {
			t.Errorf("%d bytes of %d were a graph", n, description)
		}
	}
}

func graphText(g *graph.Graph) string {
	var b strings.Builder
	for _, o := range g.Operations {
		b.WriteString(o.String())
		for _, in := range o.In {
			b.WriteString(" " + in.String())
		}
		attr, _ := json.Marshal(o.Attr)
		b.Write(append(attr, '\n'))
	}
	for _, o := range g.Outputs {
		b.WriteString(o.String())
	}
	return b.String()
}

func FuzzGraph(f *testing.F) {
	fd, description, err := writeGraph(everything())
	if err != nil {
		f.Fatal(err)
	}
	mem, err := mapFile(fd)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(mem, description)
	f.Fuzz(func(t *testing.T, b []byte, description int) {
		g, err := readGraph(b, description)
		if err != nil {
			return
		}
		for _, c := range g.Constants {
			if len(c.Data) != c.Bytes() {
				t.Errorf("%v has %d bytes", c, len(c.Data))
			}
		}
	})
}
