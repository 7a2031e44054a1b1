package eval

import "strings"

// maxSpelledBytes bounds the words that spelling rules look at; longer ones are no
// English words.
const maxSpelledBytes = 40

// american returns the American spelling of a lower-case word. Rules may touch
// words that have one spelling everywhere ("elise"): harmless, since references and
// transcripts go through the same rules and no two words become one.
func american(word string) string {
	if len(word) > maxSpelledBytes {
		return word
	}
	for {
		next := americanOnce(word)
		if next == word {
			return word
		}
		word = next // every rule shortens the word, or moves it to letters no rule looks for
	}
}

func americanOnce(word string) string {
	if spelling, ok := spellings[word]; ok {
		return spelling
	}
	word = spellingParts.Replace(word)
	for _, rule := range []func(string) string{ise, yse, singleL} {
		word = rule(word)
	}
	return word
}

// ise is the rule -ise → -ize for verbs and what is made of them.
func ise(word string) string {
	for _, ending := range []string{"ise", "ised", "iser", "isers", "ises", "ising", "isingly", "isation", "isations",
		"isational", "isable", "isably", "isement"} {
		stem, ok := strings.CutSuffix(word, ending)
		if !ok || len(stem) < 3 || strings.IndexByte("aeouw", stem[len(stem)-1]) >= 0 {
			continue
		}
		if keepsISE(stem) {
			return word
		}
		return stem + "iz" + ending[2:]
	}
	return word
}

func keepsISE(stem string) bool {
	for _, prefix := range []string{"", "un", "im", "re", "mis", "dis", "non", "over", "under"} {
		if rest, ok := strings.CutPrefix(stem, prefix); ok && iseStems[rest] {
			return true
		}
	}
	return false
}

// yse is the rule -yse → -yze. The noun "analyses" has its s everywhere.
func yse(word string) string {
	for _, ending := range []string{"yse", "ysed", "yser", "ysers", "ysing"} {
		if stem, ok := strings.CutSuffix(word, ending); ok && len(stem) > 2 {
			return stem + "yz" + ending[2:]
		}
	}
	return word
}

// singleL is the rule that an unstressed -l is not doubled: travelled → traveled.
func singleL(word string) string {
	for _, ending := range []string{"led", "ling", "lings", "lingly", "ler", "lers", "lest", "lor", "lors", "lous", "lously",
		"list", "lists"} {
		stem, ok := strings.CutSuffix(word, ending)
		if !ok {
			continue
		}
		for _, prefix := range []string{"", "un", "re", "out", "mis", "dis", "be", "back"} {
			if rest, ok := strings.CutPrefix(stem, prefix); ok && singleLStems[rest] {
				return stem + ending[1:]
			}
		}
	}
	return word
}

// iseStems are stems that keep -ise in American English.
var iseStems = set(`adv advert appr cer chast circumc compr comprom conc dem desp dev disfranch enfranch enterpr
	exc exerc expert franch improv inc merchand parad pr prec prem prom repr rev superv surm surpr telev
	treat val`)

// singleLStems are verbs in an unstressed -l, which British spelling doubles before
// an ending.
var singleLStems = set(`apparel barrel bevel bushel cancel carol cavil channel chisel counsel cruel
	cudgel devil dial disembowel dishevel drivel duel empanel enamel equal flannel fuel funnel gambol
	gravel grovel gruel hovel impanel imperil initial jewel kennel kernel label laurel level libel marshal marvel
	medal metal model panel parallel parcel pedal pencil peril pommel pummel quarrel ravel revel rival
	shovel shrivel signal snivel snorkel spiral squirrel stencil swivel symbol tassel tinsel total towel trammel travel trial
	trowel tunnel victual weasel yodel`)

