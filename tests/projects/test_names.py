"""What a project is called: rename and aliases on the page, in addresses, and in what agents say."""

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command

from projects import actions, naming
from projects.access import access_of_user
from projects.manager import Manager
from projects.models import AccessEvent, ProjectAlias
from projects.names import must_be_one_of, named_among, project_named, slug_of
from tests.conftest import make_token

pytestmark = [pytest.mark.database, pytest.mark.django_db]
OPERATOR = Manager.command("test")


@pytest.fixture
def as_admin(client, admin_user):
    client.force_login(admin_user, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.mark.parametrize(
    ("said", "slug"),
    [
        ("shop", "shop"),
        ("Order Service", "order-service"),
        ("order_service", "order-service"),
        ("git@github.com:acme/Shop.git", "github-com-acme-shop"),
        ("https://github.com/acme/shop", "github-com-acme-shop"),
        ("https://user:secret@github.com/acme/shop.git/", "github-com-acme-shop"),
        ("ssh://git@github.com/acme/shop.git", "github-com-acme-shop"),
        ("acme/shop", "acme-shop"),
        ("~/src/shop/", "src-shop"),
        ("船", ""),
        ("<script>", "script"),
        ("x" * 300, "x" * 100),
    ],
)
def test_a_name_is_read_as_a_slug(said, slug):
    assert slug_of(said) == slug


def test_one_alias_takes_in_every_spelling_of_a_repository(as_admin, project):
    answer = as_admin.post("/p/shop/project/aliases/", {"name": "https://github.com/acme/shop.git"})
    assert answer.status_code == 303
    assert ProjectAlias.objects.get().slug == "github-com-acme-shop"
    for said in ("git@github.com:acme/shop", "github.com/acme/shop", "github-com-acme-shop", "Shop", "shop"):
        assert project_named(said) == project, said
    for said in ("acme/shop", "", "shop2", "\x00", "x" * 5000):
        assert project_named(said) is None, said
    page = as_admin.get("/p/shop/project/").content.decode()
    assert "github-com-acme-shop" in page
    assert "added the alias" in page


def test_what_was_said_exactly_is_meant_before_what_it_is_read_as(project, other_project):
    ProjectAlias.objects.create(project=project, slug="old_shop")  # a slug of before, as renaming leaves it
    naming.add_alias(by=OPERATOR, project=other_project, name="old-shop")
    both = [project, other_project]
    for said, meant in (("old_shop", project), ("old-shop", other_project), ("old shop", other_project)):
        assert (project_named(said), named_among(both, said)) == (meant, meant), said


def test_an_alias_leads_pages_to_the_slug_and_keeps_the_question(as_admin, project, stranger_user):
    naming.add_alias(by=OPERATOR, project=project, name="old-shop")
    answer = as_admin.get("/p/old-shop/decisions/?tag=a%20b&sort=newest")
    assert (answer.status_code, answer["Location"]) == (302, "/p/shop/decisions/?tag=a%20b&sort=newest")
    assert as_admin.get("/p/Old-Shop/decisions/")["Location"] == "/p/shop/decisions/"
    as_admin.force_login(stranger_user, backend="django.contrib.auth.backends.ModelBackend")
    assert as_admin.get("/p/old-shop/decisions/").status_code == 404


def test_a_form_of_an_old_address_still_saves(as_admin, project):
    naming.add_alias(by=OPERATOR, project=project, name="old-shop")
    assert as_admin.post("/p/old-shop/project/rename/", {"name": "The Shop"}).status_code == 303
    project.refresh_from_db()
    assert (project.name, project.slug) == ("The Shop", "shop")


def test_a_renamed_project_is_found_by_its_old_slug(as_admin, project):
    answer = as_admin.post("/p/shop/project/rename/", {"name": "Shop", "slug": "store"})
    assert (answer.status_code, answer["Location"]) == (303, "/p/store/project/")
    assert as_admin.get("/p/shop/")["Location"] == "/p/store/"
    assert as_admin.get("/p/store/").status_code == 200
    assert AccessEvent.objects.get(project=project).detail == {"before": "shop", "after": "store"}
    # And back: the alias becomes the slug again, the other one an alias.
    assert as_admin.post("/p/store/project/rename/", {"name": "Shop", "slug": "shop"}).status_code == 303
    assert [alias.slug for alias in ProjectAlias.objects.all()] == ["store"]


@pytest.mark.parametrize("slug", ["bank", "the-bank", "new", "-" * 101, "a b", "ä"])
def test_a_name_of_another_project_is_refused(as_admin, project, other_project, slug):
    naming.add_alias(by=OPERATOR, project=other_project, name="the-bank")
    assert as_admin.post("/p/shop/project/rename/", {"name": "Shop", "slug": slug}).status_code == 422
    if slug in ("bank", "the-bank", "new"):
        assert as_admin.post("/p/shop/project/aliases/", {"name": slug}).status_code == 422
    with pytest.raises(ValidationError):
        actions.create_project(by=OPERATOR, name="Another", slug="the-bank")
    project.refresh_from_db()
    assert project.slug == "shop"
    assert not project.aliases.exists()


@pytest.mark.parametrize("name", ["", " ", "船", "a\x00b", "x" * 401, "shop", "///"])
def test_what_is_no_name_is_explained(as_admin, project, name):
    answer = as_admin.post("/p/shop/project/aliases/", {"name": name})
    assert answer.status_code == 422
    assert "errorlist" in answer.content.decode()


def test_the_same_alias_again_changes_nothing_and_a_removed_one_is_gone(as_admin, project, other_project):
    first = naming.add_alias(by=OPERATOR, project=project, name="old-shop")
    assert naming.add_alias(by=OPERATOR, project=project, name="old-shop") == first
    assert as_admin.post(f"/p/shop/project/aliases/{first.pk}/remove/").status_code == 303
    assert as_admin.post(f"/p/shop/project/aliases/{first.pk}/remove/").status_code == 404
    assert as_admin.get("/p/old-shop/").status_code == 404
    assert list(AccessEvent.objects.order_by("id").values_list("verb", "subject")) == [
        ("add_alias", "old-shop"),
        ("remove_alias", "old-shop"),
    ]
    foreign = naming.add_alias(by=OPERATOR, project=other_project, name="old-bank")
    assert as_admin.post(f"/p/shop/project/aliases/{foreign.pk}/remove/").status_code == 404


def test_the_api_answers_to_an_alias_as_the_project(client, project, other_project):
    naming.add_alias(by=OPERATOR, project=project, name="github.com/acme/shop")
    naming.add_alias(by=OPERATOR, project=other_project, name="github.com/acme/bank")
    token, text = make_token(project)
    token.projects.add(other_project)
    headers = {"authorization": f"Bearer {text}"}
    for said in ("git@github.com:acme/shop.git", "https://github.com/acme/shop", "shop"):
        made = client.post(
            "/api/v1/decisions", {"title": f"By {said}", "decision": "Yes.", "project": said},
            content_type="application/json", headers=headers,
        )  # fmt: skip
        assert (made.status_code, made.json()["project"]) == (201, "shop"), made.content
    listed = client.get("/api/v1/decisions", {"project": "github.com/acme/shop"}, headers=headers).json()
    assert len(listed["results"]) == 3
    assert client.get("/api/v1/projects/github-com-acme-shop", headers=headers).json()["slug"] == "shop"
    wrong = client.get("/api/v1/decisions", {"project": "shpo"}, headers=headers)
    assert wrong.status_code == 400
    assert "Must be one of this token's projects: bank, shop. Did you mean shop?" in wrong.content.decode()


def test_an_alias_of_a_project_that_is_not_the_tokens_says_nothing_of_it(project, other_project):
    naming.add_alias(by=OPERATOR, project=other_project, name="the-bank")
    assert named_among([project], "the-bank") is None
    assert named_among([project], "bank") is None
    assert "bank" not in must_be_one_of([project], "the-bank")
    for said in (None, 7, ["shop"], "\x00", ""):
        assert named_among([project], said) is None


def test_only_admins_give_names(client, project, curator_user, viewer_user, stranger_user):
    for user in (curator_user, viewer_user, stranger_user):
        with pytest.raises(Exception, match="admin of the project"):
            naming.add_alias(
                by=Manager(name="x", access=access_of_user(user), channel="web"), project=project, name="mine"
            )


@pytest.mark.parametrize("name", ["\x80", "магазин", "😀"])
def test_a_name_in_letters_that_no_slug_has_is_refused_in_words(client, project, name):
    headers = {"authorization": f"Bearer {make_token(project)[1]}"}
    answer = client.get("/api/v1/decisions", {"project": name}, headers=headers)
    assert answer.status_code == 400
    assert "Must be one of this token's projects: shop." in answer.content.decode()


@pytest.mark.parametrize(
    "command", ["refresh_attention", "refresh_findings", "suggest_pairs", "scan_secrets"]
)
def test_commands_answer_to_an_alias(command, project):
    ProjectAlias.objects.create(project=project, slug="laden")
    call_command(command, project="laden")
    with pytest.raises(CommandError, match="no project 'nowhere'"):
        call_command(command, project="nowhere")
