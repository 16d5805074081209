"""Saved filters: kept, shown, renamed, deleted; their feeds at a secret address; the daily digest by mail."""

import re
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

import pytest
from django.core import mail
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from curation.models import SavedFilter, SuggestedPair
from curation.saved import views
from curation.saved.actions import make_feed, save_filter
from curation.saved.digest import digest_of, send_due, unsubscribe_text
from curation.saved.items import find
from decisions.actions import create_decision, create_decisions
from projects.models import Membership, User
from records import verbs
from records.models import Attention
from tests.conftest import make_user

pytestmark = [pytest.mark.mysql, pytest.mark.django_db]
ATOM = {"a": "http://www.w3.org/2005/Atom"}
MORNING = datetime(2030, 6, 3, 7, 30, tzinfo=UTC)


@pytest.fixture
def decision(agent, project):
    return create_decision(
        actor=agent, project=project, title="Use <Redis> & co", decision="Yes.", tags=["redis"]
    )


def saved(user, project, page="decisions:list", query="tag=redis", name="Redis", **more) -> SavedFilter:
    return save_filter(user=user, project=project, page=page, query=query, name=name, **more)


def test_a_filter_is_saved_from_its_page_and_shown_there_and_in_the_rail(as_curator, project, decision):
    page = as_curator.get("/p/shop/decisions/?tag=redis&cursor=&format=").content.decode()
    link = re.search(r'href="(/p/shop/saved/new/[^"]+)"', page)[1].replace("&amp;", "&")
    form = as_curator.get(link).content.decode()
    assert 'value="tag=redis"' in form
    answer = as_curator.post(
        "/p/shop/saved/new/", {"page": "decisions:list", "query": "tag=redis", "name": "Redis"}
    )
    assert (answer.status_code, answer["Location"]) == (303, "/p/shop/decisions/?tag=redis")
    page = as_curator.get("/p/shop/decisions/?tag=redis").content.decode()
    assert page.count('href="/p/shop/decisions/?tag=redis"') >= 2, "a chip here, a line in the rail"
    assert "/p/shop/saved/new/" not in page, "it has a name already"
    assert "/p/shop/saved/" in as_curator.get("/p/shop/").content.decode()
    listed = as_curator.get("/p/shop/saved/").content.decode()
    assert "1 now" in listed


@pytest.mark.parametrize(
    ("page", "query", "count"),
    [("decisions:list", "q=Redis", 1), ("inbox:page", "queue=", 1), ("history:list", "agent=order-bot", 1)],
)
def test_lists_inbox_and_history_can_be_saved(
    as_curator, curator_user, project, decision, page, query, count
):
    saved(curator_user, project, page, query)
    listed = as_curator.get("/p/shop/saved/").content.decode()
    assert f"{count} now" in listed, re.findall(r"\d+ now|no longer applies", listed)


def test_a_filter_that_no_longer_applies_says_so_and_breaks_nothing(as_curator, curator_user, project):
    for at, (page, query) in enumerate(
        [("decisions:list", "colour=red"), ("inbox:page", "queue=nonsense"), ("history:list", "x=1")]
    ):
        saved(curator_user, project, page, query, name=f"n{at}")
    SavedFilter.objects.create(
        user=curator_user, project=project, name="gone", page="patterns:list", query="a=%00&b[]=\ud7ff"
    )
    assert as_curator.get("/p/shop/saved/").content.decode().count("no longer applies") == 4


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": " "},
        {"name": "a\x00b"},
        {"name": "a\nb"},
        {"name": "x" * 101},
        {"query": "q=" + "x" * 5000},
    ],
)
def test_a_wrong_form_is_explained(as_curator, project, wrong):
    fields = {"page": "decisions:list", "query": "tag=redis", "name": "Redis", **wrong}
    answer = as_curator.post("/p/shop/saved/new/", fields)
    assert answer.status_code == 422
    assert not SavedFilter.objects.exists()


def test_only_pages_that_have_filters_and_each_name_once(as_curator, curator_user, project):
    for page in ("", "admin:index", "projects:settings", "https://elsewhere.example"):
        assert as_curator.get("/p/shop/saved/new/", {"page": page}).status_code == 404
        assert as_curator.post("/p/shop/saved/new/", {"page": page, "name": "x"}).status_code == 404
    saved(curator_user, project)
    fields = {"page": "decisions:list", "query": "", "name": "Redis"}
    assert as_curator.post("/p/shop/saved/new/", fields).status_code == 422
    assert SavedFilter.objects.count() == 1


