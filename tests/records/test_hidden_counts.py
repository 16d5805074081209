"""What is shown is counted as all less what is hidden: the same as counting it, whatever hides a record."""

import pytest
from django.http import QueryDict
from django.utils import timezone

from decisions.filters import DecisionFilterSet
from decisions.models import Decision
from desk.counts import KindCount, counts_of
from records.guard import writing
from records.kinds import all_kinds
from records.models import ACTIVE, ReviewState

pytestmark = [pytest.mark.database, pytest.mark.django_db]

ASKED = [
    "",
    "status=accepted",
    "review=rejected",
    "review=rejected&review=approved",
    "show=all",
    "show=hidden",
]


@pytest.fixture
def decisions(project, other_project):
    """Of each state of review one that is there, one archived, one merged away, one both; in two projects."""
    made = [
        Decision(
            project=where,
            title=f"{state}",
            decision="So be it.",
            status=status,
            decided_at=timezone.now(),
            sort_at=timezone.now(),
            review_state=state,
            archived_at=archived,
            merged_into=merged,
        )
        for where in (project, other_project)
        for status in ("accepted", "pending")
        for state in ReviewState.values
        for archived in (None, timezone.now())
        for merged in (None, "dec_1")
    ]
    with writing():
        Decision.objects.bulk_create(made)
    return Decision.objects.filter(project=project)


@pytest.fixture(params=[10_000, 5, 1], ids=lambda most: f"exact to {most}")
def exact_to(request, monkeypatch):
    for module in ("records.paging", "records.filters", "desk.counts"):
        monkeypatch.setattr(f"{module}.COUNT_EXACT_TO", request.param)
    monkeypatch.setattr("desk.counts.WHOLE_UP_TO", 2 * request.param + 1)
    return request.param


def test_hidden_is_all_that_is_not_active(decisions):
    hidden = set(decisions.hidden().values_list("pk", flat=True))
    active = set(decisions.filter(ACTIVE).values_list("pk", flat=True))
    assert not hidden & active
    assert len(hidden) + len(active) == decisions.count() == 32
    assert len(active) == 4


@pytest.mark.parametrize("asked", ASKED)
def test_a_list_counts_what_it_shows(decisions, project, asked, exact_to):
    filters = DecisionFilterSet(QueryDict(asked), queryset=decisions, project_id=project.pk)
    shown, hidden = filters.counts()
    assert shown == min(filters.rows().count(), exact_to + 1)
    everything = DecisionFilterSet(
        QueryDict(f"{asked}&show=all"), queryset=decisions, project_id=project.pk
    ).rows()
    wanted = 0 if "show=" in asked else everything.count() - filters.rows().count()
    assert hidden == min(wanted, exact_to + 1)


def test_the_frame_counts_the_same(decisions, project, exact_to):
    counted = counts_of(project, 0)[0]["decision"]
    active = decisions.active()
    assert counted.count == min(active.count(), exact_to + 1)
    assert counted.waiting == min(active.filter(review_state="unreviewed").count(), exact_to + 1)


def test_the_frame_has_room_for_what_is_not_counted_exactly(client, viewer_user, project, monkeypatch):
    many = {kind.name: KindCount(kind, 10_001, 10_001) for kind in all_kinds()}
    monkeypatch.setattr("desk.context.counts_of", lambda *_asked: (many, 10_001))
    client.force_login(viewer_user)
    page = client.get(f"/p/{project.slug}/decisions/").content.decode()
    rail = page[page.index('id="rail"') : page.index("</nav>", page.index('id="rail"'))]
    assert rail.count("10k+") == 11  # the inbox; of five kinds all and those that wait
    assert "10,00" not in rail
