"""What every kind's pages share: hostile text, review, archive, who may, and no more queries for more rows."""

import re

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from patterns.actions import record_evidence
from pitfalls.actions import meet_again
from records.kinds import kind_of
from records.links import link
from records.models import ProjectionMark, Revision
from records.verbs import review
from tests.records.samples import KINDS, LISTS, list_url, make, page_of, verb_url

pytestmark = [pytest.mark.mysql, pytest.mark.django_db]

SCRIPT = "<script>alert(1)</script>"
HOSTILE = [
    SCRIPT, '"><img src=x onerror=alert(1)>', "[x](javascript:alert(1))", "![x](https://tracker.example/p.png)",
    "שלום ‮evil‬ עולם", "👩‍👩‍👧‍👦 𝕏 é", "w" * 5000, "{{ 7|add:7 }}{% now 'Y' %}", "&lt;b&gt; &amp;", "a\r\nb\rc",
    "</textarea></title><svg onload=alert(1)>", "' OR 1=1 --", "\\", "\x7f\x1b[31m",
]  # fmt: skip
CREATE = {
    "decisions:create": {"title": "T", "decision": "D", "status": "accepted"},
    "patterns:create": {"name": "T", "category": "c", "confidence": "0.5"},
    "pitfalls:create": {"title": "T", "category": "c", "severity": "low"},
}
TEXTS = {
    "decisions:create": ("title", "decision", "rationale", "alternatives_considered", "tags", "reason"),
    "patterns:create": ("name", "category", "description", "code_example", "language", "tags", "reason"),
    "pitfalls:create": ("title", "category", "description", "how_to_avoid", "tags", "reason"),
}


def is_safe(page):
    """No markup of ours came from the text, and no address that runs or tracks."""
    scripts = re.findall(r"<script[^>]*>[^<]", page)
    tags = re.findall(r"<(?:img|svg|iframe|object)[^>]*(?:onerror|onload|src=x|tracker)", page)
    return (
        not scripts
        and not tags
        and 'href="javascript:' not in page
        and "14" not in re.findall(r"\b7\|add", page)
    )


@pytest.mark.parametrize("name", CREATE)
@pytest.mark.parametrize(
    "text", [*HOSTILE[:3], "\n\n".join(HOSTILE)], ids=["script", "attribute", "link", "all"]
)
def test_hostile_text_is_kept_as_text_or_refused_and_never_run(as_curator, project, name, text):
    slug = [project.slug]
    data = CREATE[name] | {
        field: text[:50]
        if field in ("category", "language")
        else text[:200]
        if field in ("title", "name", "tags")
        else text
        for field in TEXTS[name]
    }
    answer = as_curator.post(reverse(name, args=slug), data)
    assert answer.status_code in (303, 422)
    page = answer.content.decode()
    if answer.status_code == 303:
        page = as_curator.get(answer["Location"]).content.decode()
        assert is_safe(as_curator.get(f"{answer['Location']}edit/").content.decode())
        assert is_safe(as_curator.get(reverse(name.replace("create", "list"), args=slug)).content.decode())
    assert is_safe(page)


@pytest.mark.parametrize("name", CREATE)
@pytest.mark.parametrize(
    "bad", ["a\x00b", "x" * (1024 * 1024 + 1), "\ud800"], ids=["nul", "1 MB + 1", "surrogate"]
)
def test_what_no_database_keeps_is_explained_field_by_field(as_curator, project, name, bad):
    for field in TEXTS[name]:
        if bad == "\ud800":  # a browser cannot send one; what a client sends instead is no text of any kind
            body = b"&".join(f"{key}={value}".encode() for key, value in CREATE[name].items() if key != field)
            body += b"&" + field.encode() + b"=%ED%A0%80"
            answer = as_curator.post(
                reverse(name, args=[project.slug]), body, content_type="application/x-www-form-urlencoded"
            )
            assert answer.status_code in (303, 422), field
            continue
        answer = as_curator.post(reverse(name, args=[project.slug]), CREATE[name] | {field: bad})
        assert answer.status_code == 422, field
        assert "errorlist" in answer.content.decode(), field


def test_a_text_of_just_one_megabyte_is_kept_whole(as_curator, project):
    text = "é" * (512 * 1024)
    answer = as_curator.post(
        reverse("decisions:create", args=["shop"]), CREATE["decisions:create"] | {"rationale": text}
    )
    assert answer.status_code == 303
    page = as_curator.get(answer["Location"])
    assert page.status_code == 200
    assert "Shown as it was written" in page.content.decode()


