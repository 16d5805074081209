"""MiniLM's own tokenizer, from the file shipped with the product."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from recall.encoders.base import EncoderUnavailable

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TOKENIZER_FILE = Path(__file__).parent / "minilm" / "tokenizer.json"

_SURROGATE = re.compile("[\ud800-\udfff]")


@cache
def minilm_tokenizer(max_tokens: int | None = None) -> Tokenizer:
    """The tokenizer without padding, cutting at `max_tokens` (special tokens included) or, with None, never.

    One object per limit and process, never changed after it is made: encoding with it is safe in threads.
    Raises EncoderUnavailable when the `tokenizers` package is missing.
    """
    # Its own thread pool does not survive a fork (gunicorn's workers) and buys nothing on short texts.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise EncoderUnavailable("The package 'tokenizers' is missing: pip install tokenizers") from error
    tokenizer = Tokenizer.from_file(str(TOKENIZER_FILE))
    tokenizer.no_padding()  # the file asks for padding and cutting at 128
    tokenizer.no_truncation()
    if max_tokens is not None:
        tokenizer.enable_truncation(max_length=max_tokens)
    return tokenizer


def without_surrogates(text: str) -> str:
    """The text with lone surrogates as U+FFFD, same length: the tokenizer is UTF-8 and would raise on them."""
    return _SURROGATE.sub("\ufffd", text)