// spellingParts are spellings replaced wherever they stand in a word, so that one
// line covers colours, discoloured and watercolour.
var spellingParts = strings.NewReplacer(
	// -our
	"arbour", "arbor", "ardour", "ardor", "armour", "armor", "behaviour", "behavior", "candour", "candor",
	"clamour", "clamor", "clangour", "clangor", "colour", "color", "demeanour", "demeanor", "dolour", "dolor",
	"enamour", "enamor", "endeavour", "endeavor", "favour", "favor", "fervour", "fervor", "flavour", "flavor",
	"glamour", "glamor", "harbour", "harbor", "honour", "honor", "humour", "humor", "labour", "labor",
	"misdemeanour", "misdemeanor", "neighbour", "neighbor", "odour", "odor", "parlour", "parlor",
	"rancour", "rancor", "rigour", "rigor", "rumour", "rumor", "saviour", "savior", "savour", "savor",
	"splendour", "splendor", "succour", "succor", "tumour", "tumor", "valour", "valor", "vapour", "vapor",
	"vigour", "vigor",
	// -re
	"centre", "center", "centring", "centering", "theatre", "theater", "fibre", "fiber", "lustre", "luster",
	"calibre", "caliber", "sombre", "somber", "spectre", "specter", "sceptre", "scepter", "meagre", "meager",
	"sabre", "saber", "sepulchre", "sepulcher", "mitre", "miter", "goitre", "goiter", "ochre", "ocher",
	"saltpetre", "saltpeter", "metre", "meter", "litre", "liter",
	"manoeuvred", "maneuvered", "manoeuvre", "maneuver", "manoeuvr", "maneuver",
	"reconnoitred", "reconnoitered", "reconnoitre", "reconnoiter", "reconnoitr", "reconnoiter",
	// ae, oe
	"aesthet", "esthet", "anaesthe", "anesthe", "haem", "hem", "naem", "nem", "kaem", "kem", "xaem", "xem",
	"paed", "ped", "palaeo", "paleo", "archaeo", "archeo", "mediaeval", "medieval", "primaeval", "primeval",
	"faec", "fec", "foet", "fet", "oestr", "estr", "oedem", "edem", "rrhoea", "rrhea", "gynaeco", "gyneco",
	"oesophag", "esophag", "homoeo", "homeo", "caesarean", "cesarean", "aeroplane", "airplane",
	// other endings
	"catalogued", "cataloged", "catalogue", "catalog", "cataloguing", "cataloging", "dialogue", "dialog",
	"analogue", "analog", "nexion", "nection", "flexion", "flection", "tranquillis", "tranquiliz",
	"tranquilliz", "tranquiliz", "tranquillity", "tranquility", "defence", "defense", "offence", "offense",
	"pretence", "pretense",
	// single words with their derivations
	"plough", "plow", "mould", "mold", "moult", "molt", "moustach", "mustach", "sulph", "sulf", "gaol", "jail",
	"sceptic", "skeptic", "jewellery", "jewelry", "woollen", "woolen", "waggon", "wagon", "pyjama", "pajama",
	"aluminium", "aluminum", "judgement", "judgment", "acknowledgement", "acknowledgment",
	"abridgement", "abridgment", "councillor", "councilor", "grey", "gray", "instalment", "installment",
	"draught", "draft", "whisky", "whiskey", "enquir", "inquir", "syphon", "siphon", "yoghurt", "yogurt",
)

// spellings are whole words. Parts of them would hit other words.
var spellings = map[string]string{
	"centred": "centered", "tyre": "tire", "tyres": "tires", "kerb": "curb", "kerbs": "curbs",
	"programme": "program", "programmes": "programs", "gramme": "gram", "grammes": "grams",
	"kilogramme": "kilogram", "kilogrammes": "kilograms", "licence": "license", "licences": "licenses",
	"licenced": "licensed", "practise": "practice", "practised": "practiced", "practises": "practices",
	"practising": "practicing", "ageing": "aging", "storey": "story", "storeys": "stories", "axe": "ax",
	"skilful": "skillful", "skilfully": "skillfully", "wilful": "willful", "wilfully": "willfully",
	"fulfil": "fulfill", "fulfils": "fulfills", "fulfilment": "fulfillment", "enrol": "enroll", "enrols": "enrolls",
	"enrolment": "enrollment", "distil": "distill", "distils": "distills", "instil": "instill", "instils": "instills",
	"instal": "install", "instals": "installs", "enthral": "enthrall", "enthrals": "enthralls",
	"appal": "appall", "appals": "appalls", "artefact": "artifact", "artefacts": "artifacts",
	"doughnut": "donut", "doughnuts": "donuts", "furore": "furor", "cheque": "check", "cheques": "checks",
	"chequebook": "checkbook", "chequered": "checkered", "cosy": "cozy", "cosier": "cozier", "cosiest": "coziest",
	"cosily": "cozily", "cosiness": "coziness", "chilli": "chili", "chillies": "chilies", "disc": "disk",
	"discs": "disks", "omelette": "omelet", "omelettes": "omelets", "sheikh": "sheik", "sheikhs": "sheiks",
	"gipsy": "gypsy", "gipsies": "gypsies", "almanack": "almanac", "almanacks": "almanacs", "cypher": "cipher",
	"cyphers": "ciphers", "phoney": "phony", "tonne": "ton", "tonnes": "tons", "woolly": "wooly",
	"despatch": "dispatch", "despatched": "dispatched", "despatches": "dispatches",
}
