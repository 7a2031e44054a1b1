package weights

import (
	"slices"

	"earshot/whisper/token"
)

// complete fills in what the container did not say: alignment heads and
// suppressed tokens.
func complete(h *Header, words [][]byte, from string) error {
	t, err := token.New(words, h.Dims.Vocab)
	if err != nil {
		return err
	}
	if h.AlignmentHeads == nil {
		h.AlignmentHeads = alignmentHeads(h.Dims, from)
	}
	if h.Suppress == nil {
		// Reference: decoding.py, DecodingTask._get_suppress_tokens.
		h.Suppress = append(t.NonSpeech(), t.StartOfTranscript, t.Translate, t.Transcribe, t.StartOfLM, t.StartOfPrev, t.NoSpeech)
		slices.Sort(h.Suppress)
	}
	if h.SuppressAtBegin == nil {
		// Reference: decoding.py, SuppressBlank.
		h.SuppressAtBegin = append(t.Encode(" "), t.EndOfText)
	}
	return nil
}

// alignmentHeads are those of the published model with these sizes (large-v1 and
// large-v2 have the same: the path decides), or all heads of the upper half of the
// layers (reference: model.py, Whisper.__init__).
func alignmentHeads(d Dims, from string) []Head {
	var heads []Head
	for _, k := range Models() {
		if k.Dims == d && (heads == nil || k.Name == nameIn(from)) {
			heads = publishedHeads[k.Name]
		}
	}
	if heads != nil {
		return heads
	}
	for layer := d.TextLayers / 2; layer < d.TextLayers; layer++ {
		for head := range d.TextHeads {
			heads = append(heads, Head{layer, head})
		}
	}
	return heads
}

// publishedHeads are the heads that the reference implementation's __init__.py
// lists in _ALIGNMENT_HEADS (a compressed bitmap there).
var publishedHeads = map[string][]Head{
	"tiny.en":   {{1, 0}, {2, 0}, {2, 5}, {3, 0}, {3, 1}, {3, 2}, {3, 3}, {3, 4}},
	"tiny":      {{2, 2}, {3, 0}, {3, 2}, {3, 3}, {3, 4}, {3, 5}},
	"base.en":   {{3, 3}, {4, 7}, {5, 1}, {5, 5}, {5, 7}},
	"base":      {{3, 1}, {4, 2}, {4, 3}, {4, 7}, {5, 1}, {5, 2}, {5, 4}, {5, 6}},
	"small.en":  {{6, 6}, {7, 0}, {7, 3}, {7, 8}, {8, 2}, {8, 5}, {8, 7}, {9, 0}, {9, 4}, {9, 8}, {9, 10}, {10, 0}, {10, 1}, {10, 2}, {10, 3}, {10, 6}, {10, 11}, {11, 2}, {11, 4}},
	"small":     {{5, 3}, {5, 9}, {8, 0}, {8, 4}, {8, 7}, {8, 8}, {9, 0}, {9, 7}, {9, 9}, {10, 5}},
	"medium.en": {{11, 4}, {14, 1}, {14, 12}, {14, 14}, {15, 4}, {16, 0}, {16, 4}, {16, 9}, {17, 12}, {17, 14}, {18, 7}, {18, 10}, {18, 15}, {20, 0}, {20, 3}, {20, 9}, {20, 14}, {21, 12}},
	"medium":    {{13, 15}, {15, 4}, {15, 15}, {16, 1}, {20, 0}, {23, 4}},
	"large-v1":  {{9, 19}, {11, 2}, {11, 4}, {11, 17}, {22, 7}, {22, 11}, {22, 17}, {23, 2}, {23, 15}},
	"large-v2":  {{10, 12}, {13, 17}, {16, 11}, {16, 12}, {16, 13}, {17, 15}, {17, 16}, {18, 4}, {18, 11}, {18, 19}, {19, 11}, {21, 2}, {21, 3}, {22, 3}, {22, 9}, {22, 12}, {23, 5}, {23, 7}, {23, 13}, {25, 5}, {26, 1}, {26, 12}, {27, 15}},
	"large-v3":  {{7, 0}, {10, 17}, {12, 18}, {13, 12}, {16, 1}, {17, 14}, {19, 11}, {21, 4}, {24, 1}, {25, 6}},
	"turbo":     {{2, 4}, {2, 11}, {3, 3}, {3, 6}, {3, 11}, {3, 14}},
}
