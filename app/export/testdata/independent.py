"""Reads sample.srt and sample.vtt with parsers that are not ours.

Run in this folder after the samples have changed, and look at the difference:

    pip install pysrt==1.1.2 srt==3.5.3 webvtt-py==0.6.0
    python independent.py > independent.json

Each parser gives its cues as [start in ms, end in ms, speaker, text]. Only webvtt-py
knows speakers; it leaves character references as they are, so that they are resolved
here.
"""

import html
import json

import pysrt
import srt
import webvtt


def milliseconds(text):
    hours, minutes, seconds = text.split(":")
    return (int(hours) * 60 + int(minutes)) * 60_000 + int(seconds.replace(".", ""))


def read_pysrt(name):
    return [[c.start.ordinal, c.end.ordinal, "", c.text] for c in pysrt.open(name, encoding="utf-8")]


def read_srt(name):
    with open(name, encoding="utf-8") as file:
        cues = list(srt.parse(file.read(), ignore_errors=False))
    return [
        [round(c.start.total_seconds() * 1000), round(c.end.total_seconds() * 1000), "", c.content]
        for c in cues
    ]


def read_webvtt(name):
    return [
        [milliseconds(c.start), milliseconds(c.end), html.unescape(c.voice or ""), html.unescape(c.text)]
        for c in webvtt.read(name)
    ]


cues = {
    "pysrt": read_pysrt("sample.srt"),
    "srt": read_srt("sample.srt"),
    "webvtt-py": read_webvtt("sample.vtt"),
}
print(json.dumps(cues, ensure_ascii=False, indent=1))
