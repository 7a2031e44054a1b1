package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"math"
	"os"
)

// A reader of SQLite files that does without their trees: it looks at every page for
// itself and takes the rows of those that are leaves of tables. So one damaged page, be
// it the root of all, costs no more than the rows on it. The format is that of
// sqlite.org/fileformat2.html; section numbers below are of it.
//
// (SQLite's own recovery extension is not part of the build that we use.)

// pageFile is a database file and its log.
type pageFile struct {
	db, log  io.ReaderAt // log may be nil
	dbBytes  int64
	logBytes int64
	headed   bool // the database file begins as one
	pageSize int
	inLog    map[uint32]int64 // where in the log the newest committed form of a page is
	beyond   []int64          // pages in the log behind a damaged place
	lost     int              // transactions behind it that others followed, so that they were committed
}

// openPages opens a database file, and the log beside it if there is one.
func openPages(path string) (*pageFile, func(), error) {
	db, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	log, err := os.Open(path + "-wal")
	if err != nil {
		return newPageFile(db, size(path), nil, 0), func() { db.Close() }, nil
	}
	return newPageFile(db, size(path), log, size(path+"-wal")), func() { db.Close(); log.Close() }, nil
}

func newPageFile(db io.ReaderAt, dbBytes int64, log io.ReaderAt, logBytes int64) *pageFile {
	f := &pageFile{db: db, log: log, dbBytes: dbBytes, logBytes: logBytes, pageSize: defaultPageSize, inLog: map[uint32]int64{}}
	var head [18]byte
	if _, err := db.ReadAt(head[:], 0); err == nil && bytes.HasPrefix(head[:], []byte("SQLite format 3\x00")) {
		f.headed = true
		if n := pageSizeOf(uint32(binary.BigEndian.Uint16(head[16:]))); n > 0 {
			f.pageSize = n
		}
	}
	if log != nil {
		f.readLog()
	}
	return f
}

// defaultPageSize is what our databases have.
const defaultPageSize = 4096

// pageSizeOf checks a page size; in the header 1 means 65536 (1.3.2).
func pageSizeOf(n uint32) int {
	if n == 1 {
		n = 65536
	}
	if n < 512 || n > 65536 || n&(n-1) != 0 {
		return 0
	}
	return int(n)
}

// readLog finds the committed pages of the log (4.1, 4.2), and behind a place where its
// checksums end those that were written since it was last started over.
func (f *pageFile) readLog() {
	const headBytes, frameHead = 32, 24
	var head [headBytes]byte
	if _, err := f.log.ReadAt(head[:], 0); err != nil {
		return
	}
	magic := binary.BigEndian.Uint32(head[:])
	if magic&^1 != 0x377f0682 {
		return
	}
	if n := pageSizeOf(binary.BigEndian.Uint32(head[8:])); n > 0 {
		f.pageSize = n
	}
	var order binary.ByteOrder = binary.LittleEndian
	if magic&1 == 1 {
		order = binary.BigEndian
	}
	salts := string(head[16:24])
	sum := checksum(order, [2]uint32{}, head[:24])
	good := sum == [2]uint32{binary.BigEndian.Uint32(head[24:]), binary.BigEndian.Uint32(head[28:])}
	frame := make([]byte, frameHead+f.pageSize)
	open := map[uint32]int64{}
	ended := false // a transaction, behind damage
	for at := int64(headBytes); at+int64(len(frame)) <= f.logBytes; at += int64(len(frame)) {
		if _, err := f.log.ReadAt(frame, at); err != nil {
			return
		}
		if string(frame[8:16]) != salts {
			good = false
			continue
		}
		sum = checksum(order, sum, frame[:8])
		sum = checksum(order, sum, frame[frameHead:])
		if good = good && sum == [2]uint32{binary.BigEndian.Uint32(frame[16:]), binary.BigEndian.Uint32(frame[20:])}; !good {
			f.beyond = append(f.beyond, at+frameHead)
			if ended {
				f.lost++
			}
			ended = binary.BigEndian.Uint32(frame[4:]) != 0
			continue
		}
		open[binary.BigEndian.Uint32(frame)] = at + frameHead
		if binary.BigEndian.Uint32(frame[4:]) != 0 { // the last page of a transaction
			for page, at := range open {
				f.inLog[page] = at
			}
			clear(open)
		}
	}
}

// checksum adds to the checksum of the log (4.2).
func checksum(order binary.ByteOrder, s [2]uint32, data []byte) [2]uint32 {
	for ; len(data) >= 8; data = data[8:] {
		s[0] += order.Uint32(data) + s[1]
		s[1] += order.Uint32(data[4:]) + s[0]
	}
	return s
}

// pages yields all pages, with their numbers; those from behind damage have number 0.
func (f *pageFile) pages() iter.Seq2[uint32, []byte] {
	return func(yield func(uint32, []byte) bool) {
		page := make([]byte, f.pageSize)
		last := uint32(min(f.dbBytes/int64(f.pageSize), math.MaxUint32-1))
		for n := range f.inLog {
			last = max(last, n)
		}
		// The number of a page in the log may be nonsense, with a checksum that fits.
		last = min(last, uint32(f.dbBytes/int64(f.pageSize))+uint32(len(f.inLog)))
		for n := uint32(1); n <= last; n++ {
			if f.read(n, page) == nil && !yield(n, page) {
				return
			}
		}
		for _, at := range f.beyond {
			if _, err := f.log.ReadAt(page, at); err == nil && !yield(0, page) {
				return
			}
		}
	}
}

