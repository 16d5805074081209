"""The cache of agents: kept for hours, by project, then gone."""

from datetime import timedelta

import pytest
from django.utils import timezone

from runs.models import CacheEntry
from tests.agent_api.conftest import ApiClient
from tests.conftest import make_token

pytestmark = [pytest.mark.mysql, pytest.mark.django_db]


def put(client, path, body, **headers):
    return client.send("PUT", path, body, **headers)


@pytest.mark.parametrize("value", [None, 0, False, "", "text", [], {"a": [1, None]}, "שלום 🙂"])
def test_any_json_is_kept_and_given_back(api, value):
    made = put(api, "/cache/state", {"value": value})
    assert (made.status_code, made.data["became"]) == (201, "created")
    assert api.get("/cache/state").data["value"] == value
    assert type(api.get("/cache/state").data["value"]) is type(value)


def test_it_is_replaced_expires_and_begins_anew(api):
    before = timezone.now()
    put(api, "/cache/k", {"value": 1})
    kept = CacheEntry.objects.get()
    assert timedelta(hours=23) < kept.expires_at - before < timedelta(hours=25)
    again = put(api, "/cache/k/", {"value": 2, "ttl": 60})
    assert (again.status_code, again.data["became"]) == (200, "updated")
    assert CacheEntry.objects.get().expires_at < before + timedelta(minutes=3)
    CacheEntry.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert api.get("/cache/k").status_code == 404
    assert api.send("DELETE", "/cache/k").status_code == 404
    assert put(api, "/cache/k", {"value": 3}).data["became"] == "created"
    assert api.send("DELETE", "/cache/k").data["became"] == "deleted"
    assert api.get("/cache/k").status_code == 404


def test_it_is_a_projects_own(api, elsewhere, project, other_project):
    put(api, "/cache/k", {"value": "shop's"})
    assert elsewhere.get("/cache/k").status_code == 404
    assert put(elsewhere, "/cache/k", {"value": "bank's"}).status_code == 201
    assert api.get("/cache/k").data["value"] == "shop's"
    token, text = make_token(project)
    token.projects.add(other_project)
    both = ApiClient(text)
    assert both.get("/cache/k").status_code == 422
    assert both.get("/cache/k?project=bank").data["value"] == "bank's"
    assert both.get("/cache/k?project=nowhere").status_code == 422
    assert both.get("/cache/k?project=bank&x=1").status_code == 400


@pytest.mark.parametrize("key", ["deploy/step/7", "a b", "%F0%9F%99%82", "A", "a%3Fb", "x" * 255])
def test_keys_of_any_text_are_told_apart(api, key):
    put(api, f"/cache/{key}", {"value": key})
    assert api.get(f"/cache/{key}").data["value"] == key
    assert api.get(f"/cache/{key.swapcase()}z").status_code in (404, 422)


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/cache/k", {"value": 1, "ttl": 0}, "ttl"),
        ("/cache/k", {"value": 1, "ttl": 72 * 3600 + 1}, "ttl"),
        ("/cache/k", {"value": 1, "ttl": "60"}, "ttl"),
        ("/cache/k", {}, "value"),
        ("/cache/k", {"value": "a\x00"}, "value"),
        ("/cache/k", {"value": 1, "TTL": 1}, "TTL"),
        (f"/cache/{'x' * 256}", {"value": 1}, "key"),
        ("/cache/a%00b", {"value": 1}, "key"),
    ],
)
def test_what_cannot_be_kept_is_named(api, path, body, field):
    answer = put(api, path, body)
    assert (answer.status_code, list(answer.data["errors"])) == (422, [field])
    assert not CacheEntry.objects.exists()


def test_too_large_is_413_and_a_secret_is_taken_out(api, settings):
    put(api, "/cache/k", {"value": {"note": "password=hunter2hunter2 and key AKIAIOSFODNN7EXAMPLQ"}})
    assert "AKIAIOSFODNN7EXAMPLQ" not in str(CacheEntry.objects.get().value)
    settings.TEXT_MAX_BYTES = 100
    assert put(api, "/cache/k", {"value": "x" * 200}).status_code == 413


def test_a_keyed_put_is_done_once(api):
    first = put(api, "/cache/k", {"value": 1}, Idempotency_Key="a")
    put(api, "/cache/k", {"value": 2})
    assert put(api, "/cache/k", {"value": 1}, Idempotency_Key="a").content == first.content
    assert api.get("/cache/k").data["value"] == 2


def test_a_reader_may_not_write(reader, api):
    put(api, "/cache/k", {"value": 1})
    assert put(reader, "/cache/k", {"value": 2}).status_code == 403
    assert reader.send("DELETE", "/cache/k").status_code == 403
    assert reader.get("/cache/k").data["value"] == 1


def test_one_project_its_counts_and_its_policy(api, elsewhere, decision, pattern):
    answer = api.get("/projects/shop").data
    assert (answer["slug"], answer["name"]) == ("shop", "Shop")
    assert answer["counts"]["decision"] == {"active": 1, "waiting": 1}
    assert answer["policy"]["reviewed_only_recall"] is False
    assert elsewhere.get("/projects/shop").status_code == 404
    assert api.get("/projects/nowhere").status_code == 404
    assert api.post("/projects", {"name": "New"}).status_code == 405
