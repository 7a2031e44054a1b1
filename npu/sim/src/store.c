// store.c: a compiled network as bytes. Restoring makes the same calls as a client does,
// so that what is read passes the same checks.
#include "sim.h"

#include <stdlib.h>
#include <string.h>

struct header {
	char magic[8];
	uint64_t hash;  // of all that follows
	uint64_t bytes; // behind the header
	char name[128];
	uint8_t version[3], relaxed;
	uint32_t n_operands, n_operations, n_inputs, n_outputs;
};

enum { HASHED = offsetof(struct header, bytes) };

struct stored_operand {
	int32_t type, zero;
	uint32_t rank, dims[MAX_RANK];
	float scale;
	uint32_t channel_dim, channels;
	uint64_t size; // of the value, 0: none
};

struct stored_operation {
	int32_t code;
	uint32_t n_in, n_out;
};

static const char magic[8] = "NEURSIM1";

// ---- storing

// put appends n bytes, in multiples of 8; without a place it only counts.
static size_t put(char *to, size_t at, const void *from, size_t n)
{
	static const char zeros[8];
	size_t rest = (8 - n % 8) % 8;
	if (to != NULL) {
		memcpy(to + at, from, n);
		memcpy(to + at + n, zeros, rest);
	}
	return at + n + rest;
}

static size_t put_operand(char *to, size_t at, const NeuronCompilation *c, uint32_t i)
{
	const struct operand *o = &c->model->operands[i];
	struct stored_operand s;
	memset(&s, 0, sizeof s);
	s.type = o->t.type;
	s.zero = o->t.zero;
	s.rank = o->t.rank;
	memcpy(s.dims, o->t.dims, sizeof s.dims);
	s.scale = o->t.scale;
	s.channel_dim = o->t.channel_dim;
	s.channels = o->t.channels;
	s.size = o->t.constant ? o->size : 0;
	at = put(to, at, &s, sizeof s);
	if (s.channels > 0)
		at = put(to, at, o->t.scales, s.channels * sizeof *o->t.scales);
	return s.size > 0 ? put(to, at, value_of(c, i), s.size) : at;
}

static size_t put_body(char *to, const NeuronCompilation *c)
{
	const NeuronModel *m = c->model;
	size_t at = 0;
	for (uint32_t i = 0; i < m->n_operands; i++)
		at = put_operand(to, at, c, i);
	for (uint32_t i = 0; i < m->n_operations; i++) {
		const struct operation *o = &m->operations[i];
		struct stored_operation s = {o->code, o->n_in, o->n_out};
		at = put(to, at, &s, sizeof s);
		at = put(to, at, o->in, o->n_in * sizeof *o->in);
		at = put(to, at, o->out, o->n_out * sizeof *o->out);
	}
	at = put(to, at, m->inputs, m->n_inputs * sizeof *m->inputs);
	return put(to, at, m->outputs, m->n_outputs * sizeof *m->outputs);
}

int NeuronCompilation_getCompiledNetworkSize(NeuronCompilation *c, size_t *size)
{
	if (c == NULL || size == NULL)
		return NEURON_UNEXPECTED_NULL;
	if (!c->finished)
		return NEURON_BAD_STATE;
	*size = sizeof(struct header) + put_body(NULL, c);
	return NEURON_NO_ERROR;
}

int NeuronCompilation_storeCompiledNetwork(NeuronCompilation *c, void *to, size_t size)
{
	size_t want;
	int code = to == NULL ? NEURON_UNEXPECTED_NULL : NeuronCompilation_getCompiledNetworkSize(c, &want);
	if (code != NEURON_NO_ERROR)
		return code;
	if (size < want)
		return NEURON_BAD_DATA;
	const NeuronModel *m = c->model;
	struct header h;
	memset(&h, 0, sizeof h);
	memcpy(h.magic, magic, sizeof h.magic);
	memcpy(h.version, &profile.version, sizeof h.version);
	h.relaxed = m->relaxed;
	h.n_operands = m->n_operands;
	h.n_operations = m->n_operations;
	h.n_inputs = m->n_inputs;
	h.n_outputs = m->n_outputs;
	h.bytes = want - sizeof h;
	memcpy(h.name, m->name, sizeof h.name);
	put_body((char *)to + sizeof h, c);
	memcpy(to, &h, sizeof h);
	h.hash = hash_bytes((char *)to + HASHED, want - HASHED);
	memcpy(to, &h, HASHED);
	memset((char *)to + want, 0, size - want);
	return NEURON_NO_ERROR;
}

// ---- restoring

struct reader {
	const char *at;
	size_t left;
};

// take returns n bytes and what was put behind them; NULL: there are not that many.
static const void *take(struct reader *r, uint64_t n)
{
	const char *p = r->at;
	if (n > r->left || (n + 7) / 8 * 8 > r->left)
		return NULL;
	n = (n + 7) / 8 * 8;
	r->at += n;
	r->left -= n;
	return p;
}

