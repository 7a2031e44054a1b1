package pipeline

import (
	"testing"
)

// TestSlowSubscriber: one who never reads is dropped, the others get everything.
func TestSlowSubscriber(t *testing.T) {
	h := NewHub()
	slow, _ := h.Subscribe()
	quick, cancel := h.Subscribe()
	const n = 2 * subscriberRoom
	for i := range n {
		h.publish(Message{Recording: int64(i)})
		if got := <-quick; got.Recording != int64(i) {
			t.Fatalf("message %d is %+v", i, got)
		}
	}
	read := 0
	for range slow {
		read++
	}
	if read != subscriberRoom {
		t.Errorf("the slow one read %d messages", read)
	}
	cancel()
	cancel()
	h.close()
	if late, _ := h.Subscribe(); late != nil {
		if _, open := <-late; open {
			t.Error("subscribed to a hub that is closed")
		}
	}
}