@pytest.mark.parametrize("kind", ["decision", "pattern", "memory"])
def test_review_by_everybody(client, curator_user, viewer_user, stranger_user, agent, project, kind):
    record = make(kind, agent, project)
    address = verb_url("review", record)
    client.force_login(stranger_user)
    assert client.post(address, {"state": "approved"}).status_code == 404
    client.force_login(viewer_user)
    assert client.post(address, {"state": "approved"}).status_code == 403
    client.force_login(curator_user)
    assert client.put(address).status_code == 405
    assert client.post(address, {"state": "approved", "version": "1"}).status_code == 303
    kept = type(record).objects.get(pk=record.pk)
    assert (kept.review_state, kept.reviewed_by, kept.version) == ("approved", curator_user, 2)
    assert ProjectionMark.objects.get(node_id=record.node_id).wanted_version == 2
    newest = Revision.objects.filter(node_id=record.node_id).first()
    assert (newest.verb, newest.user, newest.channel, newest.request_id != "") == (
        "approve",
        curator_user,
        "web",
        True,
    )
    assert client.post(address, {"state": "approved", "version": "2"}).status_code == 303
    assert Revision.objects.filter(node_id=record.node_id).count() == 2, "already done is a no-op"
    for state, data, expected in (
        ("rejected", {}, 422), ("rejected", {"reason": "  "}, 422), ("maybe", {"reason": "x"}, 422),
        ("rejected", {"reason": "wrong", "version": "1"}, 409), ("rejected", {"reason": "wrong", "version": "x"}, 409),
        ("rejected", {"reason": "wrong", "version": "9" * 30}, 409), ("rejected", {"reason": "wrong"}, 303),
        ("unreviewed", {}, 303), ("quarantined", {}, 303),
    ):  # fmt: skip
        assert client.post(address, {"state": state, **data}).status_code == expected, (state, data)
    assert client.get(page_of(record)).status_code == 200, "hidden, and still at its address"


@pytest.mark.parametrize("kind", ["decision", "pattern", "memory"])
def test_archive_and_restore(as_curator, agent, project, kind):
    record = make(kind, agent, project)
    for verb, version, archived in (
        ("archive", 1, True),
        ("archive", 2, True),
        ("restore", 2, False),
        ("restore", 3, False),
    ):
        assert (
            as_curator.post(verb_url(verb, record), {"version": str(version), "reason": "tidy"}).status_code
            == 303
        )
        assert (type(record).objects.get(pk=record.pk).archived_at is not None) == archived
    assert type(record).objects.get(pk=record.pk).version == 3
    assert as_curator.post(verb_url("archive", record), {"version": "1"}).status_code == 409
    assert as_curator.post(verb_url("archive", record), {"reason": "a\x00"}).status_code == 422


@pytest.mark.parametrize("kind", KINDS)
def test_a_node_leads_to_its_page(client, viewer_user, stranger_user, agent, project, kind):
    record = make(kind, agent, project)
    address = reverse("records:node", args=[record.node_id])
    client.force_login(viewer_user)
    assert client.get(address)["Location"] == page_of(record)
    assert client.post(address).status_code == 405
    client.force_login(stranger_user)
    assert client.get(address).status_code == 404


@pytest.mark.parametrize(
    "node",
    [
        "dec_0",
        "dec_01",
        "dec_99999999",
        "dec_9999999999",
        "DEC_1",
        "xxx_1",
        "dec_",
        "dec_1 ",
        "run_1",
        "dec_" + "a" * 32,
        "é",
        "a" * 500,
    ],
)
def test_an_address_that_names_no_record_is_404(as_curator, project, node):
    assert as_curator.get(reverse("records:node", args=[node])).status_code == 404
    for verb in ("history", "review", "archive", "restore", "link"):
        assert as_curator.get(reverse(f"records:{verb}", args=["shop", node])).status_code == 404


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "javascript:alert(1)",
        "\r\nX: y",
        "http:///x",
        "/p/[::1",
        "",
    ],
)
def test_the_way_back_stays_on_this_host(as_curator, agent, project, target):
    record = make("decision", agent, project)
    answer = as_curator.post(verb_url("review", record), {"state": "approved", "next": target})
    assert answer.status_code == 303
    assert answer["Location"] == page_of(record) or (
        target == "/p/[::1" and answer["Location"].startswith("/p/")
    )


def test_the_way_back_within_the_desk(as_curator, agent, project):
    record = make("decision", agent, project)
    back = list_url("decision") + "?review=unreviewed"
    assert (
        as_curator.post(verb_url("review", record), {"state": "approved", "next": back})["Location"] == back
    )
    answer = as_curator.post(verb_url("archive", record), {"next": "/" + "x" * 100_000})
    assert answer.status_code in (303, 400)


