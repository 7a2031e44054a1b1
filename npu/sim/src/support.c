// support.c: what the board of the profile takes.
#include "sim.h"

#include <stdlib.h>
#include <string.h>

static const struct admitted *find_admitted(const char *name)
{
	for (uint32_t i = 0; i < profile.n_admitted; i++)
		if (strcmp(profile.admitted[i].name, name) == 0)
			return &profile.admitted[i];
	return NULL;
}

// too_large looks at the dimensions of one tensor; batch says whether the first of four
// has a limit of its own.
static bool too_large(const struct tensor *t, bool batch)
{
	for (uint32_t i = 0; i < t->rank; i++) {
		uint32_t max = batch && t->rank == 4 && i == 0 && profile.max_batch != 0 ? profile.max_batch : profile.max_dim;
		if (max != 0 && t->dims[i] > max)
			return true;
	}
	return false;
}

// Rows of computed weights must fill whole vectors: output channels in multiples of 16,
// input channels in multiples of 32 bytes.
static const char *computed_weights(const struct tensor *w)
{
	if (w->constant || profile.computed_weights == WEIGHTS_FREE)
		return NULL;
	if (profile.computed_weights == WEIGHTS_CONSTANT)
		return "its weights are computed";
	if (w->dims[0] % 16 != 0 || w->dims[w->rank - 1] * element_bytes(w->type) % 32 != 0)
		return "its computed weights are not [multiple of 16, multiple of 32 bytes]";
	return NULL;
}

static const char *conv_limits(const struct call *c)
{
	const struct tensor *w = c->in[1];
	if (profile.conv_in_channels != 0 && w->dims[3] > profile.conv_in_channels)
		return "it has too many input channels";
	if (profile.conv_filter != 0 && (w->dims[1] > profile.conv_filter || w->dims[2] > profile.conv_filter))
		return "its filter is too large";
	for (uint32_t i = 4; i <= 5 && profile.conv_strides != 0; i++) {
		int32_t stride;
		if (int_parameter(c, i, &stride) && (stride > 31 || !(profile.conv_strides >> stride & 1)))
			return "its stride is none of the board's";
	}
	return NULL;
}

static const char *unsupported(const struct call *c, bool relaxed)
{
	const struct tensor *x = c->in[0], *out = c->out[0];
	const struct admitted *a = find_admitted(c->kind->name);
	bool weighted = c->kind->code == NEURON_CONV_2D || c->kind->code == NEURON_FULLY_CONNECTED;
	if (a == NULL)
		return "the board has no such operation";
	if (!(a->types >> class_of(x->type) & 1) || !(a->types >> class_of(out->type) & 1))
		return "not with these types";
	if ((class_of(x->type) == FLOAT32 || class_of(out->type) == FLOAT32) && !relaxed)
		return "float32 is taken only when it may be relaxed to float16";
	if (x->rank > a->max_rank || out->rank > a->max_rank)
		return "it has too many dimensions";
	if (too_large(x, !weighted) || too_large(out, !weighted))
		return "a dimension is too large";
	const char *why = weighted ? computed_weights(c->in[1]) : NULL;
	return why != NULL || c->kind->code != NEURON_CONV_2D ? why : conv_limits(c);
}

static const char *incomplete(const NeuronModel *m, const struct operation *o)
{
	for (uint32_t i = 0; i < o->n_in + o->n_out; i++) {
		const struct operand *p = &m->operands[i < o->n_in ? o->in[i] : o->out[i - o->n_in]];
		if (p->omitted)
			return "an operand was left out";
		if (elements(&p->t) == 0)
			return "a dimension is 0";
		if (i >= o->n_in && (p->t.rank == 0 || p->t.constant))
			return "it writes to what is no tensor";
	}
	return NULL;
}

const char *refusal(NeuronModel *m, uint32_t i, int *code)
{
	const struct operation *o = &m->operations[i];
	*code = NEURON_OP_FAILED;
	if (o->kind == NULL)
		return "the simulator does not know it";
	*code = NEURON_BAD_DATA;
	const char *why = incomplete(m, o);
	struct tensor **all = why == NULL ? malloc((o->n_in + o->n_out) * sizeof *all) : NULL;
	if (all == NULL)
		return why == NULL ? "there is no memory" : why;
	struct call c = make_call(o, &m->operands->t, sizeof *m->operands, all, all + o->n_in);
	why = o->kind->check(&c);
	if (why == NULL) {
		*code = NEURON_OP_FAILED;
		why = unsupported(&c, m->relaxed);
	}
	free(all);
	return why;
}
