package token

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"math/bits"
)

// vocabulary is a model's words, by id and by text. Nothing in it is a pointer to a
// word: the garbage collector would look at 50,000 of them every time.
type vocabulary struct {
	text   string   // of all words
	starts []uint32 // of word i, and behind the last one where it ends

	// The ids by text: a hash table, at most half full, in which what finds its place
	// taken goes to the next one. 0 is a free place, else it is an id and one.
	seed  maphash.Seed
	table []uint32
}

func newVocabulary(all [][]byte) (vocabulary, error) {
	w := vocabulary{
		text:   string(bytes.Join(all, nil)),
		starts: make([]uint32, 1, len(all)+1),
		seed:   maphash.MakeSeed(),
		table:  make([]uint32, 1<<bits.Len(uint(2*len(all)))),
	}
	for id, word := range all {
		w.starts = append(w.starts, w.starts[id]+uint32(len(word)))
		if len(word) == 0 {
			continue
		}
		place, first := w.place(w.at(id))
		if first != 0 {
			return w, fmt.Errorf("words %d and %d are both %q", first-1, id, word)
		}
		w.table[place] = uint32(id) + 1
	}
	for b := range 256 {
		if _, ok := w.find(string([]byte{byte(b)})); !ok {
			return w, fmt.Errorf("byte 0x%02x is not among the %d words", b, len(all))
		}
	}
	return w, nil
}

func (w *vocabulary) len() int { return len(w.starts) - 1 }

// at returns a word by its id.
func (w *vocabulary) at(id int) string { return w.text[w.starts[id]:w.starts[id+1]] }

// find returns the id of a word; ok says whether it is one.
func (w *vocabulary) find(word string) (id int, ok bool) {
	_, entry := w.place(word)
	return int(entry) - 1, entry != 0
}

// place returns the place of a word in the table, and what stands there.
func (w *vocabulary) place(word string) (place int, entry uint32) {
	mask := len(w.table) - 1
	place = int(maphash.String(w.seed, word)) & mask
	for w.table[place] != 0 && w.at(int(w.table[place])-1) != word {
		place = (place + 1) & mask
	}
	return place, w.table[place]
}
