package graph

import (
	"fmt"
	"math"
	"runtime"
	"sync"
)

// Eval computes the outputs of g from its inputs, all dense, row-major and little-endian.
// It is the definition: an operation computes in float32, and a float16 result is rounded
// (PutFloats) before the next one sees it.
func Eval(g *Graph, inputs [][]byte) (outputs [][]byte, err error) {
	if len(inputs) != len(g.Inputs) {
		return nil, fmt.Errorf("graph %s: %d inputs, it takes %d", g.Name, len(inputs), len(g.Inputs))
	}
	values := map[*Tensor][]float32{}
	read := func(t *Tensor, data []byte) {
		values[t] = make([]float32, t.Elements())
		Floats(values[t], t.Type, data)
	}
	for i, t := range g.Inputs {
		if len(inputs[i]) != t.Bytes() {
			return nil, fmt.Errorf("graph %s: %d bytes for input %v, it takes %d", g.Name, len(inputs[i]), t, t.Bytes())
		}
		read(t, inputs[i])
	}
	last := map[*Tensor]int{}
	for i, o := range g.Operations {
		for _, t := range o.In {
			last[t] = i
		}
	}
	for _, t := range g.Outputs {
		last[t] = len(g.Operations)
	}
	for i, o := range g.Operations {
		in := make([][]float32, len(o.In))
		for j, t := range o.In {
			if t.Constant() {
				read(t, t.Data)
			}
			in[j] = values[t]
		}
		out := make([]float32, o.Out.Elements())
		o.eval(out, in)
		round(o.Out.Type, out)
		values[o.Out] = out
		for _, t := range o.In {
			if t.Constant() || last[t] == i {
				delete(values, t)
			}
		}
	}
	for _, t := range g.Outputs {
		data := make([]byte, t.Bytes())
		PutFloats(data, t.Type, values[t])
		outputs = append(outputs, data)
	}
	return outputs, nil
}

// eval computes out, all zeros, from the values of o.In.
func (o *Operation) eval(out []float32, in [][]float32) {
	x, columns := in[0], o.In[0].Shape[len(o.In[0].Shape)-1]
	switch o.Kind {
	case Add, Sub, Mul, Div:
		elementwise(o.Kind, out, broadcast(x, o.In[0].Shape, o.Out.Shape), broadcast(in[1], o.In[1].Shape, o.Out.Shape))
	case FullyConnected:
		products(out, x, in[1], in[2], columns)
	case Conv2D:
		products(out, patches(o, x), in[1], in[2], o.In[1].Elements()/o.In[1].Shape[0])
	case BatchMatMul:
		batchMatMul(o, out, x, in[1])
	case Softmax:
		eachRow(out, x, columns, softmax)
	case Mean:
		for i := range out {
			out[i] = mean(x[i*columns : (i+1)*columns])
		}
	case Sqrt:
		each(out, x, math.Sqrt)
	case Tanh:
		each(out, x, math.Tanh)
	case Logistic:
		each(out, x, func(v float64) float64 { return 1 / (1 + math.Exp(-v)) })
	case Gelu:
		each(out, x, o.gelu)
	case LayerNorm:
		eachRow(out, x, columns, func(out, x []float32) { layerNorm(out, x, in[1], in[2], o.Attr.Epsilon) })
	case Reshape:
		copy(out, x)
	case Transpose, Slice, Concat, Pad:
		o.rearrange(out, in)
	default:
		panic(fmt.Sprintf("BUG: no meaning of %v", o))
	}
}

func elementwise(k Kind, out, a, b []float32) {
	switch k {
	case Add:
		for i, v := range a {
			out[i] = v + b[i]
		}
	case Sub:
		for i, v := range a {
			out[i] = v - b[i]
		}
	case Mul:
		for i, v := range a {
			out[i] = v * b[i]
		}
	case Div:
		for i, v := range a {
			out[i] = v / b[i]
		}
	}
}

func each(out, x []float32, f func(float64) float64) {
	inParallel(len(x), func(from, to int) {
		for i := from; i < to; i++ {
			out[i] = float32(f(float64(x[i])))
		}
	})
}

// gelu is x·Φ(x), or the tanh form (Hendrycks and Gimpel, arXiv:1606.08415).
func (o *Operation) gelu(x float64) float64 {
	if o.Attr.Approximate {
		return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
	}
	return x / 2 * math.Erfc(-x/math.Sqrt2)
}

func eachRow(out, x []float32, columns int, f func(out, x []float32)) {
	inParallel(len(x)/columns, func(from, to int) {
		for i := from; i < to; i++ {
			f(out[i*columns:(i+1)*columns], x[i*columns:(i+1)*columns])
		}
	})
}

func softmax(out, x []float32) {
	top := x[0]
	for _, v := range x {
		top = max(top, v)
	}
	var sum float32
	for i, v := range x {
		out[i] = float32(math.Exp(float64(v - top)))
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
}

func mean(x []float32) (sum float32) {
	for _, v := range x {
		sum += v
	}
	return sum / float32(len(x))
}

func layerNorm(out, x, gamma, beta []float32, epsilon float32) {
	m := mean(x)
	var squares float32
	for i, v := range x {
		out[i] = v - m
		squares += out[i] * out[i]
	}
	scale := 1 / float32(math.Sqrt(float64(squares/float32(len(x))+epsilon)))
	for i := range out {
		out[i] = out[i]*scale*gamma[i] + beta[i]
	}
}

// inParallel splits 0 … n-1 among the processors.
func inParallel(n int, f func(from, to int)) {
	workers := min(n, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() { f(w*n/workers, (w+1)*n/workers) })
	}
	all.Wait()
}