// read reads page n in its newest committed form.
func (f *pageFile) read(n uint32, page []byte) error {
	if n == 0 {
		return errors.New("page 0")
	}
	if at, ok := f.inLog[n]; ok {
		_, err := f.log.ReadAt(page, at)
		return err
	}
	_, err := f.db.ReadAt(page, int64(n-1)*int64(f.pageSize))
	return err
}

// row is one row of a table: nil, int64, float64, string or []byte in each column. An
// INTEGER PRIMARY KEY is nil there, and the id.
type row struct {
	id      int64
	columns []any
}

// rows yields what looks like a row on any page that looks like a leaf of a table.
func (f *pageFile) rows() iter.Seq[row] {
	return func(yield func(row) bool) {
		for n, page := range f.pages() {
			for r := range f.leafRows(n, page) {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// leafRows yields the rows of a table b-tree leaf page (1.6).
func (f *pageFile) leafRows(n uint32, page []byte) iter.Seq[row] {
	return func(yield func(row) bool) {
		const tableLeaf, headBytes = 0x0D, 8
		head := page
		if n == 1 {
			head = page[100:] // behind the header of the file
		}
		if head[0] != tableLeaf {
			return
		}
		pointers := head[headBytes:]
		for i := range int(binary.BigEndian.Uint16(head[3:])) {
			if 2*i+2 > len(pointers) {
				return
			}
			if r, ok := f.cell(page, int(binary.BigEndian.Uint16(pointers[2*i:]))); ok && !yield(r) {
				return
			}
		}
	}
}

// cell reads the cell at a place of a page: length, id, and the payload, which may go on
// in other pages (1.6).
func (f *pageFile) cell(page []byte, at int) (row, bool) {
	if at < 8 || at >= len(page) {
		return row{}, false
	}
	length, n := varint(page[at:])
	id, m := varint(page[min(at+n, len(page)):])
	if n == 0 || m == 0 || length > uint64(f.dbBytes+f.logBytes) {
		return row{}, false
	}
	body := page[at+n+m:]
	local := f.local(int(length))
	if local == int(length) {
		if local > len(body) {
			return row{}, false
		}
		return record(int64(id), body[:local])
	}
	if local+4 > len(body) {
		return row{}, false
	}
	payload := bytes.Clone(body[:local])
	next := binary.BigEndian.Uint32(body[local:])
	overflow := make([]byte, f.pageSize)
	for len(payload) < int(length) {
		if f.read(next, overflow) != nil {
			return row{}, false
		}
		next = binary.BigEndian.Uint32(overflow)
		payload = append(payload, overflow[4:min(f.pageSize, 4+int(length)-len(payload))]...)
	}
	return record(int64(id), payload)
}

// local is how many bytes of a payload are in its own page (1.6).
func (f *pageFile) local(length int) int {
	usable := f.pageSize
	if length <= usable-35 {
		return length
	}
	least := (usable-12)*32/255 - 23
	if k := least + (length-least)%(usable-4); k <= usable-35 {
		return k
	}
	return least
}

// record reads the values of a row (2.1).
func record(id int64, payload []byte) (row, bool) {
	headLen, n := varint(payload)
	if n == 0 || headLen < uint64(n) || headLen > uint64(len(payload)) {
		return row{}, false
	}
	head, body := payload[n:headLen], payload[headLen:]
	r := row{id: id}
	for len(head) > 0 {
		kind, n := varint(head)
		if n == 0 || len(r.columns) >= 100 {
			return row{}, false
		}
		v, size, ok := value(kind, body)
		if !ok {
			return row{}, false
		}
		r.columns = append(r.columns, v)
		head, body = head[n:], body[size:]
	}
	return r, len(body) == 0
}

// value reads a value of a serial type from the beginning of body.
func value(kind uint64, body []byte) (v any, size int, ok bool) {
	sizes := [...]int{0, 1, 2, 3, 4, 6, 8, 8, 0, 0}
	switch {
	case kind >= 12:
		if (kind-12)/2 > uint64(len(body)) {
			return nil, 0, false
		}
		size = int(kind-12) / 2
		if kind%2 == 0 {
			return bytes.Clone(body[:size]), size, true
		}
		return string(body[:size]), size, true
	case kind >= 10 || sizes[kind] > len(body):
		return nil, 0, false
	case kind == 0:
		return nil, 0, true
	case kind >= 8:
		return int64(kind - 8), 0, true
	}
	size = sizes[kind]
	n := int64(int8(body[0]))
	for _, b := range body[1:size] {
		n = n<<8 | int64(b)
	}
	if kind == 7 {
		return math.Float64frombits(uint64(n)), size, true
	}
	return n, size, true
}

// varint reads a number of 1 to 9 bytes; n is 0 where there is none.
func varint(b []byte) (v uint64, n int) {
	for i := range min(len(b), 9) {
		if i == 8 {
			return v<<8 | uint64(b[i]), 9
		}
		v = v<<7 | uint64(b[i]&0x7f)
		if b[i] < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}
