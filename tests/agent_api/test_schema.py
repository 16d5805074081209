"""The OpenAPI description is valid 3.1, complete, and made without a warning."""

import json

import pytest
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.validation import validate_schema

from agent_api.openapi import description
from agent_api.urls import v1


@pytest.fixture(scope="module")
def document():
    description.cache_clear()
    GENERATOR_STATS.reset()
    made = json.loads(description())
    assert not dict(GENERATOR_STATS._warn_cache)
    assert not dict(GENERATOR_STATS._error_cache)
    return made


def operations(document):
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if method in ("get", "post", "patch", "put", "delete"):
                yield path, method, operation


def test_it_is_valid_and_3_1(document):
    assert document["openapi"].startswith("3.1")
    validate_schema(document)


def test_it_holds_every_route(document):
    assert len(document["paths"]) == len(v1) - 1  # all but itself
    assert all(path.startswith("/api/v1/") and not path.endswith("/") for path in document["paths"])


def test_every_operation_is_said_in_words_and_may_answer_a_problem(document):
    ids = [operation["operationId"] for _path, _method, operation in operations(document)]
    assert len(ids) == len(set(ids))
    for path, method, operation in operations(document):
        assert operation["summary"], (path, method)
        assert "application/problem+json" in operation["responses"]["default"]["content"]
        names = {parameter["name"] for parameter in operation["parameters"]}
        assert {"X-Session-Id", "X-Run-Id"} <= names
        asks = method == "get" or operation["operationId"] in ("context", "incidents_like")
        assert ("Idempotency-Key" in names) == (not asks)
        assert operation["security"] == [{"token": []}]


def test_names_are_those_of_the_field(document):
    names = set(document["components"]["schemas"])
    assert {"Decision", "NewDecision", "DecisionChanges", "WrittenDecision", "Problem", "Similar"} <= names
    assert not {name for name in names if name.endswith(("Serializer", "Request")) or "Patched" in name}


def test_lists_name_their_filters(document):
    names = {p["name"] for p in document["paths"]["/api/v1/decisions"]["get"]["parameters"]}
    assert {"status", "decided", "tag", "review", "show", "sort", "project", "cursor", "page_size"} <= names


def test_it_is_served(client, db):
    answer = client.get("/api/v1/schema")
    assert (answer.status_code, answer["Content-Type"]) == (
        200,
        "application/vnd.oai.openapi+json; version=3.1",
    )
    assert client.get("/api/v1/schema/").content == answer.content == description()
