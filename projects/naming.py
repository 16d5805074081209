"""Changes of what a project is called. A slug is one project's for ever, whether as its name or as an alias."""

from __future__ import annotations

import re

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from database.transactions import transactional
from projects.manager import Manager, checked_name, lock_project, note
from projects.models import AccessVerb, Project, ProjectAlias
from projects.names import slug_of

RESERVED_SLUGS = {"new"}
SLUG = re.compile(r"[-a-zA-Z0-9_]{1,100}", re.ASCII)
ALIASES_MOST = 50


def checked_slug(slug: str, *, project: Project | None = None) -> str:
    """Free for this project, within a transaction that called `lock_names`."""
    if not SLUG.fullmatch(slug) or slug in RESERVED_SLUGS:
        raise ValidationError({"slug": _("Give the project a short name of letters, digits and hyphens.")})
    if Project.objects.filter(slug=slug).exclude(pk=project.pk if project else 0).exists():
        raise ValidationError({"slug": _("There is a project of that short name already.")})
    if ProjectAlias.objects.filter(slug=slug).exclude(project=project).exists():
        raise ValidationError({"slug": _("Another project is also called so.")})
    return slug


def lock_names() -> None:
    """One change of names at a time: no unique index reaches over the two tables. Where there is no project yet, there
    is no alias either, and the index of slugs is enough."""
    list(Project.objects.select_for_update().order_by("pk").values_list("pk", flat=True)[:1])


@transactional
def rename_project(*, by: Manager, project: Project, name: str, slug: str | None = None) -> Project:
    """A changed slug leaves the old one as an alias: every address and every agent that knew it still arrives."""
    by.require(project)
    name = checked_name(name)
    lock_names()
    locked = lock_project(project)
    if locked.name != name:
        before, locked.name = locked.name, name
        locked.save(update_fields=["name"])
        note(by, AccessVerb.RENAME_PROJECT, project, name, before=before, after=name)
    if slug and locked.slug != slug:
        before, locked.slug = locked.slug, checked_slug(slug, project=locked)
        locked.aliases.filter(slug=slug).delete()
        locked.save(update_fields=["slug"])
        locked.aliases.create(slug=before)
        note(by, AccessVerb.RENAME_PROJECT, project, slug, before=before, after=slug)
    return locked


@transactional
def add_alias(*, by: Manager, project: Project, name: str) -> ProjectAlias:
    """`name` may be an address of a repository; it is kept as the slug that it is read as. Again: nothing changes."""
    by.require(project)
    slug = slug_of(name) if "\x00" not in name else ""
    if not slug:
        raise ValidationError({"slug": _("An alias has letters or digits.")})
    lock_names()
    locked = lock_project(project)
    if locked.slug == slug:
        raise ValidationError({"slug": _("The project is called so already.")})
    known = locked.aliases.filter(slug=slug).first()
    if known is not None:
        return known
    if locked.aliases.count() >= ALIASES_MOST:
        raise ValidationError({"slug": _("At most %s aliases.") % ALIASES_MOST})
    made = locked.aliases.create(slug=checked_slug(slug, project=locked))
    note(by, AccessVerb.ADD_ALIAS, project, slug)
    return made


@transactional
def remove_alias(*, by: Manager, project: Project, alias: ProjectAlias) -> None:
    """Addresses and agents that use it are told that there is no such project."""
    by.require(project)
    lock_names()
    gone, _tables = ProjectAlias.objects.filter(pk=alias.pk, project=project).delete()
    if gone:
        note(by, AccessVerb.REMOVE_ALIAS, project, alias.slug)
