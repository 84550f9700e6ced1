"""Trains packages/minilm/model/table.bin: a vector for each piece of the vocabulary, so that a text's sum of them points where the model of
the package points.

    pip install numpy==2.4.6 scipy onnxruntime==1.32.0 tokenizers
    apt-get download wordnet-base && dpkg-deb -x wordnet-base_*.deb CORPUS
    git clone --depth 1 the following into CORPUS:
        https://github.com/google-research-datasets/Synthetic-Persona-Chat https://github.com/google-research-datasets/Taskmaster
        https://github.com/clinc/oos-eval https://github.com/xliuhw/NLU-Evaluation-Data
    python packages/minilm/training/train-table.py CORPUS packages/minilm/model/table.bin [texts=260000]

The texts: WordNet's words, definitions and examples; people who tell of themselves and order coffee; requests to assistants; the lines of
bench/reader; and WordNet's common nouns in forms of memories and questions (bench/table-forms.txt). Nothing of bench/semantic or
bench/guests. The model's vectors are kept in CORPUS/*.npy, as they take longest. A run gives a table like the one that is here, not its
bytes: there the model was given many texts at once, which its int8 numbers feel, and the texts were drawn otherwise. With 6000
texts the table finds any of what 0.65 of the English questions of `npm run eval:semantic` need; the one here, 0.74.
"""

import csv
import io
import json
import random
import re
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
import onnxruntime
from scipy.sparse import csr_matrix
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

HERE = Path(__file__).parent
MODEL = HERE.parent / "model"
READER = HERE.parents[2] / "bench" / "reader"
DIMENSION, MAX_PIECES = 256, 46
EPOCHS, BATCH, RATE = 4, 2048, 0.004
# Beside each text's own vector: who is near whom among 512 texts, and how sharply that is seen.
NEIGHBOURS, NEAR, SHARPNESS = 1.0, 512, 0.05
MAGIC = 0x4C425456
TAXA = re.compile(r"(genus|family|order|class|phylum|subfamily|suborder) ")


def wordnet(folder):
    """Texts, and the common ones among the nouns."""
    texts, nouns, counts = [], [], {}
    for line in (folder / "cntlist.rev").read_text("utf8").splitlines():
        key, _, count = line.split()
        word, sense = key.split("%")
        if sense[0] == "1":
            counts[word] = counts.get(word, 0) + int(count)
    for part in ("noun", "verb", "adj", "adv"):
        for line in (folder / f"data.{part}").read_text("latin1").splitlines():
            if line.startswith("  "):
                continue
            entry, gloss = line.split(" | ", 1)
            fields = entry.split(" ")
            words = [re.sub(r"\(.*\)|_", lambda m: " " * (m[0] == "_"), word) for word in fields[4 : 4 + 2 * int(fields[3], 16) : 2]]
            meaning = re.sub(r'\s*;?\s*"[^"]*"[^;]*', "", gloss.strip()).strip(" ;")
            texts += [meaning, ", ".join(words[:4]) + ": " + meaning, *re.findall(r'"([^"]{3,})"', gloss)]
            texts += [word for word in words if not TAXA.match(word)]
            if part == "noun":
                nouns += [word for word in words[:2] if counts.get(word.lower().replace(" ", "_"), 0) > 0]
    return texts, list(dict.fromkeys(nouns))


def dialogs(corpus):
    for part in ("valid", "test"):
        told = (corpus / "Synthetic-Persona-Chat" / "data" / f"Synthetic-Persona-Chat_{part}.csv").read_text("utf8")
        for row in csv.reader(io.StringIO(told)):
            yield from (re.sub(r"^User \d: ", "", line) for cell in row for line in cell.split("\n"))
    for path in sorted((corpus / "Taskmaster" / "TM-4-2024" / "data").glob("*.json")):
        yield from (said["text"] for dialog in json.loads(path.read_text("utf8")) for said in dialog["utterances"])
    for queries in json.loads((corpus / "oos-eval" / "data" / "data_full.json").read_text("utf8")).values():
        yield from (text for text, _ in queries)
    for path in sorted((corpus / "NLU-Evaluation-Data").rglob("RasaNlu_Merged_KFold_[14]_*.json")):
        yield from (each["text"] for each in json.loads(path.read_text("utf8"))["rasa_nlu_data"]["common_examples"])
    for path in sorted(READER.glob("*.txt")):
        for line in path.read_text("utf8").splitlines():
            yield from re.split(r"\s*\|\s*[+!-]\s*", re.sub(r"^[+!-]\s*", "", line))


def all_texts(corpus):
    chosen = random.Random(7)
    texts, nouns = wordnet(corpus / "usr" / "share" / "wordnet")
    forms = (HERE / "table-forms.txt").read_text("utf8").splitlines()
    begun = (form.replace("{}", noun, 1) for noun in nouns for form in chosen.sample(forms, 6))
    said = (re.sub(r"\{\}", lambda _: chosen.choice(nouns), form) for form in begun)
    together = (" ".join(chosen.sample(nouns, chosen.choice([2, 2, 3, 4]))) for _ in range(30_000))
    found = (re.sub(r"\s+", " ", text).strip() for text in [*texts, *dialogs(corpus), *said, *together])
    kept = list(dict.fromkeys(text for text in found if 1 < len(text) < 400))
    chosen.shuffle(kept)
    return kept


