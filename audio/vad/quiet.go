package vad

import "earshot/audio"

// quietFrame is the length over which loudness is compared: 100 ms holds several
// periods of any voice, and a gap between words is longer.
const quietFrame = audio.SampleRate / 10

// quietest is the middle of the 100 ms with the least energy between from and the
// end of x; of equals the last, so that digital silence gives the longest piece. Where
// there are no 100 ms it is the middle.
func quietest(x []float32, from int) int {
	const hop = quietFrame / 4
	best, cut := -1.0, (from+len(x)+1)/2
	for at := from; at+quietFrame <= len(x); at += hop {
		var energy float64
		for _, v := range x[at : at+quietFrame] {
			energy += float64(v) * float64(v)
		}
		if best < 0 || energy <= best {
			best, cut = energy, at+quietFrame/2
		}
	}
	return cut
}
