"""Links that the documents write: made, kept from those that people took back, and taken back."""

from __future__ import annotations

import pytest

from decisions.models import Decision
from records.links import unlink
from records.models import Link
from tests.transfer.adr_folder import CACHE, NO_CACHE, run, traces

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def test_supersedes_becomes_a_link_and_the_words_of_the_record_stay(folder, project):
    (folder / "0002-no-cache.md").write_text(NO_CACHE, encoding="utf-8")
    report = run(folder, project)
    made = Link.objects.get(project=project)
    old, new = (Decision.objects.get(title=title) for title in ("Use a cache", "No cache"))
    assert (made.source, made.relation, made.target) == (new.node_id, "SUPERSEDES", old.node_id)
    assert old.status == "accepted"
    said = next(file for file in report.files if file.path == "0001-cache.md").records[0].said
    assert said == ["another record says it supersedes this one, whose own status is accepted"]


def test_a_record_without_a_status_is_superseded_by_what_supersedes_it(folder, project):
    (folder / "0001-cache.md").write_text(CACHE.replace("Status: accepted\n", ""), encoding="utf-8")
    (folder / "0002-no-cache.md").write_text(NO_CACHE, encoding="utf-8")
    run(folder, project)
    assert Decision.objects.get(title="Use a cache").status == "superseded"
    before = traces(project)
    run(folder / "0001-cache.md", project)  # alone: what was read before still holds
    assert traces(project) == before


def test_a_file_alone_is_linked_to_records_imported_before(folder, project):
    run(folder, project)
    (folder / "0002-no-cache.md").write_text(NO_CACHE, encoding="utf-8")
    report = run(folder / "0002-no-cache.md", project)
    assert (report.links.made, report.gone) == (1, [])
    assert Decision.objects.filter(project=project).count() == 2


def test_a_link_that_a_person_took_back_is_not_made_again(folder, project, curator):
    (folder / "0002-no-cache.md").write_text(NO_CACHE, encoding="utf-8")
    run(folder, project)
    made = Link.objects.get(project=project)
    ends = {decision.node_id: decision for decision in Decision.objects.filter(project=project)}
    unlink(made, ends[made.source], ends[made.target], actor=curator, reason="Not so.")
    report = run(folder, project)
    assert not Link.objects.filter(project=project).exists()
    assert "unlinked by a person" in report.links.said[0]


def test_a_link_that_the_documents_no_longer_write_is_taken_back(folder, project):
    (folder / "0002-no-cache.md").write_text(NO_CACHE, encoding="utf-8")
    run(folder, project)
    (folder / "0002-no-cache.md").write_text(NO_CACHE.partition("Supersedes")[0], encoding="utf-8")
    report = run(folder, project)
    assert report.links.removed == 1
    assert not Link.objects.filter(project=project).exists()
