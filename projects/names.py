"""What a project is called: its slug, and aliases, since agents name the same repository three ways.

A name that is neither is read as a slug is made: `git@github.com:acme/Shop.git` and `https://github.com/acme/shop` are
both `github-com-acme-shop`. So one alias takes in every spelling of an address.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

from django.db.models import QuerySet
from django.utils.text import slugify
from django.utils.translation import gettext as _

from projects.models import Project, ProjectAlias

LONGEST = 100
# The scheme and who signs in: they say how to reach a repository, not which one it is.
HOW_TO_REACH = re.compile(r"^[a-z][a-z0-9+.-]*://(?:[^/@]*@)?|^[^/@:\s]+@(?=[^/@:\s]+:)", re.IGNORECASE)


def slug_of(name: str) -> str:
    """The slug that a name or the address of a repository is read as; "" where nothing is left of it."""
    text = HOW_TO_REACH.sub("", name.strip()).rstrip("/").removesuffix(".git")
    return slugify(re.sub(r"[\s/\\:._~-]+", "-", text)).strip("-_")[:LONGEST].strip("-")


def project_named(name: str) -> Project | None:
    """The project of this slug, or of this alias."""
    if not name or len(name) > 4 * LONGEST or "\x00" in name:
        return None
    if found := _of_slug(name):
        return found
    spelt = slug_of(name)
    alias = _alias([name, spelt], ProjectAlias.objects.select_related("project"))
    return alias.project if alias else _of_slug(spelt)


def named_among(projects: Iterable[Project], name: object) -> Project | None:
    """The one of these projects that is called so."""
    if not isinstance(name, str) or "\x00" in name:
        return None
    known = list(projects)
    by_slug = {project.slug: project for project in known}
    if name in by_slug:
        return by_slug[name]
    spelt = slug_of(name)
    alias = _alias([name, spelt], ProjectAlias.objects.filter(project__in=known)) if known else None
    return next((one for one in known if alias and one.pk == alias.project_id), None) or by_slug.get(spelt)


def must_be_one_of(projects: Iterable[Project], name: object) -> str:
    """Why a name was refused: the projects there are, and the one that was probably meant."""
    known = sorted(project.slug for project in projects)
    said = _("Must be one of this token's projects: %s.") % (", ".join(known) or "-")
    near = get_close_matches(slug_of(str(name)[: 4 * LONGEST]), known, n=1) if name else []
    return f"{said} {_('Did you mean %s?') % near[0]}" if near else said


def _of_slug(slug: str) -> Project | None:
    return Project.objects.filter(slug=slug).first()


def _alias(names: list[str], among: QuerySet[ProjectAlias]) -> ProjectAlias | None:
    """The alias that is the first of the names: what was said, before what it is read as."""
    found = {alias.slug: alias for alias in among.filter(slug__in=names)}
    return next((found[name] for name in names if name in found), None)
