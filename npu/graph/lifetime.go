package graph

// Lifetime is a piece of memory that a graph needs while it runs, besides its inputs,
// outputs and constants, and the operations during which it is taken.
type Lifetime struct {
	Tensors  []*Tensor // that lie there, in the order in which they are written
	Bytes    int       // of the largest, rounded up to pages
	From, To int       // index of the operation that writes it first, and of the last that reads it
}

// Lifetimes returns what the intermediate tensors of g take, in the order in which it is
// first written.
func (g *Graph) Lifetimes(m Memory) []Lifetime {
	p := &placement{of: map[*Tensor]*place{}}
	p.users(g)
	p.aliases(g)
	p.reads(g)
	if m.InPlace {
		p.takeOver(g)
	}
	var all []Lifetime
	seen := map[*place]int{}
	for i, o := range g.Operations {
		at := p.at(o.Out)
		if at.user {
			continue
		}
		n, known := seen[at]
		if !known {
			n = len(all)
			seen[at] = n
			all = append(all, Lifetime{From: i, To: at.last})
		}
		all[n].Tensors = append(all[n].Tensors, o.Out)
		all[n].Bytes = max(all[n].Bytes, m.pages(o.Out.Bytes()))
	}
	return all
}

// place is where tensors lie, one after the other or under several names.
type place struct {
	user bool   // memory of whoever runs the graph, or of a constant
	last int    // the last operation that writes or reads it
	into *place // what it has become a part of
}

type placement struct{ of map[*Tensor]*place }

func (p *placement) at(t *Tensor) *place {
	at := p.of[t]
	for at.into != nil {
		at = at.into
	}
	return at
}

func (p *placement) users(g *Graph) {
	for _, list := range [][]*Tensor{g.Inputs, g.Outputs, g.Constants} {
		for _, t := range list {
			p.of[t] = &place{user: true}
		}
	}
}

// aliases puts the result of a RESHAPE where its input is. What comes out of the graph
// that way is written to the user's memory in the first place; between two tensors of
// the user it is a copy.
func (p *placement) aliases(g *Graph) {
	for _, o := range g.Operations {
		out := p.of[o.Out] // nil but for an output of the graph
		switch {
		case o.Kind != Reshape && out == nil:
			p.of[o.Out] = &place{}
		case o.Kind != Reshape:
		case out == nil:
			p.of[o.Out] = p.at(o.In[0])
		case !p.at(o.In[0]).user:
			p.at(o.In[0]).into = out
		}
	}
}

func (p *placement) reads(g *Graph) {
	for i, o := range g.Operations {
		p.at(o.Out).last = i
		for _, t := range o.In {
			p.at(t).last = i
		}
	}
}

// takeOver lets element-wise operations write over their input where nobody reads it
// afterwards.
func (p *placement) takeOver(g *Graph) {
	for i, o := range g.Operations {
		x := o.overwrites()
		if x == nil {
			continue
		}
		in, out := p.at(x), p.at(o.Out)
		if !in.user && !out.user && in.last == i && x.Bytes() == o.Out.Bytes() {
			in.last, out.into = out.last, in
		}
	}
}

// overwrites returns the only computed operand of an operation that works element by
// element, and nil for others.
func (o *Operation) overwrites() *Tensor {
	switch o.Kind {
	case Sqrt, Tanh, Logistic, Gelu, Softmax:
		return o.In[0]
	case Add, Sub, Mul, Div:
		switch a, b := o.In[0], o.In[1]; {
		case b.Constant() && !a.Constant():
			return a
		case a.Constant() && !b.Constant():
			return b
		}
	}
	return nil
}
