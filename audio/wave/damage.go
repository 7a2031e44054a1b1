package wave

// maxHoleSeconds is the longest damage that is filled with silence. Where the
// numbers in the stream say more, they are not believed.
const maxHoleSeconds = 600

// hole is silence that stands for sound that was lost.
type hole struct {
	channels int
	left     int64 // frames
	block    []float32
}

// set makes the hole n frames long; it stays empty where n makes no sense.
func (h *hole) set(n int64, rate int) {
	if n < 0 || n > maxHoleSeconds*int64(rate) {
		n = 0
	}
	h.left = n
}

// next returns a part of the silence.
func (h *hole) next() []float32 {
	n := min(h.left, blockFrames)
	h.left -= n
	if h.block == nil {
		h.block = make([]float32, blockFrames*h.channels)
	}
	block := h.block[:int(n)*h.channels]
	clear(block)
	return block
}

// recoverLibrary turns a panic of a decoding library into an error. It is deferred
// around calls into libraries whose checks of their input are known to have gaps,
// and nowhere else.
func recoverLibrary(name string, err *error) {
	if p := recover(); p != nil {
		*err = damagedf("%s gave up: %v", name, p)
	}
}