def test_renamed_and_deleted_by_its_owner_alone(as_curator, curator_user, viewer_user, project):
    mine, theirs = saved(curator_user, project), saved(viewer_user, project)
    assert (
        as_curator.post(f"/p/shop/saved/{mine.pk}/", {"name": "Cache", "in_digest": "on"}).status_code == 303
    )
    mine.refresh_from_db()
    assert (mine.name, mine.in_digest) == ("Cache", True)
    assert as_curator.post(f"/p/shop/saved/{mine.pk}/", {"name": ""}).status_code == 422
    for verb in ("", "delete/", "feed/", "feed/withdraw/"):
        assert as_curator.post(f"/p/shop/saved/{theirs.pk}/{verb}", {"name": "x"}).status_code == 404
    assert as_curator.post(f"/p/shop/saved/{10**30}/delete/").status_code == 404
    assert as_curator.post(f"/p/shop/saved/{mine.pk}/delete/").status_code == 303
    assert list(SavedFilter.objects.all()) == [theirs]


@pytest.mark.parametrize("act", ["rename", "make_feed"])
def test_what_was_withdrawn_or_deleted_meanwhile_stays_so(
    as_curator, curator_user, project, act, monkeypatch
):
    mine = saved(curator_user, project)
    make_feed(saved=mine)
    path = f"/p/shop/saved/{mine.pk}/{'' if act == 'rename' else 'feed/'}"
    read = views._own

    def meanwhile(change):
        """Another tab acts between the look for the filter and the act on it."""

        def own(*arguments):
            found = read(*arguments)
            change(SavedFilter.objects.filter(pk=mine.pk))
            return found

        monkeypatch.setattr(views, "_own", own)

    if act == "rename":
        meanwhile(lambda rows: rows.update(feed_digest=None))
        assert as_curator.post(path, {"name": "Cache"}).status_code == 303
        mine.refresh_from_db()
        assert (mine.name, mine.feed_digest) == ("Cache", None)
    meanwhile(lambda rows: rows.delete())
    assert as_curator.post(path, {"name": "Again"}).status_code == 404
    assert not SavedFilter.objects.exists()


def feed_path(page: str) -> str:
    return re.search(r"(/feed/[\w-]+/)", page)[1]


def test_a_feed_needs_no_login_and_is_well_formed_whatever_agents_wrote(
    as_curator, curator_user, curator, project, decision
):
    hostile = [
        "]]><script>alert(1)</script>",
        "a\ud7ffb",
        "‮evil",
        "<!DOCTYPE x [<!ENTITY y 'z'>]>&y;",
        "x" * 255,
    ]
    for title in hostile:
        create_decision(actor=curator, project=project, title=title, decision="x", tags=["redis"])
    mine = saved(curator_user, project)
    made = as_curator.post(f"/p/shop/saved/{mine.pk}/feed/")
    assert made.status_code == 201
    path = feed_path(made.content.decode())
    assert path not in as_curator.get("/p/shop/saved/").content.decode(), "it is shown once"
    answer = Client().get(path)
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("application/atom+xml")
    feed = ElementTree.fromstring(answer.content)
    titles = [entry.findtext("a:title", namespaces=ATOM) for entry in feed.findall("a:entry", ATOM)]
    assert titles == [*reversed(hostile), "Use <Redis> & co"]
    assert b"<script>" not in answer.content
    link = feed.find("a:entry/a:link", ATOM).get("href")
    assert as_curator.get(re.sub(r"^https?://[^/]+", "", link)).status_code == 200


