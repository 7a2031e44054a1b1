package cli

import (
	"context"
	"net"
	"os"
	"strconv"
	"time"
)

// notifier tells systemd how the service is: the address of a datagram socket (sd_notify(3)),
// or empty where nobody wants to know.
type notifier string

func (n notifier) send(state string) {
	if n == "" {
		return
	}
	// A name that begins with @ is an abstract one; net knows that too.
	c, err := net.Dial("unixgram", string(n))
	if err != nil {
		return // there is nobody to tell
	}
	defer c.Close()
	_, _ = c.Write([]byte(state))
}

// run says that the service is ready, and then again and again that it lives and how it
// is. line stands still where the service does.
func (n notifier) run(ctx context.Context, line func() string) {
	if n == "" {
		return
	}
	every := 10 * time.Second
	if micros, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64); err == nil && micros > 0 {
		every = min(every, time.Duration(micros)*time.Microsecond/2)
	}
	n.send("READY=1")
	for ctx.Err() == nil {
		n.send("WATCHDOG=1\nSTATUS=" + line())
		select {
		case <-ctx.Done():
		case <-time.After(every):
		}
	}
}
