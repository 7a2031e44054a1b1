package neuron

// Operand types (section 3).
const (
	FLOAT32                        = 0
	INT32                          = 1
	UINT32                         = 2
	TENSOR_FLOAT32                 = 3
	TENSOR_INT32                   = 4
	TENSOR_QUANT8_ASYMM            = 5
	BOOL                           = 6
	TENSOR_QUANT16_SYMM            = 7
	TENSOR_FLOAT16                 = 8
	TENSOR_BOOL8                   = 9
	FLOAT16                        = 10
	TENSOR_QUANT8_SYMM_PER_CHANNEL = 11
	TENSOR_QUANT16_ASYMM           = 12
	TENSOR_QUANT8_SYMM             = 13
	TENSOR_QUANT8_ASYMM_SIGNED     = 14
)

// Operation codes: those that package graph has (section 5.1; facts/neuron-observed.md 1
// for BATCH_MATMUL and GELU).
const (
	ADD             = 0
	CONCATENATION   = 2
	CONV_2D         = 3
	FULLY_CONNECTED = 9
	LOGISTIC        = 14
	MUL             = 18
	RESHAPE         = 22
	SOFTMAX         = 25
	TANH            = 28
	DIV             = 30
	MEAN            = 31
	PAD             = 32
	SUB             = 36
	TRANSPOSE       = 37
	SLICE           = 86
	SQRT            = 88
	BATCH_MATMUL    = 102
	GELU            = 109
)

// An operation of the extension is named by its last operand, a packed string
// (section 5.4).
const (
	GeneralOperation       = "com.mediatek.general_operation"
	ExtensionOperandCode   = 0x0100
	ExtensionOperationCode = 0
	LAYER_NORMALIZATION    = "MTKEXT_LAYER_NORMALIZATION"
)

// Scalars of operations (section 3).
const (
	FUSED_NONE    = 0
	FUSED_RELU    = 1
	FUSED_RELU1   = 2
	FUSED_RELU6   = 3
	PADDING_SAME  = 1
	PADDING_VALID = 2
)

// Preference, priority and optimisation hint of a compilation (section 3).
const (
	PREFER_LOW_POWER          = 0
	PREFER_FAST_SINGLE_ANSWER = 1
	PREFER_SUSTAINED_SPEED    = 2
	PREFER_TURBO_BOOST        = 3

	PRIORITY_LOW    = 90
	PRIORITY_MEDIUM = 100
	PRIORITY_HIGH   = 110

	OPTIMIZATION_NORMAL           = 0
	OPTIMIZATION_LOW_LATENCY      = 1
	OPTIMIZATION_DEEP_FUSION      = 2
	OPTIMIZATION_BATCH_PROCESSING = 4
)

// Kinds of device of the Runtime (section 7.1).
const DeviceHardware = 4

// ImmediatelyCopied is the size, in bytes, up to which NeuronModel_setOperandValue copies;
// a larger value has to stay where it is until the compilation has finished (section 2).
const ImmediatelyCopied = 128
