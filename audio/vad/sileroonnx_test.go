package vad

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"testing"
)

// realSilero has the weights of silero_vad/data/silero_vad_16k_op15.onnx in the wheel
// silero-vad 6.2.3, at the path in EARSHOT_TEST_SILERO. silero_vad_16k.safetensors
// beside it holds the same network from another training run: its probabilities
// differ from the Python package's by up to 0.36.
func realSilero(t testing.TB) *Silero {
	t.Helper()
	path := os.Getenv("EARSHOT_TEST_SILERO")
	if path == "" {
		t.Skip("EARSHOT_TEST_SILERO does not name Silero's weights (silero_vad_16k_op15.onnx)")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := onnxTensors(data)
	s, err := NewSilero(func(name string, shape ...int) ([]float32, error) {
		tensor, found := all[onnxNames[name]]
		if !found || !slices.Equal(tensor.shape, shape) {
			return nil, fmt.Errorf("%s: tensor %s has shape %v, want %v", path, name, tensor.shape, shape)
		}
		return tensor.values, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// onnxNames are the names in the .onnx file for those of the .safetensors file.
var onnxNames = map[string]string{
	"stft_conv.weight":    "model.stft.forward_basis_buffer",
	"conv1.weight":        "model.encoder.0.reparam_conv.weight",
	"conv1.bias":          "model.encoder.0.reparam_conv.bias",
	"conv2.weight":        "model.encoder.1.reparam_conv.weight",
	"conv2.bias":          "model.encoder.1.reparam_conv.bias",
	"conv3.weight":        "model.encoder.2.reparam_conv.weight",
	"conv3.bias":          "model.encoder.2.reparam_conv.bias",
	"conv4.weight":        "model.encoder.3.reparam_conv.weight",
	"conv4.bias":          "model.encoder.3.reparam_conv.bias",
	"lstm_cell.weight_ih": "model.decoder.rnn.weight_ih",
	"lstm_cell.weight_hh": "model.decoder.rnn.weight_hh",
	"lstm_cell.bias_ih":   "model.decoder.rnn.bias_ih",
	"lstm_cell.bias_hh":   "model.decoder.rnn.bias_hh",
	"final_conv.weight":   "model.decoder.decoder.2.weight",
	"final_conv.bias":     "model.decoder.decoder.2.bias",
}

type onnxTensor struct {
	shape  []int
	values []float32
}

// onnxTensors returns the float32 initializers of a model: ModelProto.graph = 7,
// GraphProto.initializer = 5, TensorProto.dims = 1, name = 8, raw_data = 9 (onnx.proto).
func onnxTensors(model []byte) map[string]onnxTensor {
	all := map[string]onnxTensor{}
	protoFields(model, func(field int, _ uint64, graph []byte) {
		if field != 7 {
			return
		}
		protoFields(graph, func(field int, _ uint64, initializer []byte) {
			if field != 5 {
				return
			}
			var name string
			var tensor onnxTensor
			protoFields(initializer, func(field int, number uint64, bytes []byte) {
				switch field {
				case 1:
					tensor.shape = append(tensor.shape, int(number))
				case 8:
					name = string(bytes)
				case 9:
					tensor.values = make([]float32, len(bytes)/4)
					binary.Decode(bytes, binary.LittleEndian, tensor.values)
				}
			})
			all[name] = tensor
		})
	})
	return all
}

// protoFields calls field for every field of a message with numbers and bytes only.
func protoFields(message []byte, field func(field int, number uint64, bytes []byte)) {
	for len(message) > 0 {
		key, n := binary.Uvarint(message)
		number, m := binary.Uvarint(message[n:])
		message = message[n+m:]
		var bytes []byte
		if key&7 == 2 {
			bytes, message = message[:number], message[number:]
		}
		field(int(key>>3), number, bytes)
	}
}
