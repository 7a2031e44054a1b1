#!/usr/bin/env python3
"""Makes encode.json: texts with their pieces and tokens by another implementation.

usage: make.py TINY_EN_DIR BASE_DIR COUNT > encode.json

The folders hold tokenizer.json of tiny.en and base. The file in this folder was made
with COUNT = 150 and tokenizers 0.23.3 on Python 3.11 (Unicode 14). Special tokens are
taken out of the tokenizers first, since our encoder never interprets them in text.
Pieces do not depend on the vocabulary; they are byte lengths, like all that is here.
"""
import json, os, random, sys, unicodedata
import tokenizers

FIXED = [
    "", " ", "  ", "\n", "a", " a", "  a", "a ", "a  ", "\t\ta", "\n\n a", " \n a\r\n", "\u00a0a", " \u00a0a", "\u3000\u3000漢",
    "I'm sure they'll say we've won; it's what you'd do, isn't it? They're 'reading'.",
    "I'M SURE IT'S O'CLOCK'S 'twas ''s 'S 'Ll l'll", "don\u2019t", "x'sy'd't", "'", "''", " '", " 's", "'s's",
    "<|endoftext|> and <|en|><|0.00|> are plain text", "3.14 1,000 x2 4th ½ Ⅷ ² ٣٤٥ १२३ 一二三",
    "naïve café déjà-vu coöperate", "e\u0301a\u0308 combining", "Größe, Straße, ẞ", "Привет, как дела?", "γειά σου Κόσμε",
    "שלום עולם", "مرحبا بالعالم", "नमस्ते दुनिया", "สวัสดีชาวโลก", "こんにちは、世界。", "안녕하세요 세계", "地震😀안녕",
    "👩‍👩‍👧‍👦 👍🏽 🇫🇷🇩🇪 ❤️ ♪♪♪ 「引用」", "zero\u200bwidth\ufeffmarks\u2060here", "line\u2028sep\u2029par\u0085nel", "nul\x00bell\x07esc\x1b[0m",
    "https://example.org/a_b?c=d&e=%20#f", "if (x[i] != y) { return -1; } // …", "-- --- -( ((( ))) \\ ` ~ ^", "a" * 70, "ab" * 40, " " * 90 + "x", "1" * 33,
    "\ufffd is a character", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𐍈 𓀀", "ǅ ʰ ª º ⅓ ⓐ ㊀",
]

POOLS = [
    "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "etaoin shrdlu", "àéîõüçñßøåæœ", "абвгдежзийклмнопрстуфхцчшщъыьэюя",
    "αβγδεζηθικλμνξοπρστυφχψω", "אבגדהוזחטיכלמנסעפצקרשת", "ابتثجحخدذرزسشصضطظعغفقكلمنهوي", "कखगघचछजझटठडढतथदधनपािीुू्", "กขคงจฉชซดตถทนบปผพฟมยรลวสหอะาิีุูเแโ",
    "日本語漢字中文学生時間国会", "ひらがなカタカナー", "가나다라마바사안녕세계", "😀😂🥲🚀🏳️‍🌈👨‍💻🇯🇵✨♪♫", "0123456789", "٠١٢٣०१२३½¼Ⅷ²³",
    " \t\n\r\u00a0\u2003\u3000\u2028\u0085\x0b\x0c\x1c", "    ", ".,;:!?'\"()[]{}<>|/\\@#$%^&*-_=+~`", "「」『』…—–«»“”‘’¡¿", "\u0301\u0308\u200d\ufe0f\u200b", "\x00\x01\x7f\xad",
]
CONTRACTIONS = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "'x"]


def assigned(rng):
    while True:
        c = chr(rng.choice([rng.randrange(0x80), rng.randrange(0x800), rng.randrange(0x10000), rng.randrange(0x20000)]))
        if unicodedata.category(c) not in ("Cn", "Cs", "Co"):
            return c


def text(rng):
    out = []
    for _ in range(rng.randrange(1, 14)):
        k = rng.random()
        if k < 0.1:
            out.append(rng.choice(CONTRACTIONS))
        elif k < 0.25:
            out.append("".join(assigned(rng) for _ in range(rng.randrange(1, 4))))
        elif k < 0.5:
            out.append(" " * rng.choice([1, 1, 1, 2, 3]))
        else:
            pool = rng.choice(POOLS)
            out.append("".join(rng.choice(pool) for _ in range(rng.randrange(1, 9))))
    return "".join(out)


def load(folder):
    with open(os.path.join(folder, "tokenizer.json"), encoding="utf-8") as f:
        t = json.load(f)
    t["added_tokens"], t["post_processor"] = [], None
    return tokenizers.Tokenizer.from_str(json.dumps(t))


tiny, base, count = load(sys.argv[1]), load(sys.argv[2]), int(sys.argv[3])
rng = random.Random(20260101)
split = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
rows = []
for s in FIXED + [text(rng) for _ in range(count)]:
    # In GPT-2's alphabet a character is a byte.
    pieces = [len(p) for p, _ in split.pre_tokenize_str(s)]
    rows.append({"text": s, "pieces": pieces, "tiny.en": tiny.encode(s).ids, "base": base.encode(s).ids})
print("[")
print(",\n".join(json.dumps(r, separators=(",", ":")) for r in rows))
print("]")