def test_unchanged_is_304_and_a_new_record_is_not(curator_user, agent, project, decision):
    path = f"/feed/{make_feed(saved=saved(curator_user, project))}/"
    first = Client().get(path)
    again = Client().get(path, headers={"if-none-match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert Client().get(path).content == first.content
    create_decision(actor=agent, project=project, title="More", decision="x", tags=["redis"])
    assert Client().get(path, headers={"if-none-match": first["ETag"]}).status_code == 200
    assert Client().post(path).status_code == 405


def test_a_feed_shows_what_its_owner_may_see_now(as_curator, curator_user, project, decision, curator):
    mine = saved(curator_user, project)
    path = f"/feed/{make_feed(saved=mine)}/"
    assert b"Redis" in Client().get(path).content
    verbs.review([decision], "rejected", actor=curator, reason="no")
    assert b"Use &lt;Redis" not in Client().get(path).content, "what is hidden in the list is hidden here"
    Membership.objects.filter(user=curator_user).delete()
    assert Client().get(path).status_code == 404
    Membership.objects.create(user=curator_user, project=project, role="viewer")
    assert Client().get(path).status_code == 200
    User.objects.filter(pk=curator_user.pk).update(is_active=False)
    assert Client().get(path).status_code == 404


def test_an_address_is_worth_nothing_after_a_new_one_or_a_withdrawal(as_curator, curator_user, project):
    mine = saved(curator_user, project)
    old = f"/feed/{make_feed(saved=mine)}/"
    new = feed_path(as_curator.post(f"/p/shop/saved/{mine.pk}/feed/").content.decode())
    assert (Client().get(old).status_code, Client().get(new).status_code) == (404, 200)
    as_curator.post(f"/p/shop/saved/{mine.pk}/feed/withdraw/")
    assert Client().get(new).status_code == 404
    for text in ("x", "x" * 43, "x" * 500):
        assert Client().get(f"/feed/{text}/").status_code == 404


def test_a_feed_is_throttled(curator_user, project):
    path = f"/feed/{make_feed(saved=saved(curator_user, project))}/"
    answers = [Client().get(path).status_code for _ in range(31)]
    assert answers == [200] * 30 + [429]


@pytest.mark.parametrize("queue", ["review&sort=risk", "duplicates", "conflicts", "stale"])
def test_a_feed_and_the_digest_tell_what_has_newly_come_to_a_queue(
    curator_user, agent, curator, project, queue, monkeypatch
):
    """However old the record is, and wherever the queue's own order puts it."""
    rows = [{"title": f"T {n}", "decision": f"x {n}"} for n in range(8)]
    made = create_decisions(actor=agent, project=project, rows=rows)
    Attention.objects.update(risk=50)
    mine = saved(curator_user, project, "inbox:page", f"queue={queue}")
    long_ago = timezone.now() - timedelta(days=200)
    Attention.objects.update(arrived_at=long_ago, touched_at=long_ago - timedelta(days=100))
    before = timezone.now()
    late, other = made[0], made[1]
    if queue.startswith("review"):
        verbs.review([late], "approved", actor=curator)
        verbs.review([late], "quarantined", actor=curator, reason="Look again.")
        Attention.objects.filter(node_id=late.node_id).update(risk=1)
    elif queue == "stale":
        verbs.review(made, "approved", actor=curator)
        Attention.objects.update(touched_at=long_ago, risk=0)
        late_at = timezone.now() - timedelta(days=180) + timedelta(seconds=1)
        Attention.objects.filter(node_id=late.node_id).update(touched_at=late_at)
        monkeypatch.setattr(timezone, "now", lambda: before + timedelta(days=1))
    else:
        sort = {"duplicates": "duplicate", "conflicts": "conflict"}[queue]
        for n in range(2, 7):
            pair = {"first": made[n].node_id, "second": made[n + 1].node_id, "suggested_at": long_ago}
            SuggestedPair.objects.create(project=project, kind="decision", sort=sort, score=0.99, **pair)
        pair = {"first": late.node_id, "second": other.node_id}
        SuggestedPair.objects.create(project=project, kind="decision", sort=sort, score=0.9, **pair)
    items = find(mine, project, limit=3).items
    assert items[0].when > before
    assert late.node_id in items[0].path
    assert [item for item in items[1:] if item.when and item.when > before] == []


def test_counting_saved_filters_draws_no_list(as_curator, curator_user, agent, project, monkeypatch):
    for number, query in enumerate(("queue=review", "queue=stale", "queue=duplicates", "queue=conflicts")):
        saved(curator_user, project, "inbox:page", query, name=f"n{number}")
    create_decisions(actor=agent, project=project, rows=[{"title": "T", "decision": "x"}] * 3)
    monkeypatch.setattr("curation.inbox.records.row_of", lambda record: 1 / 0)
    assert "3 now" in as_curator.get("/p/shop/saved/").content.decode()


@pytest.fixture
def reader(curator_user) -> User:
    curator_user.email, curator_user.daily_digest, curator_user.time_zone = "cleo@example.org", True, "UTC"
    curator_user.save()
    return curator_user


def test_the_digest_says_what_waits_once_a_day_in_the_morning(reader, project, decision):
    assert send_due(MORNING.replace(hour=6)) == (0, False)
    assert send_due(MORNING) == (1, False)
    assert send_due(MORNING + timedelta(hours=3)) == (0, False), "once a day"
    assert send_due(MORNING + timedelta(days=1)) == (1, False)
    letter = mail.outbox[0]
    assert letter.to == ["cleo@example.org"]
    assert "Shop" in letter.subject
    assert "/p/shop/inbox/" in letter.body
    (html, kind) = letter.alternatives[0]
    assert kind == "text/html"
    assert "/p/shop/inbox/" in html


def test_it_is_morning_where_the_person_is(reader, project, decision):
    User.objects.update(time_zone="Asia/Tokyo")
    assert send_due(datetime(2030, 6, 2, 21, 30, tzinfo=UTC)) == (0, False), "6:30 there"
    assert send_due(datetime(2030, 6, 2, 22, 30, tzinfo=UTC)) == (1, False)


def test_nothing_is_sent_where_nothing_waits_or_nobody_asked(reader, project):
    assert send_due(MORNING) == (0, False)
    User.objects.filter(pk=reader.pk).update(digest_sent_at=None, email="")
    assert send_due(MORNING) == (0, False)
    User.objects.filter(pk=reader.pk).update(email="c@example.org", daily_digest=False)
    assert send_due(MORNING) == (0, False)
    User.objects.filter(pk=reader.pk).update(daily_digest=True, is_active=False)
    assert send_due(MORNING) == (0, False)
    assert mail.outbox == []


def test_a_viewer_hears_of_new_records_in_filters_they_chose_only(viewer_user, agent, project, decision):
    User.objects.filter(pk=viewer_user.pk).update(email="v@example.org", daily_digest=True)
    assert send_due(MORNING, at_once=True) == (0, False), "no queue is theirs"
    saved(viewer_user, project, in_digest=True)
    saved(viewer_user, project, query="", name="quiet")
    User.objects.filter(pk=viewer_user.pk).update(digest_sent_at=decision.created_at - timedelta(seconds=1))
    assert send_due(MORNING, at_once=True) == (1, False)
    body, html = mail.outbox[0].body, mail.outbox[0].alternatives[0][0]
    assert "Use <Redis> & co" in body
    assert "Use &lt;Redis&gt; &amp; co" in html
    assert "quiet" not in body
    viewer_user.refresh_from_db()
    assert digest_of(viewer_user, MORNING) == [], "what was told is not new"


def test_hostile_titles_make_no_headers_and_no_markup(reader, agent, project, decision):
    project.name = "Shop\r\nBcc: all@example.org <b>"
    project.save()
    create_decision(actor=agent, project=project, title="<img src=x onerror=y>", decision="x", tags=["redis"])
    saved(reader, project, in_digest=True)
    User.objects.filter(pk=reader.pk).update(digest_sent_at=decision.created_at - timedelta(seconds=1))
    assert send_due(MORNING, at_once=True) == (1, False)
    letter = mail.outbox[0]
    assert letter.message()["Bcc"] is None
    assert "<img" not in letter.alternatives[0][0]


def test_the_error_of_one_keeps_no_other_from_their_digest(reader, project, decision, monkeypatch):
    failing = make_user("ada", project, "curator")
    User.objects.filter(pk=failing.pk).update(email="ada@example.org", daily_digest=True, time_zone="UTC")
    asked = []

    def of(user, since):
        asked.append(user.username)
        return 1 / 0 if user.pk == failing.pk else digest_of(user, since)

    monkeypatch.setattr("curation.saved.digest.digest_of", of)
    assert send_due(MORNING) == (1, False)
    assert sorted(asked) == ["ada", "cleo"]
    assert mail.outbox[0].to == ["cleo@example.org"]
    monkeypatch.undo()
    assert send_due(MORNING) == (1, False), "theirs is tried again"


def test_a_mail_server_that_is_away_is_asked_again(reader, project, decision, monkeypatch):
    monkeypatch.setattr("curation.saved.digest.EmailMultiAlternatives.send", lambda self: 1 / 0)
    assert send_due(MORNING) == (0, False)
    monkeypatch.undo()
    assert send_due(MORNING) == (1, False)


def test_unsubscribing_by_one_click_or_on_the_page(reader, project, decision):
    send_due(MORNING)
    letter = mail.outbox[0]
    path = re.search(r"(/unsubscribe/[^>]+)>", letter.extra_headers["List-Unsubscribe"])[1]
    assert path in letter.body
    anybody = Client(enforce_csrf_checks=True)
    assert anybody.get(path).status_code == 200
    reader.refresh_from_db()
    assert reader.daily_digest, "looking at the page ends nothing: a mail program may look first"
    assert anybody.post(path, {"List-Unsubscribe": "One-Click"}).status_code == 200
    reader.refresh_from_db()
    assert not reader.daily_digest
    wrong = unsubscribe_text(make_user("x", None, None))
    for text in ("x", path.split("/")[2][:-3], wrong[:20]):
        assert anybody.post(f"/unsubscribe/{text}/").status_code == 410
    User.objects.filter(pk=reader.pk).update(email="new@example.org", daily_digest=True)
    assert anybody.post(path).status_code == 410, "a link of an address that is not theirs any more"


def test_the_command_sends_what_is_due_or_all(reader, project, decision, capsys):
    call_command("send_digests", "--now")
    assert "1 sent." in capsys.readouterr().out