def tokenizer():
    vocabulary = {piece: at for at, piece in enumerate((MODEL / "vocabulary.txt").read_text("utf8").splitlines())}
    made = Tokenizer(models.WordPiece(vocab=vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    made.normalizer, made.pre_tokenizer = normalizers.BertNormalizer(lowercase=True), pre_tokenizers.BertPreTokenizer()
    return made, vocabulary


def model_vectors(lists, kept):
    """Of the lists of pieces, in steps of 10,000 that are kept on the way."""
    model = onnxruntime.InferenceSession(str(MODEL / "model.onnx"))
    vectors = np.load(kept) if kept.exists() else np.zeros((0, 384), np.float16)
    while len(vectors) < len(lists):
        step = lists[len(vectors) : len(vectors) + 10_000]
        made = [model.run(None, {"ids": np.array([101, *pieces, 102], np.int64)})[0] for pieces in step]
        vectors = np.concatenate([vectors, np.array(made, np.float16)])
        np.save(kept, vectors)
        print(len(vectors), "of", len(lists), flush=True)
    return vectors[: len(lists)].astype(np.float32)


def of_length_one(rows):
    return rows / (np.linalg.norm(rows, axis=1, keepdims=True) + 1e-9)


def closeness(rows):
    likeness = rows @ rows.T / SHARPNESS
    np.fill_diagonal(likeness, -1e4)
    shares = np.exp(likeness - likeness.max(1, keepdims=True))
    return shares / shares.sum(1, keepdims=True)


def trained(texts, goals, table):
    """By Adam: the cosine to the goal, and the divergence between who is near whom here and there."""
    chosen = np.random.default_rng(1)
    mean, square, step, steps = np.zeros_like(table), np.zeros_like(table), 0, EPOCHS * (len(goals) // BATCH)
    for epoch in range(EPOCHS):
        order, cosines = chosen.permutation(len(goals)), 0.0
        for begin in range(0, len(goals) - BATCH + 1, BATCH):
            rows = order[begin : begin + BATCH]
            batch, goal = texts[rows], goals[rows]
            sums = batch @ table
            lengths = np.linalg.norm(sums, axis=1, keepdims=True) + 1e-6
            made = sums / lengths
            cosines += (made * goal).sum() / BATCH
            slope = -goal
            for group in range(0, BATCH, NEAR):
                these = slice(group, group + NEAR)
                apart = closeness(made[these]) - closeness(goal[these])
                slope[these] += NEIGHBOURS * (apart + apart.T) @ made[these]
            slope = (slope - (slope * made).sum(1, keepdims=True) * made) / lengths / BATCH
            of_table = batch.T @ slope
            step += 1
            mean += 0.1 * (of_table - mean)
            square += 0.01 * (of_table**2 - square)
            rate = RATE * min(1, step / 50) * (1 - 0.98 * step / steps)
            table -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-9)
        print("epoch", epoch + 1, "mean cosine", round(cosines / (len(goals) // BATCH), 4), flush=True)
    return table


def without_marks(table, vocabulary):
    """Marks of the model's own add nothing; what begins each text gives one without a word some direction."""
    for piece, row in vocabulary.items():
        if re.fullmatch(r"\[.+\]", piece) and piece != "[UNK]":
            table[row] = 1e-5 if piece == "[CLS]" else 0
    return table


def file_of(table):
    scales = (np.abs(table).max(1) / 127).astype("<f4")
    numbers = np.rint(table / np.maximum(scales, 1e-12)[:, None]).clip(-127, 127).astype(np.int8)
    body = scales.tobytes() + numbers.tobytes()
    return struct.pack("<4I", MAGIC, *table.shape, zlib.crc32(body)) + body


def main(corpus, target, limit):
    cut, vocabulary = tokenizer()
    lists = [each.ids[:MAX_PIECES] for each in cut.encode_batch(all_texts(corpus)[:limit], add_special_tokens=False)]
    lists = [each for each in lists if each]
    vectors = model_vectors(lists, corpus / "vectors.npy")
    alone = [[row] for row in vocabulary.values()]
    of_pieces = model_vectors(alone, corpus / "pieces.npy")
    often = np.bincount(np.concatenate(lists), minlength=len(vocabulary)) / sum(map(len, lists))
    center = vectors.mean(0)
    _, _, axes = np.linalg.svd((vectors - center)[:30_000], full_matrices=False)
    turn = axes[:DIMENSION].T
    # What is frequent counts little to begin with (Arora et al. 2017, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings").
    begin = of_length_one((of_pieces - center) @ turn) * (1e-3 / (1e-3 + often))[:, None]
    lists += alone
    goals = of_length_one((np.concatenate([vectors, of_pieces]) - center) @ turn)
    ends = np.cumsum([0, *map(len, lists)])
    texts = csr_matrix((np.ones(ends[-1], np.float32), np.concatenate(lists), ends), shape=(len(lists), len(vocabulary)))
    table = trained(texts, goals.astype(np.float32), begin.astype(np.float32))
    target.write_bytes(file_of(without_marks(table, vocabulary)))


main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 260_000)
