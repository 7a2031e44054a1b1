"""One engine in a process of its own, so that its memory can be told apart.

usage: peersworker.py ENGINE MODEL THREADS   (started by peers.py)

Says when the model is loaded, then answers each line, the path of a file of 16 kHz
mono float32 samples, with its text and times. All answers are lines of JSON.
"""

import json
import os
import sys
import time


def faster_whisper(compute_type):
    def load(model, threads):
        from faster_whisper import WhisperModel

        engine = WhisperModel(model, device="cpu", compute_type=compute_type, cpu_threads=threads, num_workers=1)

        def text(samples):
            segments, _ = engine.transcribe(
                samples, language="en", task="transcribe", beam_size=1, best_of=1, temperature=0.0,
                without_timestamps=True, condition_on_previous_text=False, vad_filter=False)
            return "".join(s.text for s in segments)

        return text

    return load


# whisper.cpp encodes 1500 positions of 20 ms; its users shorten that to the clip
# and 256 more, since with less behind it a clip is said again and again.
FULL_WINDOW, SPARE, STEP = 1500, 256, 64


def whisper_cpp(short):
    def load(model, threads):
        from pywhispercpp.model import Model

        engine = Model(model, n_threads=threads, redirect_whispercpp_logs_to=None)

        def window(samples):
            if not short:
                return 0  # as the model has it
            positions = -(-(len(samples) // 320 + SPARE) // STEP) * STEP
            return positions if positions < FULL_WINDOW else 0

        def text(samples):
            # All of them at every call: what was set once stays set.
            segments = engine.transcribe(
                samples, language="en", translate=False, no_timestamps=True, no_context=True, temperature=0.0,
                temperature_inc=0.0, greedy={"best_of": 1}, audio_ctx=window(samples), print_progress=False)
            return " ".join(s.text for s in segments)

        return text

    return load


ENGINES = {
    "faster-whisper-int8": faster_whisper("int8"),
    "faster-whisper-float32": faster_whisper("float32"),
    "whisper.cpp-f16": whisper_cpp(short=False),
    "whisper.cpp-f16-short": whisper_cpp(short=True),
}


def peak_rss():
    """The most memory held, in bytes. (What getrusage counts starts with the peak of
    the process that started this one.)"""
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmHWM:"))


def main():
    engine, model, threads = sys.argv[1:]
    # Libraries may print; then it must not be where the answers go.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    import numpy as np

    def say(**answer):
        print(json.dumps(answer), file=answers)

    start = time.perf_counter()
    text = ENGINES[engine](model, int(threads))
    say(load_ms=1000 * (time.perf_counter() - start), peak_rss_bytes=peak_rss())
    for line in sys.stdin:
        samples = np.fromfile(line.rstrip("\n"), np.float32)
        start, cpu = time.perf_counter(), time.process_time()
        heard = text(samples)
        say(hypothesis=heard.strip(), wall_ms=1000 * (time.perf_counter() - start),
            cpu_ms=1000 * (time.process_time() - cpu), peak_rss_bytes=peak_rss())


if __name__ == "__main__":
    main()
