package wave

import "encoding/binary"

// mp3Header is the header of an MPEG audio frame (ISO/IEC 11172-3 section 2.4.2.3,
// 13818-3 for the low rates).
type mp3Header struct {
	version  int // 1, 2, or 25 for 2.5
	layer    int // 1, 2 or 3
	rate     int // Hz
	channels int
	crc      bool
	size     int // bytes of the frame, this header included; layer III only
	samples  int // per channel; layer III only
}

const mp3HeaderLen = 4

var (
	mp3Bitrates = [2][15]int{ // kbit/s of layer III: version 1, version 2
		{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
		{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
	}
	mp3Rates = [3]int{44100, 48000, 32000} // of version 1; half in 2, a quarter in 2.5
)

// parseMP3 reads the header at the start of b. Free-format frames (bit rate 0), which
// do not tell their size, are not accepted.
func parseMP3(b []byte) (h mp3Header, ok bool) {
	if len(b) < mp3HeaderLen || b[0] != 0xFF || b[1]&0xE0 != 0xE0 {
		return h, false
	}
	versionBits, layerBits := b[1]>>3&3, b[1]>>1&3
	bitrate, rate := b[2]>>4, b[2]>>2&3
	const reserved = 2 // of the emphasis
	if versionBits == 1 || layerBits == 0 || bitrate == 0 || bitrate == 15 || rate == 3 || b[3]&3 == reserved {
		return h, false
	}
	h = mp3Header{
		version:  [4]int{25, 0, 2, 1}[versionBits],
		layer:    4 - int(layerBits),
		rate:     mp3Rates[rate],
		channels: 2,
		crc:      b[1]&1 == 0,
	}
	if b[3]>>6 == 3 {
		h.channels = 1
	}
	table := 0
	h.samples = 1152
	if h.version != 1 {
		table, h.samples = 1, 576
		h.rate /= 2
	}
	if h.version == 25 {
		h.rate /= 2
	}
	h.size = h.samples/8*1000*mp3Bitrates[table][bitrate]/h.rate + int(b[2]>>1&1)
	return h, true
}

// follows reports whether a frame of header h can stand in one stream with one of o.
func (h mp3Header) follows(o mp3Header) bool {
	return h.version == o.version && h.layer == o.layer && h.rate == o.rate
}

// sideInfo is where the side information stands in the frame: it says where the frame's
// bits begin and how they are coded.
func (h mp3Header) sideInfo() (start, end int) {
	start = mp3HeaderLen
	if h.crc {
		start += 2
	}
	size := 17 // version 1 mono, version 2 stereo
	switch {
	case h.version == 1 && h.channels == 2:
		size = 32
	case h.version != 1 && h.channels == 1:
		size = 9
	}
	return start, start + size
}

// reservoirBits is the width of main_data_begin.
func (h mp3Header) reservoirBits() uint {
	if h.version == 1 {
		return 9
	}
	return 8
}

// mainDataBegin is how many bytes in front of this frame's own its data begins, in
// the "bit reservoir" of the frames before.
func (h mp3Header) mainDataBegin(frame []byte) int {
	start, _ := h.sideInfo()
	return int(binary.BigEndian.Uint16(frame[start:]) >> (16 - h.reservoirBits()))
}

// mute makes a frame of silence out of frame, whose data remains in the reservoir,
// behind reservoir bytes from the frames before.
func (h mp3Header) mute(frame []byte, reservoir int) {
	start, end := h.sideInfo()
	clear(frame[start:end])
	begin := min(reservoir, 1<<h.reservoirBits()-1)
	binary.BigEndian.PutUint16(frame[start:], uint16(begin<<(16-h.reservoirBits())))
}

// mp3Tag is what the first frame says about the stream, if it is the frame without
// sound that encoders put there.
type mp3Tag struct {
	frames         int64 // frames with sound, 0 when not told
	delay, padding int64 // samples the encoder added at the start and the end; -1 when not told
}

// parseMP3Tag reads the Xing or Info tag, and the LAME extension behind it, which is
// the only place where an MP3 file tells its exact length.
func parseMP3Tag(h mp3Header, frame []byte) (tag mp3Tag, ok bool) {
	const hasFrames, hasBytes, hasTOC, hasQuality = 1, 2, 4, 8
	_, at := h.sideInfo()
	if len(frame) < at+8 {
		return tag, false
	}
	if id := string(frame[at : at+4]); id != "Xing" && id != "Info" {
		return tag, false
	}
	flags := binary.BigEndian.Uint32(frame[at+4:])
	tag = mp3Tag{delay: -1, padding: -1}
	at += 8
	for _, field := range []struct{ flag, size int }{{hasFrames, 4}, {hasBytes, 4}, {hasTOC, 100}, {hasQuality, 4}} {
		if flags&uint32(field.flag) == 0 {
			continue
		}
		if field.flag == hasFrames && len(frame) >= at+4 {
			tag.frames = int64(binary.BigEndian.Uint32(frame[at:]))
		}
		at += field.size
	}
	const extension = 24 // encoder name of 9 bytes; 12 and 12 bits of delay and padding at 21
	if len(frame) < at+extension {
		return tag, true
	}
	if name := string(frame[at : at+4]); name == "LAME" || name == "Lavf" || name == "Lavc" {
		v := int64(frame[at+21])<<16 | int64(frame[at+22])<<8 | int64(frame[at+23])
		tag.delay, tag.padding = v>>12, v&0xFFF
	}
	return tag, true
}
