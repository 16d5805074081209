"""Encoders by name: `onnx` (default), `sentence-transformers`, `sentence-transformers:<model name or path>`."""

from __future__ import annotations

import os
import threading

from recall.encoders.base import MAX_TOKENS, MINILM, MINILM_DIMENSION, Encoder, EncoderUnavailable, Vectors

__all__ = [
    "MAX_TOKENS",
    "MINILM",
    "MINILM_DIMENSION",
    "Encoder",
    "EncoderUnavailable",
    "Vectors",
    "get_encoder",
]

_encoders: dict[str, Encoder] = {}
_of_the_parent: list[dict[str, Encoder]] = []
_lock = threading.Lock()


def get_encoder(name: str = "onnx") -> Encoder:
    """The encoder of that name, one per process. The model itself loads when the first text is encoded.

    Raises ValueError for a name that is no encoder. A missing package or model raises EncoderUnavailable at the
    first encode, never a vector of another kind.
    """
    with _lock:
        if name not in _encoders:
            _encoders[name] = _make(name)
        return _encoders[name]


def _make(name: str) -> Encoder:
    family, _, model = name.partition(":")
    if family == "onnx" and not model:
        from recall.encoders.onnx import OnnxEncoder

        return OnnxEncoder()
    if family == "sentence-transformers":
        from recall.encoders.sentence_transformers import SentenceTransformerEncoder

        return SentenceTransformerEncoder(model)
    raise ValueError(
        f"There is no encoder {name!r}. Use 'onnx', 'sentence-transformers' or 'sentence-transformers:<model>'."
    )


def _forget_encoders() -> None:
    """In a forked child: models and locks of the parent are not usable, so the child begins with none."""
    global _lock, _encoders
    _lock = threading.Lock()
    _of_the_parent.append(
        _encoders
    )  # kept: to end the parent's sessions here would wait for threads of the parent
    _encoders = {}


os.register_at_fork(after_in_child=_forget_encoders)
