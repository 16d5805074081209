"""Whatever is sent, the answer is a result or a problem that names the fault; never a 5xx, never a half-written row."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from decisions.api import (
    Contradict,
    DecisionChanges,
    NewDecision,
    NewOutcome,
    OutcomeChanges,
    StatusChange,
    Supersede,
)
from decisions.models import Decision
from patterns.api import ConfidenceChange, NewPattern, PatternChanges
from pitfalls.api import NewPitfall, PitfallChanges, SeverityChange
from records.api.serializers import Act, Note, Review

pytestmark = [pytest.mark.database, pytest.mark.django_db]

GOOD = {"title": "T", "decision": "D"}
TEXTS = [
    "🙈👩‍👩‍👧‍👦",
    "مرحبا \u202eevil",
    "<script>alert(1)</script>",
    "'; DROP TABLE projects; --",
    "a\u0301" * 50,
    "\ufeff\u200b x",
    "\U0010ffff",
    "line\r\nline\u2028line",
    "%s %(x)s {0} {{x}}",
]


@pytest.mark.parametrize("text", TEXTS)
def test_strange_text_comes_back_as_it_went_in(api, text):
    made = api.post("/decisions", {"title": text, "decision": text, "tags": [text[:50]]})
    assert made.status_code == 201, made.data
    read = api.get(f"/decisions/{made.data['node_id']}").data
    assert (read["decision"], read["title"]) == (text, text.strip())


@pytest.mark.parametrize("field", ["title", "decision", "rationale", "reason"])
def test_a_nul_is_refused_by_field(api, field):
    answer = api.post("/decisions", {**GOOD, field: "a\x00b"})
    assert (answer.status_code, list(answer.data["errors"])) == (422, [field])


def test_a_text_of_a_mebibyte_is_kept_and_a_byte_more_is_413(api):
    most = "é" * (512 * 1024)
    kept = api.post("/decisions", {**GOOD, "rationale": most})
    assert (kept.status_code, kept.data["rationale"] == most) == (201, True)
    refused = api.post("/decisions", {**GOOD, "rationale": most + "x"})
    assert (refused.status_code, list(refused.data["errors"])) == (413, ["rationale"])
    assert Decision.objects.count() == 1


def test_a_body_past_the_limit_is_413(api):
    answer = api.post("/decisions", {**GOOD, "rationale": "x" * (4 * 1024 * 1024)})
    assert (answer.status_code, answer["Content-Type"]) == (413, "application/problem+json")
    keyed = api.post("/decisions", {**GOOD, "rationale": "x" * (4 * 1024 * 1024)}, Idempotency_Key="k")
    assert keyed.status_code == 413


DEEP = b'{"title":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
BODIES = {
    "no json": b"{title: 1}",
    "cut short": b'{"title": "T"',
    "not utf-8": b'{"title": "\xff\xfe"}',
    "utf-16": '{"title": "T"}'.encode("utf-16"),
    "nan": b'{"title": "T", "decision": "D", "decided_at": NaN}',
    "infinity": b'{"success_rate": -Infinity}',
    "overflow": b'{"confidence": 1e999}',
    "huge integer": b'{"version": ' + b"9" * 5000 + b"}",
    "65 bits": b'{"version": 36893488147419103232}',
    "one key twice": b'{"title": "T", "title": "U", "decision": "D"}',
    "deep": DEEP,
    "65 levels": b'{"x":' + b"[" * 65 + b"]" * 65 + b"}",
    "lone surrogate": b'{"title": "\\ud800", "decision": "D"}',
    "lone surrogate in a key": b'{"\\udfff": 1}',
    "lone surrogate in a list": b'{"tags": ["\\ud83d"]}',
    "a byte": b"\x00",
    "two values": b"{} {}",
}


@pytest.mark.parametrize("name", BODIES)
def test_a_body_that_is_no_clean_json_is_400(api, name):
    answer = api.post("/decisions", BODIES[name])
    assert answer.status_code == 400, answer.data
    assert answer["Content-Type"] == "application/problem+json"
    assert not Decision.objects.exists()


@pytest.mark.parametrize("body", [[], [1], "text", 1, 1.5, True, None, [[]], [GOOD]])
@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_anything_but_an_object_is_422(api, decision, body, method):
    path = "/decisions" if method == "POST" else f"/decisions/{decision.node_id}"
    assert api.send(method, path, json.dumps(body).encode()).status_code == 422


def test_a_field_that_is_none_is_refused(api, decision):
    for answer in (
        api.post("/decisions", {**GOOD, "review_state": "approved"}),
        api.post("/decisions", {**GOOD, "trust": 1}),
        api.post("/decisions", {**GOOD, "project_id": 1}),
        api.patch(f"/decisions/{decision.node_id}", {"version": 1, "titel": "x"}),
    ):
        assert answer.status_code == 422
        assert list(answer.data["errors"].values()) == [["There is no such field."]]


def test_missing_and_empty_fields_are_named(api):
    assert set(api.post("/decisions", {}).data["errors"]) == {"title", "decision"}
    assert set(api.post("/decisions", {"title": " ", "decision": "\n"}).data["errors"]) == {
        "title",
        "decision",
    }
    assert set(api.post("/patterns", {"name": None}).data["errors"]) == {"name", "category"}
    tags = api.post("/decisions", {**GOOD, "tags": ["a", "", 3, "x" * 101]}).data["errors"]
    assert set(tags) == {"tags.1", "tags.2", "tags.3"}
    assert api.post("/decisions", {**GOOD, "tags": ["a"] * 101}).status_code == 422


IDS = [
    "dec_0",
    "dec_01",
    "dec_-1",
    "dec_999999999999",
    "dec_99999999999999999999",
    "dec_1.0",
    "DEC_1",
    "dec_",
    "_1",
]
IDS += [
    "run_1",
    "pat_1",
    "xyz_1",
    "..%2f..%2fadmin",
    "%2e%2e",
    "%00",
    "dec_%D9%A1",
    "dec_1%0A",
    "'",
    "a" * 5000,
    "1",
]
WAYS = [("GET", ""), ("PATCH", ""), ("POST", "/archive"), ("POST", "/status"), ("GET", "/outcomes")]


@pytest.mark.parametrize("node_id", IDS)
def test_an_odd_id_is_404_wherever_it_stands(api, decision, pattern, node_id):
    for method, rest in WAYS:
        assert api.send(method, f"/decisions/{node_id}{rest}", {}).status_code == 404, (method, rest)
    if node_id != "pat_1":
        assert api.get(f"/records/{node_id}/similar").status_code == 404
        assert api.get(f"/records/{node_id}/neighbourhood").status_code == 404


@pytest.mark.parametrize(
    "value", ["0001-01-01", "9999-12-31T23:59:59-23:59", "2026-02-30", "yesterday", "٢٠٢٦-٠١-٠١"]
)
def test_a_time_that_no_database_keeps_is_422(api, value):
    assert api.post("/decisions", {**GOOD, "decided_at": value}).data["errors"].keys() == {"decided_at"}


# --- Properties: any JSON at all, through every serializer of a write ------------------------------------------------
SERIALIZERS = [
    NewDecision, DecisionChanges, StatusChange, Supersede, Contradict, NewOutcome, OutcomeChanges, NewPattern,
    PatternChanges, ConfidenceChange, NewPitfall, PitfallChanges, SeverityChange, Act, Review, Note,
]  # fmt: skip
ANY_TEXT = st.text() | st.sampled_from(["", " ", "accepted", "dec_1", "2026-03-15", "1e400", "\x00", *TEXTS])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=8,
)
FIELDS = sorted({name for one in SERIALIZERS for name in one().fields})
BODY = st.dictionaries(st.sampled_from(FIELDS), ANYTHING, max_size=8) | ANYTHING
CALM = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.mark.parametrize("serializer_class", SERIALIZERS)
@CALM
@given(body=BODY)
def test_any_value_in_any_field_is_taken_or_refused(serializer_class, body):
    serializer = serializer_class(data=body)
    if serializer.is_valid():
        assert set(serializer.validated_data) <= set(serializer.fields)
    else:
        json.dumps(serializer.errors)


WRITES = [
    ("POST", "/decisions"), ("PATCH", "/decisions/{decision}"), ("POST", "/decisions/{decision}/outcomes"),
    ("POST", "/decisions/{decision}/supersede"), ("POST", "/patterns"), ("POST", "/patterns/{pattern}/worked"),
    ("POST", "/pitfalls"),
]  # fmt: skip


@CALM
@given(way=st.sampled_from(WRITES), body=BODY, key=st.none() | st.text(max_size=5))
def test_any_body_at_any_door_is_never_a_5xx(api, decision, pattern, way, body, key):
    method, path = way
    headers = {"If_Match": "*"}
    if key is not None:
        headers["Idempotency_Key"] = key.encode("utf-8", "replace").decode("latin-1")
    sent = json.dumps(body).encode()
    answer = api.send(
        method, path.format(decision=decision.node_id, pattern=pattern.node_id), sent, **headers
    )
    assert answer.status_code < 500, answer.data
    assert answer.data is not None


@CALM
@given(
    query=st.dictionaries(
        st.sampled_from(
            ["q", "status", "decided", "decided_after", "tag", "by", "session", "cursor", "page_size", "sort", "show",
             "review", "count", "project", "outcome", "confidence_min", "usage_min", "x"]
        ),
        st.text(max_size=30) | st.sampled_from(["1", "nan", "-1", "1e999", "2026-03-15", "accepted", "1000-01-01"]),
        max_size=4,
    ),
    plural=st.sampled_from(["decisions", "patterns", "pitfalls", "outcomes"]),
)  # fmt: skip
def test_any_filter_of_any_list_is_never_a_5xx(api, decision, query, plural):
    from urllib.parse import urlencode

    encoded = urlencode({name: value.encode("utf-8", "surrogatepass") for name, value in query.items()})
    answer = api.get(f"/{plural}?{encoded}")
    assert answer.status_code in (200, 400), answer.data


@CALM
@given(raw=st.binary(max_size=200))
def test_any_bytes_at_all_are_never_a_5xx(api, raw):
    assert api.post("/decisions", raw).status_code in (400, 422)
