//go:build linux

package npu

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// What is asked of a worker. Each request has one reply, and the next request comes after
// it.
const (
	opOpen     = "open"     // Library → Status
	opStatus   = "status"   // → Status
	opSupports = "supports" // Graph, with memory → Supported
	opCompile  = "compile"  // Graph and Options, with memory → Network, Name, In, Out, with two pools
	opRestore  = "restore"  // with memory → the same
	opExecute  = "execute"  // Network; tensors are in its pools →
	opStore    = "store"    // Network → with memory
	opFree     = "free"     // Network →
	opClose    = "close"    // → and the worker ends
)

// message is a request or a reply. Memory, and pools, travel with it as file descriptors.
type message struct {
	Op      string   `json:",omitempty"`
	Library string   `json:",omitempty"`
	Options *Options `json:",omitempty"`
	Graph   int      `json:",omitempty"` // bytes of the description at the beginning of the memory
	Network int      `json:",omitempty"` // number, from 1

	Error     *wireError `json:",omitempty"`
	Status    *Status    `json:",omitempty"`
	Supported []byte     `json:",omitempty"` // 1: it is
	Name      string     `json:",omitempty"` // of the network
	In, Out   []tensor   `json:",omitempty"`
	DMABuf    [2]bool    `json:",omitzero"` // what the pools are
}

// A message is one packet of the socket: maxMessage bytes, maxFDs descriptors at most.
const (
	maxMessage = 128 << 10
	maxFDs     = 2
)

func parseMessage(b []byte) (m message, err error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return m, fmt.Errorf("a message of the NPU worker: %w", err)
	}
	if err := checkTensors(m.In, m.Out); err != nil {
		return m, fmt.Errorf("a message of the NPU worker: %w", err)
	}
	return m, nil
}

// link is one end of the socket between this program and its worker.
type link struct {
	conn *net.UnixConn
	buf  []byte
	oob  []byte
}

// newLink takes the file over.
func newLink(f *os.File) (*link, error) {
	defer f.Close() // FileConn has its own descriptor
	conn, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	unixConn, ok := conn.(*net.UnixConn)
	if !ok {
		conn.Close()
		return nil, errors.New(f.Name() + " is no Unix socket")
	}
	return &link{unixConn, make([]byte, maxMessage+1), make([]byte, unix.CmsgSpace(4*maxFDs))}, nil
}

func (l *link) close() { l.conn.Close() }

// interrupt ends a send or receive that is waiting.
func (l *link) interrupt() { _ = l.conn.SetDeadline(time.Unix(1, 0)) }

// send sends a message with descriptors, which stay the caller's.
func (l *link) send(m message, fds ...int) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if len(b) > maxMessage {
		return fmt.Errorf("a message of %d bytes", len(b))
	}
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	_, _, err = l.conn.WriteMsgUnix(b, oob, nil)
	return err
}

// receive waits for a message; its descriptors are the caller's then. io.EOF: the other
// side is gone.
func (l *link) receive() (m message, fds []int, err error) {
	n, oobn, flags, _, err := l.conn.ReadMsgUnix(l.buf, l.oob)
	if err != nil {
		return m, nil, err
	}
	if fds, err = descriptorsIn(l.oob[:oobn]); err != nil {
		return m, nil, err
	}
	if n == 0 {
		return m, nil, io.EOF
	}
	if n > maxMessage || flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0 {
		err = errors.New("a message that is too large")
	} else {
		m, err = parseMessage(l.buf[:n])
	}
	if err != nil {
		closeAll(fds)
		return m, nil, err
	}
	return m, fds, nil
}

func descriptorsIn(oob []byte) (fds []int, err error) {
	if len(oob) == 0 {
		return nil, nil
	}
	all, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		more, err := unix.ParseUnixRights(&c)
		if err != nil {
			closeAll(fds)
			return nil, err
		}
		fds = append(fds, more...)
	}
	return fds, nil
}

func closeAll(fds []int) {
	for _, fd := range fds {
		unix.Close(fd)
	}
}
