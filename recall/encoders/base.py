"""What an encoder is: texts in, unit vectors out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# The identity stored with every vector. It names the space, not the program that computed it: the int8 ONNX file
# and the PyTorch weights agree to a cosine of 0.994, so their vectors may be compared and carry the same name.
MINILM = "all-MiniLM-L6-v2"
MINILM_DIMENSION = 384
# The model reads this many tokens, [CLS] and [SEP] included; whatever follows does not change the vector.
MAX_TOKENS = 256

Vectors = NDArray[np.float32]


class EncoderUnavailable(RuntimeError):
    """The configured encoder cannot run here. The message names what to install; there is no stand-in vector."""


class Encoder(ABC):
    """Turns texts into float32 vectors of unit length. Implementations are safe to share between threads."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The model's identity, stored with each vector; only vectors of one name are ever compared."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Length of a vector: 384 for MiniLM."""

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the texts, float32 [n, dimension], unit length, in the order given; [0, dimension] for no text.

        A text is read up to the model's 256 tokens. A blank one gets the model's vector of no words: finite, the
        same each time. Raises EncoderUnavailable when the model cannot be loaded.
        """


def unit_length(vectors: NDArray[np.floating]) -> Vectors:
    """The rows scaled to length 1, float32 [n, d]; a row of zeros stays zeros rather than become NaN."""
    rows = np.asarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.ascontiguousarray(rows / np.maximum(lengths, np.float32(1e-12)), dtype=np.float32)
