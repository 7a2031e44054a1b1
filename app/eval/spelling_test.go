package eval

import (
	"strings"
	"testing"
)

func TestTablesAreClosed(t *testing.T) {
	for _, table := range []map[string]string{spellings, shortForms, wholeContractions} {
		for word, long := range table {
			for _, w := range strings.Fields(long) {
				if got := Normalise(w, "en"); got != w {
					t.Errorf("%q → %q, of which %q → %q", word, long, w, got)
				}
			}
		}
	}
	for stem := range singleLStems {
		if got := american(stem + "led"); got != stem+"ed" {
			t.Errorf("%sled → %q", stem, got)
		}
	}
}

func TestAmerican(t *testing.T) {
	for british, want := range map[string]string{
		"discoloured": "discolored", "watercolours": "watercolors", "neighbourhood": "neighborhood", "manoeuvring": "maneuvering",
		"kilometres": "kilometers", "reconnoitred": "reconnoitered", "organisational": "organizational",
		"apologising": "apologizing", "analysed": "analyzed", "paralysing": "paralyzing", "unequalled": "unequaled",
		"marvellously": "marvelously", "anaesthetic": "anesthetic", "haemorrhage": "hemorrhage", "defences": "defenses",
		"judgements": "judgments", "jewellery": "jewelry", "catalogued": "cataloged", "gaolers": "jailers",
		"programmes": "programs", "programmed": "programmed", "analyses": "analyses", "hour": "hour", "glamorous": "glamorous",
	} {
		if got := american(british); got != want {
			t.Errorf("%q → %q, want %q", british, got, want)
		}
	}
}
