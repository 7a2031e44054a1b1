package panel

import (
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Types of events, and the one code of evSyn that matters here
// (linux/input-event-codes.h).
const (
	evSyn      = 0x00
	evKey      = 0x01
	evSwitch   = 0x05
	synDropped = 3 // the reader was too slow: events are missing
)

// Highest codes of the two types.
const (
	maxKey    = 0x2ff
	maxSwitch = 0x10
)

// Code is a key or a switch.
type Code struct {
	kind, number uint16
	name         string
}

func (c Code) String() string { return c.name }

// IsSwitch says that its position counts, where of a key each press does.
func (c Code) IsSwitch() bool { return c.kind == evSwitch }

// names are those that a device might have for this.
var names = map[string]Code{
	"KEY_MUTE":       {kind: evKey, number: 113},
	"KEY_PROG1":      {kind: evKey, number: 148},
	"KEY_PROG2":      {kind: evKey, number: 149},
	"KEY_RECORD":     {kind: evKey, number: 167},
	"KEY_MICMUTE":    {kind: evKey, number: 248},
	"BTN_0":          {kind: evKey, number: 0x100},
	"BTN_1":          {kind: evKey, number: 0x101},
	"SW_MUTE_DEVICE": {kind: evSwitch, number: 0x0e},
}

// ParseCode reads a name, such as KEY_MICMUTE or SW_MUTE_DEVICE, or for what has another
// one key:NUMBER or switch:NUMBER.
func ParseCode(text string) (Code, error) {
	c, known := names[text]
	c.name = text
	if known {
		return c, nil
	}
	kind, number, _ := strings.Cut(text, ":")
	most := uint64(maxKey)
	switch c.kind = evKey; kind {
	case "key":
	case "switch":
		c.kind, most = evSwitch, maxSwitch
	default:
		return Code{}, fmt.Errorf("no key %q is known; one without a name here is key:NUMBER, or switch:NUMBER, with its number in linux/input-event-codes.h", text)
	}
	n, err := strconv.ParseUint(number, 0, 16)
	if err != nil || n > most {
		return Code{}, fmt.Errorf("%s: the number is one of 0 to %d", text, most)
	}
	c.number = uint16(n)
	return c, nil
}

// event is what a device says: the kernel's struct input_event, its time apart.
type event struct {
	kind, code uint16
	value      int32 // 0 released, 1 pressed, 2 repeated; of a switch 1 is on
}

// eventBytes is the size of struct input_event on 64-bit Linux: two 64-bit numbers of time,
// then kind, code and value.
const eventBytes = 24

// readEvents passes all events on to its end.
func readEvents(in io.Reader, each func(event)) error {
	var b [eventBytes]byte
	for {
		if _, err := io.ReadFull(in, b[:]); err != nil {
			return err
		}
		each(event{
			kind:  binary.NativeEndian.Uint16(b[16:]),
			code:  binary.NativeEndian.Uint16(b[18:]),
			value: int32(binary.NativeEndian.Uint32(b[20:])),
		})
	}
}
