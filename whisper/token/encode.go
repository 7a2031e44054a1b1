package token

import "container/heap"

// Encode returns the tokens of text, all of them words: what looks like a special
// token is spelt out as the characters it is made of. Any bytes can be encoded,
// and the words' Bytes joined are text again, also where it is not valid UTF-8.
//
// The text is first cut into pieces (see nextPiece), then pairs of neighbouring
// words in a piece are merged, the pair with the lowest resulting id first and
// among equals the leftmost, until no pair makes a word. The work is
// O(n log n) in the length of the longest piece.
func (t *Tokenizer) Encode(text string) []int {
	var ids []int
	for len(text) > 0 {
		n := nextPiece(text)
		ids = t.appendPiece(ids, text[:n])
		text = text[n:]
	}
	return ids
}

// appendPiece appends the tokens of one piece.
func (t *Tokenizer) appendPiece(ids []int, piece string) []int {
	// Most pieces are whole words of the vocabulary, and a word encodes as itself:
	// its own merge is the last of those that made it.
	if id, ok := t.words.find(piece); ok {
		return append(ids, id)
	}
	m := newMerger(t, piece)
	for m.pairs.Len() > 0 {
		m.merge(heap.Pop(&m.pairs).(pair))
	}
	for at := 0; at < len(piece); at = m.end[at] {
		id, _ := t.words.find(piece[at:m.end[at]])
		ids = append(ids, id)
	}
	return ids
}

// merger holds a piece as a list of words: the word that starts at byte i is
// piece[i:end[i]], and the word before it starts at prev[i]. Entries that are not
// the start of a word are left over from earlier merges; end is 0 there.
type merger struct {
	t     *Tokenizer
	piece string
	end   []int
	prev  []int
	pairs pairs
}

// newMerger starts with every byte as a word of its own.
func newMerger(t *Tokenizer, piece string) *merger {
	m := &merger{t: t, piece: piece, end: make([]int, len(piece)), prev: make([]int, len(piece))}
	for i := range m.end {
		m.end[i] = i + 1
		m.prev[i] = i - 1
	}
	for i := range m.end {
		m.offer(i)
	}
	return m
}

// offer queues the pair whose left word starts at byte left, if joining it makes a
// word.
func (m *merger) offer(left int) {
	if left < 0 || m.end[left] == len(m.piece) {
		return
	}
	end := m.end[m.end[left]]
	if id, ok := m.t.words.find(m.piece[left:end]); ok {
		heap.Push(&m.pairs, pair{id: id, left: left, end: end})
	}
}

// merge joins a pair, unless one of its words has been merged since it was queued.
func (m *merger) merge(p pair) {
	right := m.end[p.left]
	if right == 0 || right >= p.end || m.end[right] != p.end {
		return
	}
	m.end[p.left] = p.end
	m.end[right] = 0
	if p.end < len(m.piece) {
		m.prev[p.end] = p.left
	}
	m.offer(p.left)
	m.offer(m.prev[p.left])
}

// pair is two neighbouring words that together are the word id, bytes left to end.
type pair struct{ id, left, end int }

// pairs is a heap with the next pair to merge on top.
type pairs []pair

func (p pairs) Len() int { return len(p) }
func (p pairs) Less(i, j int) bool {
	return p[i].id < p[j].id || p[i].id == p[j].id && p[i].left < p[j].left
}
func (p pairs) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p *pairs) Push(x any)   { *p = append(*p, x.(pair)) }
func (p *pairs) Pop() any {
	last := len(*p) - 1
	top := (*p)[last]
	*p = (*p)[:last]
	return top
}