// take_all copies n bytes to where they are aligned.
static bool take_all(struct reader *r, void *to, size_t n)
{
	const void *p = take(r, n);
	if (p != NULL)
		memcpy(to, p, n);
	return p != NULL;
}

static bool read_operand(struct reader *r, NeuronModel *m, uint32_t i)
{
	struct stored_operand s;
	if (!take_all(r, &s, sizeof s) || s.rank > MAX_RANK)
		return false;
	NeuronOperandType type = {s.type, s.rank, s.dims, s.scale, s.zero};
	if (NeuronModel_addOperand(m, &type) != NEURON_NO_ERROR)
		return false;
	if (s.channels > 0) {
		NeuronSymmPerChannelQuantParams q = {s.channel_dim, s.channels, take(r, (uint64_t)s.channels * sizeof(float))};
		if (q.scales == NULL || NeuronModel_setOperandSymmPerChannelQuantParams(m, (int32_t)i, &q) != NEURON_NO_ERROR)
			return false;
	}
	if (s.size == 0)
		return true;
	const void *value = take(r, s.size);
	return value != NULL && NeuronModel_setOperandValue(m, (int32_t)i, value, s.size) == NEURON_NO_ERROR;
}

static bool read_operation(struct reader *r, NeuronModel *m)
{
	struct stored_operation s;
	if (!take_all(r, &s, sizeof s))
		return false;
	const uint32_t *in = take(r, (uint64_t)s.n_in * sizeof *in), *out = in == NULL ? NULL : take(r, (uint64_t)s.n_out * sizeof *out);
	return out != NULL && NeuronModel_addOperation(m, s.code, s.n_in, in, s.n_out, out) == NEURON_NO_ERROR;
}

static bool read_body(struct reader *r, const struct header *h, NeuronModel *m)
{
	for (uint32_t i = 0; i < h->n_operands; i++)
		if (!read_operand(r, m, i))
			return false;
	for (uint32_t i = 0; i < h->n_operations; i++)
		if (!read_operation(r, m))
			return false;
	const uint32_t *in = take(r, (uint64_t)h->n_inputs * sizeof *in), *out = in == NULL ? NULL : take(r, (uint64_t)h->n_outputs * sizeof *out);
	return out != NULL && NeuronModel_identifyInputsAndOutputs(m, h->n_inputs, in, h->n_outputs, out) == NEURON_NO_ERROR &&
		NeuronModel_relaxComputationFloat32toFloat16(m, h->relaxed) == NEURON_NO_ERROR && NeuronModel_finish(m) == NEURON_NO_ERROR;
}

// check_header says why bytes are no network of this library; NULL: they are.
static const char *check_header(struct header *h, const void *network, size_t size)
{
	if (size < sizeof *h)
		return "it is too short";
	memcpy(h, network, sizeof *h);
	if (memcmp(h->magic, magic, sizeof magic) != 0)
		return "this library did not store it";
	if (h->version[0] != profile.version.major)
		return "a library of another major version stored it";
	if (h->bytes > size - sizeof *h || h->bytes % 8 != 0 || hash_bytes((const char *)network + HASHED, sizeof *h - HASHED + h->bytes) != h->hash)
		return "it is damaged";
	h->name[sizeof h->name - 1] = 0;
	return NULL;
}

static int restore(NeuronModel *m, NeuronCompilation **c, const void *network, size_t size)
{
	struct header h;
	const char *why = check_header(&h, network, size);
	struct reader r = {(const char *)network + sizeof h, why == NULL ? h.bytes : 0};
	if (why == NULL && !read_body(&r, &h, m))
		why = "it makes no sense";
	if (why != NULL) {
		say("the compiled network can't be restored: %s", why);
		return NEURON_BAD_DATA;
	}
	NeuronModel_setName(m, h.name);
	int code = NeuronCompilation_create(m, c);
	return code == NEURON_NO_ERROR ? NeuronCompilation_finish(*c) : code;
}

int NeuronModel_restoreFromCompiledNetwork(NeuronModel **model, NeuronCompilation **compilation, const void *network, size_t size)
{
	if (model == NULL || compilation == NULL || network == NULL)
		return NEURON_UNEXPECTED_NULL;
	*compilation = NULL;
	int code = NeuronModel_create(model);
	if (code != NEURON_NO_ERROR)
		return code;
	void *aligned = (uintptr_t)network % 8 == 0 ? NULL : malloc(size);
	code = restore(*model, compilation, aligned == NULL ? network : memcpy(aligned, network, size), size);
	free(aligned);
	if (code != NEURON_NO_ERROR) {
		release_compilation(*compilation);
		release_model(*model);
		*compilation = NULL;
		*model = NULL;
	}
	return code;
}
