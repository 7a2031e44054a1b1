// plan.c: where intermediate tensors lie while the operations run in their order. Each has
// an allocation of its own from the operation that writes it to the last that reads it.
// Inputs and outputs are the client's memory. A RESHAPE shares its operand's memory.
#include "sim.h"

#include <stdlib.h>

// outside says whether an operand's memory is not the execution's.
static bool outside(const NeuronModel *m, uint32_t i)
{
	return m->operands[i].role != TEMPORARY || m->operands[i].t.constant;
}

// share lets all that lies with one root lie with another.
static void share(struct plan *p, uint32_t n_operands, uint32_t root, uint32_t with)
{
	for (uint32_t k = 0; k < n_operands; k++)
		if (p->root[k] == root)
			p->root[k] = with;
}

// share_reshapes sets the roots. A tensor that is reshaped to an output is computed there.
static void share_reshapes(struct plan *p, const NeuronModel *m)
{
	for (uint32_t i = 0; i < m->n_operands; i++)
		p->root[i] = i;
	for (uint32_t i = 0; i < m->n_operations; i++) {
		const struct operation *o = &m->operations[i];
		if (o->code != NEURON_RESHAPE)
			continue;
		uint32_t from = p->root[o->in[0]], to = o->out[0];
		if (!outside(m, to))
			p->root[to] = from;
		else if (!outside(m, from))
			share(p, m->n_operands, from, to);
	}
}

// A walk goes through the operations and keeps what is alive.
struct walk {
	struct plan *p;
	const NeuronModel *m;
	int64_t *last;  // [operands] of a root: the last operation that reads it
	bool *free;     // [slots]
	uint64_t bytes; // held
	uint32_t allocations;
};

static size_t root_bytes(const struct walk *w, uint32_t root) { return pages(tensor_bytes(&w->m->operands[root].t)); }

// free_slot prefers the smallest that is large enough, else the largest; NO_SLOT: none.
static int32_t free_slot(const struct walk *w, size_t bytes)
{
	int32_t best = NO_SLOT;
	for (uint32_t i = 0; i < w->p->n_slots; i++) {
		if (!w->free[i])
			continue;
		size_t have = w->p->slot_bytes[i], other = best == NO_SLOT ? 0 : w->p->slot_bytes[best];
		if (best == NO_SLOT || (have >= bytes ? other < bytes || have < other : have > other))
			best = (int32_t)i;
	}
	return best;
}

static void give_slot(struct walk *w, uint32_t root)
{
	size_t bytes = root_bytes(w, root);
	int32_t slot = free_slot(w, bytes);
	if (slot == NO_SLOT) {
		slot = (int32_t)w->p->n_slots++;
		w->p->slot_bytes[slot] = 0;
	}
	if (w->p->slot_bytes[slot] < bytes)
		w->p->slot_bytes[slot] = bytes;
	w->free[slot] = false;
	w->p->slot[root] = slot;
	w->bytes += bytes;
	w->allocations++;
	if (w->bytes > w->p->peak_bytes)
		w->p->peak_bytes = w->bytes;
	if (w->allocations > w->p->peak_allocations)
		w->p->peak_allocations = w->allocations;
}

static void drop_if_dead(struct walk *w, uint32_t operand, uint32_t at)
{
	uint32_t root = w->p->root[operand];
	int32_t slot = w->p->slot[root];
	if (slot == NO_SLOT || w->last[root] > at || w->free[slot])
		return;
	w->free[slot] = true;
	w->bytes -= root_bytes(w, root);
	w->allocations--;
}

// taken_over returns the root whose memory an operation may write its result to, on a
// board that does so; its output when there is none.
static uint32_t taken_over(const struct walk *w, uint32_t at)
{
	const struct operation *o = &w->m->operations[at];
	uint32_t out = o->out[0], x = o->in[0];
	switch (o->code) {
	case NEURON_ADD: case NEURON_SUB: case NEURON_MUL: case NEURON_DIV:
		if (w->m->operands[x].t.constant == w->m->operands[o->in[1]].t.constant)
			return out;
		x = w->m->operands[x].t.constant ? o->in[1] : x;
		break;
	case NEURON_SQRT: case NEURON_TANH: case NEURON_LOGISTIC: case NEURON_GELU: case NEURON_SOFTMAX:
		break;
	default:
		return out;
	}
	x = w->p->root[x];
	bool same = tensor_bytes(&w->m->operands[x].t) == tensor_bytes(&w->m->operands[out].t);
	return profile.in_place && same && w->p->slot[x] != NO_SLOT && w->last[x] == at ? x : out;
}

static void step(struct walk *w, uint32_t at)
{
	const struct operation *o = &w->m->operations[at];
	for (uint32_t k = 0; k < o->n_out; k++) {
		uint32_t root = w->p->root[o->out[k]];
		if (outside(w->m, root) || w->p->slot[root] != NO_SLOT)
			continue;
		uint32_t from = root == o->out[k] ? taken_over(w, at) : root;
		if (from == root) {
			give_slot(w, root);
			continue;
		}
		w->last[from] = w->last[root];
		share(w->p, w->m->n_operands, root, from);
	}
	for (uint32_t k = 0; k < o->n_in; k++)
		drop_if_dead(w, o->in[k], at);
	for (uint32_t k = 0; k < o->n_out; k++)
		drop_if_dead(w, o->out[k], at);
}

static void walk(struct walk *w)
{
	const NeuronModel *m = w->m;
	for (uint32_t i = 0; i < m->n_operands; i++) {
		w->last[i] = -1;
		w->p->slot[i] = NO_SLOT;
	}
	for (uint32_t i = 0; i < m->n_operations; i++)
		for (uint32_t k = 0; k < m->operations[i].n_in; k++)
			w->last[w->p->root[m->operations[i].in[k]]] = i;
	for (uint32_t i = 0; i < m->n_operations; i++)
		step(w, i);
}

bool make_plan(struct plan *p, const NeuronModel *m)
{
	size_t n = m->n_operands;
	*p = (struct plan){.root = malloc(n * sizeof *p->root), .slot = malloc(n * sizeof *p->slot), .slot_bytes = malloc(n * sizeof *p->slot_bytes)};
	struct walk w = {.p = p, .m = m, .last = malloc(n * sizeof *w.last), .free = malloc(n * sizeof *w.free)};
	bool room = p->root != NULL && p->slot != NULL && p->slot_bytes != NULL && w.last != NULL && w.free != NULL;
	if (room) {
		share_reshapes(p, m);
		walk(&w);
	} else {
		free_plan(p);
	}
	free(w.last);
	free(w.free);
	return room;
}

void free_plan(struct plan *p)
{
	free(p->root);
	free(p->slot);
	free(p->slot_bytes);
	*p = (struct plan){0};
}
