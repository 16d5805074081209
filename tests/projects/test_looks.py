"""A person's looks: kept on the account, on <html> as the server sends it, for that person alone."""

import re
import zoneinfo

import pytest
from django.db import IntegrityError, transaction

from projects.models import User

pytestmark = [pytest.mark.database, pytest.mark.django_db]
BACKEND = "django.contrib.auth.backends.ModelBackend"
PAGES = (
    "/p/shop/",
    "/p/shop/decisions/",
    "/p/shop/inbox/",
    "/p/shop/graph/",
    "/account/",
    "/p/nowhere/",
    "/signed-out/",
)


def html_of(client, address):
    return re.search(r"<html[^>]*>", client.get(address).content.decode())[0]


def looks(user):
    user.refresh_from_db()
    return user.theme, user.density


def test_looks_are_on_every_page_as_the_server_sends_it(as_viewer, viewer_user):
    for address in PAGES:
        assert "data-account" in html_of(as_viewer, address), address
        assert "data-theme" not in html_of(as_viewer, address), address
        assert "data-density" not in html_of(as_viewer, address), address
    fields = {"time_zone": "Asia/Kolkata", "theme": "dark", "density": "compact"}
    assert as_viewer.post("/account/", fields).status_code == 303
    assert looks(viewer_user) == ("dark", "compact")
    for address in PAGES:
        assert 'data-theme="dark" data-density="compact"' in html_of(as_viewer, address), address


def test_nobody_else_sees_them_and_who_is_signed_out_has_none(as_viewer, client, curator_user, viewer_user):
    as_viewer.post("/account/", {"theme": "light", "density": "compact"})
    client.logout()
    assert html_of(client, "/login/") == '<html lang="en">'
    client.force_login(curator_user, backend=BACKEND)
    assert "data-density" not in html_of(client, "/p/shop/")


def test_what_is_not_sent_is_as_usual_and_what_is_wrong_changes_nothing(as_viewer, viewer_user):
    as_viewer.post("/account/", {"theme": "dark", "density": "compact"})
    for wrong in ({"theme": "pink"}, {"density": "tiny"}, {"theme": "dark\x00"}, {"density": "Compact"}):
        answer = as_viewer.post("/account/", {"theme": "light", **wrong})
        assert answer.status_code == 422, wrong
        assert 'data-theme="dark" data-density="compact"' in answer.content.decode(), "drawn in what is kept"
    assert looks(viewer_user) == ("dark", "compact")
    as_viewer.post("/account/", {})
    assert looks(viewer_user) == ("system", "comfortable")


def test_the_menu_sets_the_theme_alone_and_goes_back_to_its_page(as_viewer, viewer_user):
    as_viewer.post("/account/", {"density": "compact", "time_zone": "Europe/Paris"})
    answer = as_viewer.post("/account/theme/", {"theme": "dark", "next": "/p/shop/decisions/?tag=x"})
    assert (answer.status_code, answer["Location"]) == (303, "/p/shop/decisions/?tag=x")
    assert looks(viewer_user) == ("dark", "compact")
    assert viewer_user.time_zone == "Europe/Paris"
    assert (
        as_viewer.post("/account/theme/", {"theme": "light"}, headers={"HX-Request": "true"}).status_code
        == 204
    )
    assert looks(viewer_user) == ("light", "compact")
    assert (
        'value="light" data-theme-choice="light" aria-pressed="true"'
        in as_viewer.get("/p/shop/").content.decode()
    )


@pytest.mark.parametrize(
    "next_page", ["//evil.example/", "https://evil.example/", "javascript:alert(1)", "", "p/shop/"]
)
def test_the_way_back_never_leaves_the_desk(as_viewer, next_page):
    assert as_viewer.post("/account/theme/", {"theme": "dark", "next": next_page})["Location"] == "/account/"


def test_a_theme_that_is_none_is_refused(as_viewer, viewer_user):
    for wrong in ({}, {"theme": ""}, {"theme": "pink"}):
        assert as_viewer.post("/account/theme/", wrong).status_code == 303
        assert as_viewer.post("/account/theme/", wrong, headers={"HX-Request": "true"}).status_code == 422
    assert looks(viewer_user) == ("system", "comfortable")
    assert as_viewer.get("/account/theme/").status_code == 405
    assert "There is no such theme." in as_viewer.get("/account/").content.decode()


def test_the_database_keeps_looks_that_are_none_out(viewer_user):
    for column, value in (("theme", "pink"), ("density", ""), ("theme", "Dark")):
        with pytest.raises(IntegrityError), transaction.atomic():
            User.objects.filter(pk=viewer_user.pk).update(**{column: value})


def test_zones_are_offered_by_name_and_the_clock_is_that_of_the_chosen_one(as_viewer):
    as_viewer.post("/account/", {"time_zone": "Pacific/Kiritimati"})
    page = as_viewer.get("/account/").content.decode()
    assert "Times are shown in Pacific/Kiritimati" in page
    offered = re.findall(r'<option value="([^"]+)">', page)
    assert {"Europe/Paris", "America/Sao_Paulo", "Asia/Kolkata"} < set(offered)
    assert set(offered) <= zoneinfo.available_timezones()
    assert 'list="time-zones"' in page


def test_nothing_is_styled_inline(as_viewer):
    as_viewer.post("/account/", {"theme": "dark", "density": "compact"})
    for address in PAGES:
        page = as_viewer.get(address).content.decode()
        assert "<style" not in page, address
        assert not re.search(r"<[^>]+ style=", page), address