def test_an_unchanged_edit_changes_no_tag(as_curator, agent, project):
    tags = ["a,b", 'say "hi"', '"quoted"', "plain", "two words", "ünï"]
    record = make("decision", agent, project, tags=tags)
    page = as_curator.get(f"{page_of(record)}edit/")
    data = {name: page.context["form"][name].value() or "" for name in page.context["form"].fields}
    assert as_curator.post(f"{page_of(record)}edit/", {**data, "version": "1"}).status_code == 303
    kept = type(record).objects.get(pk=record.pk)
    assert (kept.tags, kept.version) == (tags, 1)


@pytest.mark.parametrize("tags", ['"', '"a', "a" * 200_000, ",,,", "a,a,a", "x" * 101, '"a"b,c', "a\nb,c"])
def test_odd_tags_are_kept_or_explained(as_curator, project, tags):
    answer = as_curator.post(
        reverse("decisions:create", args=["shop"]), CREATE["decisions:create"] | {"tags": tags}
    )
    assert answer.status_code in (303, 422)


@pytest.mark.parametrize("day", ["0001-01-01", "1000-12-31", "9999-01-01", "99999-01-01", "2026-02-30", "x"])
def test_a_day_that_no_calendar_here_has_is_explained(as_curator, project, day):
    data = CREATE["decisions:create"] | {"decided_on": day}
    assert as_curator.post(reverse("decisions:create", args=["shop"]), data).status_code == 422


@pytest.mark.parametrize("zone", ["UTC", "America/Sao_Paulo", "Pacific/Kiritimati"])
@pytest.mark.parametrize(
    "when", ["0001-01-01T00:00", "9999-12-31T23:59", "1000-01-01T00:00", "2017-10-15T00:30", "x", ""]
)
def test_a_time_that_cannot_be_is_explained(client, curator_user, agent, project, zone, when):
    curator_user.time_zone = zone
    curator_user.save()
    client.force_login(curator_user)
    decision = make("decision", agent, project)
    answer = client.post(f"{page_of(decision)}outcome/", {"type": "success", "occurred_at": when})
    gap = when.startswith("2017") and zone != "America/Sao_Paulo"
    assert answer.status_code == (303 if gap else 422)


# --- Query counts ---------------------------------------------------------------------------------------------------
def queries_of(client, address):
    client.get(address)
    cache.clear()  # what the frame counts is kept for a moment
    with CaptureQueriesContext(connection) as asked:
        assert client.get(address).status_code == 200
    return len(asked)


@pytest.mark.parametrize("kind", LISTS)
def test_a_list_asks_as_much_for_many_rows_as_for_few(as_curator, agent, curator, project, kind):
    def fill(start, count):
        made = [make(kind, agent, project, f"No {start + n}", tags=["t"]) for n in range(count)]
        review(made[::2], "approved", actor=curator)

    fill(0, 3)
    few = queries_of(as_curator, list_url(kind)), queries_of(as_curator, list_url(kind) + "?tag=t")
    fill(3, 12)
    assert (queries_of(as_curator, list_url(kind)), queries_of(as_curator, list_url(kind) + "?tag=t")) == few


@pytest.mark.parametrize("kind", KINDS)
def test_a_detail_asks_as_much_for_many_links_and_acts_as_for_few(as_curator, agent, curator, project, kind):
    record = make(kind, agent, project, "ses-8841" if kind == "session" else "The one")
    others = [make("decision", agent, project, f"No {n}") for n in range(4)]
    patterns = [make("pattern", agent, project, f"No {n}") for n in range(4)]

    def surround(start, stop):
        for other in others[start:stop] + patterns[start:stop]:
            link(record, "RELATES_TO", other, actor=agent)
            link(record, "CONTRADICTS", other, actor=curator)
        for n in range(start, stop):
            review([record], "approved" if n % 2 else "unreviewed", actor=curator)
            if kind == "pattern":
                record_evidence(actor=agent, pattern=record, worked=True)
            if kind == "pitfall":
                meet_again(actor=agent, pitfall=record)
            if kind == "decision":
                make("outcome", agent, project, decision=record)

    surround(0, 2)
    few = queries_of(as_curator, page_of(record)), queries_of(as_curator, verb_url("history", record))
    surround(2, 4)
    many = queries_of(as_curator, page_of(record)), queries_of(as_curator, verb_url("history", record))
    assert many == few
    assert kind_of(record).name == kind
