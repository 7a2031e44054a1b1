package weights

import "encoding/binary"

// onnxTensor is an initializer of an ONNX graph.
type onnxTensor struct {
	shape  []int
	values []float32
}

// onnxTensors returns the float32 initializers of a model by name: ModelProto.graph
// is field 7, GraphProto.initializer 5, and of TensorProto dims is 1, name 8 and
// raw_data 9 (onnx.proto). A file that ends inside a field gives what stands before
// it; what is wrong with its tensors shows where they are asked for by shape.
func onnxTensors(model []byte) map[string]onnxTensor {
	all := map[string]onnxTensor{}
	protoFields(model, func(field int, _ uint64, graph []byte) {
		if field != 7 {
			return
		}
		protoFields(graph, func(field int, _ uint64, initializer []byte) {
			if field == 5 {
				name, t := onnxInitializer(initializer)
				all[name] = t
			}
		})
	})
	return all
}

func onnxInitializer(message []byte) (name string, t onnxTensor) {
	elements := 1
	protoFields(message, func(field int, number uint64, data []byte) {
		switch field {
		case 1:
			t.shape = append(t.shape, int(number))
			elements *= int(number)
		case 8:
			name = string(data)
		case 9:
			t.values = make([]float32, len(data)/4)
			binary.Decode(data, binary.LittleEndian, t.values)
		}
	})
	if elements != len(t.values) {
		t.shape = nil // values of another type, or elsewhere
	}
	return name, t
}

// protoFields calls visit for the fields of a protocol buffer message that hold a
// number or bytes (wire types 0 and 2), up to the first field of another type.
func protoFields(message []byte, visit func(field int, number uint64, data []byte)) {
	for len(message) > 0 {
		key, n := binary.Uvarint(message)
		if n <= 0 || key&7 != 0 && key&7 != 2 {
			return
		}
		number, m := binary.Uvarint(message[n:])
		if m <= 0 {
			return
		}
		message = message[n+m:]
		var data []byte
		if key&7 == 2 {
			if number > uint64(len(message)) {
				return
			}
			data, message = message[:number], message[number:]
		}
		visit(int(key>>3), number, data)
	}
}
