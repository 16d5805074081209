"""What the shared floors know of pitfalls."""

from django.utils.translation import gettext_lazy as _

from pitfalls.filters import PitfallFilterSet
from pitfalls.models import Encounter, Pitfall
from records.counted import Counted
from records.kinds import Kind, register

SEVERITY_POINTS = {"critical": 25, "high": 15}


def pitfall_body(pitfall: Pitfall) -> str:
    parts = [
        pitfall.description,
        f"## How to avoid it\n\n{pitfall.how_to_avoid}" if pitfall.how_to_avoid else None,
    ]
    return "\n\n".join(filter(None, parts))


PITFALL = register(
    Kind(
        name="pitfall",
        sections="pitfalls/_pitfall.html",
        filterset=PitfallFilterSet,
        prefix="pit",
        label=_("pitfall"),
        label_plural=_("pitfalls"),
        pack_section="pitfalls",
        model=Pitfall,
        url_name="pitfalls:detail",
        list_url_name="pitfalls:list",
        summary_of=lambda pitfall: pitfall.description or pitfall.how_to_avoid or "",
        body_of=pitfall_body,
        graph_label="Pitfall",
        headed=("title", "severity"),
        status_column="severity",
        facts_of=lambda pitfall: [("", pitfall.category), (_("met"), str(pitfall.encountered_count))],
        status_of=lambda pitfall: pitfall.severity,
        severity_of=lambda pitfall: (pitfall.severity, SEVERITY_POINTS.get(pitfall.severity, 0)),
        editable=("category", "title", "description", "how_to_avoid", "severity", "tags"),
        counted=Counted(
            model=Encounter,
            parent="pitfall",
            verb_of=lambda encounter: "met_again",
            counts={"met_again": {"encountered_count": 1}},
        ),
        graph_properties=lambda pitfall: {"category": pitfall.category, "severity": pitfall.severity},
    )
)
