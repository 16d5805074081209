"""What the queues of records can be narrowed by: kind, agent, finding, and the same line of search as everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django import forms
from django.db.models import IntegerField, Q, QuerySet
from django.db.models.functions import Cast, Substr
from django.http import QueryDict
from django.utils.translation import get_language
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from curation.inbox.asked import Asked
from records.filters import Chip
from records.hygiene.findings import LABELS
from records.kinds import Kind, all_kinds
from records.models import RecordFinding
from records.query_language import LONGEST_QUERY, Query, parse
from records.validation import check_text


class InboxForm(forms.Form):
    """Drawn by templates/_filter_bar.html."""

    q = forms.CharField(
        label=_("Words or a line of search"),
        required=False,
        max_length=LONGEST_QUERY,
        validators=[check_text],
    )
    kind = forms.ChoiceField(label=_("Kind"), required=False)
    by = forms.CharField(label=_("By"), required=False, max_length=255, validators=[check_text])
    findings = forms.ChoiceField(
        label=_("Flagged for"), required=False, choices=[("", "—"), ("any", _("anything")), *LABELS.items()]
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        kinds = [(kind.name, kind.label_plural) for kind in all_kinds()]
        self.fields["kind"].choices = [("", "—"), *kinds]  # type: ignore[attr-defined]


class InboxFilter:
    """`rows` of the attention table, narrowed; `problems` say what cannot be applied, and then there are no rows."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self.form = InboxForm(asked.filters)
        self.problems = {
            name: [_t("There is no such filter.")] for name in asked.filters if name not in self.form.fields
        }
        if not self.form.is_valid():
            self.problems |= {name: [str(m) for m in messages] for name, messages in self.form.errors.items()}
        self._values: dict[str, str] = dict(self.form.cleaned_data) if self.form.is_valid() else {}

    @property
    def drawn_key(self) -> str:
        """What the drawn form depends on."""
        return repr(["inbox", get_language(), sorted(self._asked.filters.lists())])

    def narrowed(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        if self.problems:
            return rows.none()
        values = self._values
        if values.get("kind"):
            rows = rows.filter(kind=values["kind"])
        if values.get("findings"):
            found = RecordFinding.objects.filter(project_id=self._asked.project.pk).order_by()
            if values["findings"] != "any":
                found = found.filter(code=values["findings"])
            rows = rows.filter(node_id__in=found.values("node_id"))
        if values.get("q") or values.get("by"):
            rows = self._named_by_kinds(rows, parse(values["q"]))
        return rows.none() if self.problems else rows

    def _named_by_kinds(self, rows: QuerySet[Any], query: Query) -> QuerySet[Any]:
        """Each kind's own FilterSet finds its records; what no kind can apply is said."""
        if query.problems:
            self.problems["q"] = query.problems
            return rows
        wanted = Q()
        for kind in query.searched_kinds():
            asked = query.parameters_for(kind)
            if asked is not None:
                rows, of_kind = self._of_kind(rows, kind, asked, query)
                wanted |= of_kind
        return rows.filter(wanted) if wanted else rows.none()

    def _of_kind(
        self, rows: QuerySet[Any], kind: Kind, asked: QueryDict, query: Query
    ) -> tuple[QuerySet[Any], Q]:
        project = self._asked.project
        if query.words_alone:
            asked["q"] = query.words_alone
        if self._values.get("by"):
            asked["by"] = self._values["by"]
        asked["show"] = "all"  # the queue itself says what is in it
        records = kind.model._default_manager.filter(project=project)
        found = kind.filterset(asked, queryset=records, project_id=project.pk)
        if found.problems:
            self.problems |= found.problems
            return rows, Q()
        key = Substr("node_id", len(kind.prefix) + 2)
        name = f"key_of_{kind.name}"
        rows = rows.alias(**{name: Cast(key, IntegerField()) if kind.integer_key else key})
        return rows, Q(**{"kind": kind.name, f"{name}__in": found.rows().order_by().values("pk")})

    def chips(self) -> list[Chip]:
        return list(self._chips())

    def _chips(self) -> Iterator[Chip]:
        for name, field in self.form.fields.items():
            value = self._asked.filters.get(name, "")
            if value:
                choices = dict(getattr(field, "choices", ()))
                shown = str(choices.get(value, value))
                gone: dict[str, Any] = {name: None, "cursor": None, "selected": None}
                url = self._asked.url(**gone)
                yield Chip(str(field.label), shown, url)
