package pipeline

import (
	"strings"
	"testing"

	"earshot/whisper"
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

// TestCaption: what two texts in a row agree on is stable and stays.
func TestCaption(t *testing.T) {
	var c caption
	r := &recording{}
	for _, step := range []struct{ text, stable, volatile string }{
		{"and so", "", "and so"},
		{"and so my fell", "and so", "my fell"},
		{"and so my fellow", "and so my", "fellow"},
		{"and sow my fellow", "and so my", "fellow"}, // words are taken by their number
		{"and so my fellow Americans ask", "and so my", "fellow Americans ask"},
		{"and so my fellow Americans ask not", "and so my fellow Americans ask", "not"},
	} {
		m := c.update(&utterance{recording: r, start: 5, end: 9}, whisper.Heard{Result: whisper.Result{Text: step.text}})
		if m.Text != step.stable || m.Volatile != step.volatile {
			t.Errorf("%q: stable %q, volatile %q, want %q, %q", step.text, m.Text, m.Volatile, step.stable, step.volatile)
		}
	}
	if m := c.update(&utterance{recording: r, start: 50, end: 59}, whisper.Heard{Result: whisper.Result{Text: "and so my fellow"}}); m.Text != "" || strings.Count(m.Volatile, " ") != 3 {
		t.Errorf("another utterance: %+v", m)
	}
}
