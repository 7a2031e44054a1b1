package pipeline

import (
	"sync"
	"time"

	"earshot/store"
)

// Kind is what a message is about.
type Kind string

const (
	Caption Kind = "caption" // what is being said, so far
	Final   Kind = "final"   // a segment that is stored
	Kept    Kind = "kept"    // sound that is to be written down later
	Changed Kind = "state"   // something in Status has changed
)

// Message is what subscribers are told.
type Message struct {
	Kind       Kind
	Recording  int64
	Start, End time.Duration
	Text       string // of a caption: what is stable
	Volatile   string // the rest of a caption, which may still change
	Language   string
	Reason     string
	Segment    *store.Segment
}

// Hub hands messages to subscribers. Those who are too slow lose their place, never the
// pipeline its time: what is stored can be read again from the last id they have seen.
type Hub struct {
	mu     sync.Mutex
	all    map[chan Message]struct{}
	closed bool
}

// NewHub returns a hub without subscribers.
func NewHub() *Hub { return &Hub{all: map[chan Message]struct{}{}} }

// subscriberRoom is how many messages a subscriber may leave unread.
const subscriberRoom = 256

// Subscribe returns a channel of all that follows. It is closed when the subscriber is
// too slow or the pipeline has ended; cancel ends it.
func (h *Hub) Subscribe() (messages <-chan Message, cancel func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := make(chan Message, subscriberRoom)
	if h.closed {
		close(c)
		return c, func() {}
	}
	h.all[c] = struct{}{}
	return c, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.drop(c)
	}
}

func (h *Hub) publish(m Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.all {
		select {
		case c <- m:
		default:
			h.drop(c)
		}
	}
}

func (h *Hub) drop(c chan Message) {
	if _, there := h.all[c]; there {
		delete(h.all, c)
		close(c)
	}
}

func (h *Hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for c := range h.all {
		h.drop(c)
	}
}
