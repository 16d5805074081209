"""One text through MiniLM: as the package multiplies it, and by integers; processor time, and how far the vectors agree.

    python benchmarks/encoder.py ../shared/data

Passages and titles of real decision records. The results are in benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP))

import numpy as np

from recall.encoders import onnx
from recall.encoders.tokenizer import minilm_tokenizer
from recall.passages import split

EACH = 60
LENGTHS = {"a title": (5, 20), "a short record": (70, 110), "a whole passage": (200, 256)}


def texts_of(data: Path) -> dict[str, list[str]]:
    """So many texts of each length in tokens."""
    found: dict[str, list[str]] = {name: [] for name in LENGTHS}
    for path in sorted((data / "adrs").rglob("*.md")):
        text = path.read_text(errors="replace")
        for one in [text.partition("\n")[0], *(passage.text for passage in split(text)[:3])]:
            tokens = len(minilm_tokenizer().encode(one).ids)
            for name, (least, most) in LENGTHS.items():
                if least <= tokens <= most and len(found[name]) < EACH:
                    found[name].append(one)
    return found


def encoder(*, integers: bool) -> onnx.OnnxEncoder:
    made, exact = onnx.OnnxEncoder(threads=1), onnx.multiplies_exactly
    onnx.multiplies_exactly = lambda: integers
    try:
        made.encode(["loaded"])
    finally:
        onnx.multiplies_exactly = exact
    return made


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="the folder with adrs/")
    texts = texts_of(parser.parse_args().data)
    encoders = [encoder(integers=False), encoder(integers=True)]
    print("| | texts | floats, ms | integers, ms | cosine, mean | least |\n| --- |" + " ---: |" * 5)
    for name, some in texts.items():
        vectors, took = [], []
        for one in encoders:
            one.encode(some[:3])
            began = time.process_time()
            vectors.append(one.encode(some))
            took.append((time.process_time() - began) * 1000 / len(some))
        cosines = np.sum(vectors[0] * vectors[1], axis=1)
        print(
            f"| {name} | {len(some)} | {took[0]:.1f} | {took[1]:.1f} | {cosines.mean():.4f} | {cosines.min():.4f} |"
        )


if __name__ == "__main__":
    main()
