"""Signing in, by password and by link; signing out; the first password."""

import re

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from projects.login_links import claim_link, login_link_for, user_of_link
from projects.models import AccessEvent, Membership, User

pytestmark = [pytest.mark.mysql, pytest.mark.django_db]
PASSWORD = "correct horse battery"


def path_of(link: str) -> str:
    return re.sub(r"^https?://[^/]+", "", link)


def sign_in(client, username="vera", password=PASSWORD, **headers):
    return client.post("/login/", {"username": username, "password": password}, **headers)


def test_the_right_password_lets_in_and_leads_on(client, viewer_user):
    assert client.get("/login/").status_code == 200
    response = client.post(
        "/login/?next=/password/", {"username": "vera", "password": PASSWORD, "next": "/password/"}
    )
    assert (response.status_code, response.url) == (302, "/password/")


def test_signing_in_leads_to_no_other_host(client, viewer_user):
    fields = {"username": "vera", "password": PASSWORD, "next": "https://elsewhere.example/"}
    assert client.post("/login/", fields).url == "/"


def test_a_person_is_locked_at_an_address_after_eight_wrong_passwords_even_with_the_right_one(
    client, viewer_user
):
    answers = [sign_in(client, password="wrong").status_code for _ in range(8)]
    assert answers == [200] * 7 + [429]
    response = sign_in(client)
    assert response.status_code == 429
    assert "Too many wrong passwords" in response.content.decode()


def test_a_lock_at_one_address_locks_nobody_at_another(client, viewer_user):
    for _ in range(9):
        sign_in(client, password="wrong", REMOTE_ADDR="203.0.113.9")
    assert sign_in(client, REMOTE_ADDR="203.0.113.10").status_code == 302


def test_an_address_that_tries_many_names_is_locked_as_a_whole(client, viewer_user, settings):
    settings.LOGIN_TRIES_ADDRESS = 5
    for number in range(5):
        sign_in(client, username=f"somebody-{number}", password="wrong", REMOTE_ADDR="203.0.113.9")
    assert sign_in(client, REMOTE_ADDR="203.0.113.9").status_code == 429
    assert sign_in(client, REMOTE_ADDR="203.0.113.10").status_code == 302


def test_behind_proxies_the_address_is_the_one_that_the_outermost_saw(client, viewer_user, settings):
    settings.TRUSTED_PROXIES = 1
    for number in range(9):  # what the caller writes into the header himself changes nothing
        sign_in(client, password="wrong", HTTP_X_FORWARDED_FOR=f"198.51.100.{number}, 203.0.113.9")
    assert sign_in(client, HTTP_X_FORWARDED_FOR="198.51.100.77, 203.0.113.9").status_code == 429
    assert sign_in(client, HTTP_X_FORWARDED_FOR="203.0.113.10").status_code == 302


def test_a_forwarded_address_that_is_none_is_not_believed(client, viewer_user, settings):
    settings.TRUSTED_PROXIES = 1
    assert sign_in(client, password="wrong", HTTP_X_FORWARDED_FOR="x" * 500).status_code == 200


def test_the_admin_signs_in_on_the_same_page(client):
    response = client.get("/admin/login/?next=/admin/")
    assert (response.status_code, response.url) == (302, "/login/?next=/admin/")


def test_signing_out_is_a_post_and_ends_the_session(client, viewer_user):
    client.force_login(viewer_user, backend="django.contrib.auth.backends.ModelBackend")
    assert client.get("/logout/").status_code == 405
    assert client.post("/logout/").url == "/signed-out/"
    assert client.get("/").url.startswith("/login/")
    assert client.get("/signed-out/").status_code == 200


def test_a_login_link_shows_a_button_and_lets_in_once(client, viewer_user):
    path = path_of(login_link_for(viewer_user))
    for _preview in range(3):
        assert "Sign in as vera" in client.get(path).content.decode()
    response = client.post(path)
    assert (response.status_code, response.url) == (302, "/")
    assert client.get("/password/").status_code == 200
    client.logout()
    assert client.post(path).status_code == 410
    assert client.get("/").url.startswith("/login/")


def test_two_requests_with_one_link_let_in_one(viewer_user):
    first = user_of_link(*path_of(login_link_for(viewer_user)).strip("/").split("/")[1:])
    second = User.objects.get(pk=viewer_user.pk)
    assert claim_link(first)
    assert not claim_link(second)


def test_a_link_is_worthless_after_a_day_a_login_a_new_password_or_deactivation(
    client, viewer_user, settings
):
    path = path_of(login_link_for(viewer_user))
    settings.PASSWORD_RESET_TIMEOUT = -1
    assert client.get(path).status_code == 410
    settings.PASSWORD_RESET_TIMEOUT = 60
    assert client.get(path).status_code == 200
    sign_in(client)
    assert client.get(path).status_code == 410
    path = path_of(login_link_for(User.objects.get(pk=viewer_user.pk)))
    viewer_user.refresh_from_db()
    viewer_user.set_password("another one entirely")
    viewer_user.save()
    assert client.get(path).status_code == 410
    path = path_of(login_link_for(viewer_user))
    viewer_user.is_active = False
    viewer_user.save()
    assert client.get(path).status_code == 410


@pytest.mark.parametrize(
    "uid", ["MQ", "!!", "a" * 300, "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkw", "LTE", "w6k"]
)
def test_a_wrong_link_is_gone_not_an_error(client, db, uid):
    assert client.get(f"/login/{uid}/abc-def/").status_code == 410
    assert client.post(f"/login/{uid}/x/").status_code == 410


def test_who_came_by_a_link_sets_a_first_password_and_later_needs_the_old_one(client, viewer_user):
    viewer_user.set_unusable_password()
    viewer_user.save()
    client.post(path_of(login_link_for(viewer_user)))
    new = {"new_password1": "a ferry at dawn", "new_password2": "a ferry at dawn"}
    assert client.post("/password/", new).url == "/password/changed/"
    assert client.get("/password/changed/").status_code == 200  # still signed in
    assert client.post("/password/", new).status_code == 200
    assert User.objects.get(pk=viewer_user.pk).check_password("a ferry at dawn")


def test_the_command_makes_an_account_and_prints_its_link(client, project, capsys):
    call_command("create_account", "nora", project="shop", role="viewer")
    link = capsys.readouterr().out.strip()
    assert client.post(path_of(link)).status_code == 302
    assert Membership.objects.get(user__username="nora").role == "viewer"
    assert list(AccessEvent.objects.values_list("verb", flat=True)) == ["add_member", "create_account"]
    with pytest.raises(CommandError):
        call_command("create_account", "nora")
    with pytest.raises(CommandError, match="no project"):
        call_command("create_account", "other", project="nowhere")


def test_the_command_prints_a_link_for_the_first_operator(client, viewer_user, capsys):
    with pytest.raises(CommandError):
        call_command("login_link")
    call_command("login_link", "vera")
    assert client.post(path_of(capsys.readouterr().out.strip())).status_code == 302


def test_every_account_page_has_its_address():
    assert reverse("password_change") == "/password/"
    assert reverse("login_link", args=["MQ", "x-y"]) == "/login/MQ/x-y/"
