// board.c: the state of the library as a whole, and what it says of itself.
#include "sim.h"

#include <pthread.h>
#include <stdlib.h>

struct NeuronDevice {
	const char *name;
};

static NeuronDevice devices[8];
static int state;

static void configure(void)
{
	const char *name = getenv("NEURONSIM_PROFILE"), *list = getenv("NEURONSIM_FAULT");
	if (!read_profile(name == NULL || *name == 0 ? "genio-700" : name) || (list != NULL && !parse_faults(list)))
		state = NEURON_BAD_STATE;
	for (uint32_t i = 0; i < profile.n_devices; i++)
		devices[i].name = profile.devices[i];
	if (state == NEURON_NO_ERROR && faults.open) {
		say("fault open: nothing works, as with a broken installation");
		state = NEURON_UNAVAILABLE_DEVICE;
	}
}

int board(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, configure);
	return state;
}

int Neuron_getVersion(NeuronRuntimeVersion *v)
{
	int code = board();
	if (code != NEURON_NO_ERROR)
		return code;
	if (v == NULL)
		return NEURON_UNEXPECTED_NULL;
	*v = profile.version;
	return NEURON_NO_ERROR;
}

int Neuron_getL1MemorySizeKb(uint32_t *kb)
{
	int code = board();
	if (code != NEURON_NO_ERROR)
		return code;
	if (kb == NULL)
		return NEURON_UNEXPECTED_NULL;
	*kb = profile.l1_kb;
	return NEURON_NO_ERROR;
}

int Neuron_getDeviceCount(uint32_t *n)
{
	int code = board();
	if (code != NEURON_NO_ERROR)
		return code;
	if (n == NULL)
		return NEURON_UNEXPECTED_NULL;
	*n = profile.n_devices;
	return NEURON_NO_ERROR;
}

int Neuron_getDevice(uint32_t index, NeuronDevice **device)
{
	int code = board();
	if (code != NEURON_NO_ERROR)
		return code;
	if (device == NULL)
		return NEURON_UNEXPECTED_NULL;
	if (index >= profile.n_devices)
		return NEURON_BAD_DATA;
	*device = &devices[index];
	return NEURON_NO_ERROR;
}

int NeuronDevice_getName(const NeuronDevice *device, const char **name)
{
	if (device == NULL || name == NULL)
		return NEURON_UNEXPECTED_NULL;
	*name = device->name;
	return NEURON_NO_ERROR;
}

int NeuronDevice_getDescription(const NeuronDevice *device, const char **text)
{
	if (device == NULL || text == NULL)
		return NEURON_UNEXPECTED_NULL;
	*text = "simulated";
	return NEURON_NO_ERROR;
}
