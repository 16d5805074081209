"""The history of a record as its page shows it: every act, with word diffs of what changed."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from records.diff import fold, render_diff, word_diff
from records.kinds import kind_named
from records.models import Relation, Revision
from records.queries import images_before, revisions_of
from records.times import shown_time
from records.undo_step import UNDO

PAGE = 20
# Said by the verb itself, with its reason; a diff of them would say it twice.
QUIET_COLUMNS = {
    "reviewed_at",
    "reviewed_by_id",
    "worked_count",
    "failed_count",
    "worked_faded",
    "failed_faded",
    "origin",
}


@dataclass
class Act:
    key: str
    verb: str
    actor: str
    channel: str
    when: datetime
    reason: str
    version: int | None
    node_id: str
    diffs: list[tuple[str, SafeString]] = field(default_factory=list)


VERBS = {
    "create": gettext_lazy("created"),
    "edit": gettext_lazy("edited"),
    "approve": gettext_lazy("approved"),
    "reject": gettext_lazy("rejected"),
    "quarantine": gettext_lazy("quarantined"),
    "unreview": gettext_lazy("sent back to review"),
    "confirm": gettext_lazy("confirmed"),
    "archive": gettext_lazy("archived"),
    "restore": gettext_lazy("restored"),
    "restore_version": gettext_lazy("brought an old version back"),
    "merge": gettext_lazy("merged"),
    "change_status": gettext_lazy("changed the status"),
    "change_severity": gettext_lazy("changed the severity"),
    "supersede": gettext_lazy("superseded"),
    "adjust_confidence": gettext_lazy("adjusted the confidence"),
    "decay": gettext_lazy("let its unused votes fade"),
    "retire": gettext_lazy("retired it"),
    "unretire": gettext_lazy("took it back into use"),
    "worked": gettext_lazy("said it worked"),
    "failed": gettext_lazy("said it failed"),
    "met_again": gettext_lazy("met it again"),
    "undo": gettext_lazy("undid"),
    "link": gettext_lazy("linked"),
    "unlink": gettext_lazy("unlinked"),
    "settle": gettext_lazy("compared"),
    "end": gettext_lazy("ended"),
    "upsert": gettext_lazy("said more of it"),
    "put_context": gettext_lazy("replaced the context"),
    "merge_context": gettext_lazy("changed the context"),
    "append_tool_calls": gettext_lazy("added tool calls"),
    "finish": gettext_lazy("finished"),
    "import": gettext_lazy("imported"),
    "import_conflict": gettext_lazy("found changed in its document, and did not overwrite it"),
    "settle_import": gettext_lazy("settled with its document"),
    "delete": gettext_lazy("deleted"),
    "erase": gettext_lazy("erased it for good"),
    "erase_value": gettext_lazy("erased a part of its text"),
    "purge": gettext_lazy("purged, as the policy of this desk says"),
    "retry_projection": gettext_lazy("had its embedding and graph tried again"),
    "project_again": gettext_lazy("had it embedded and shown in the graph again"),
}

# What was said of two records that stood side by side.
SETTLED = {
    "contradicts": Relation.CONTRADICTS.label,
    "supersedes": Relation.SUPERSEDES.label,
    "duplicates": Relation.DUPLICATE_OF.label,
    "unrelated": gettext_lazy("has nothing to do with"),
}


def history_page(node_id: str, before: int | None = None) -> tuple[list[Act], int | None]:
    """The newest PAGE acts (older than revision `before`), and where the next page starts (None at the end)."""
    revisions = revisions_of(node_id, limit=PAGE + 1, before=before)
    more, revisions = len(revisions) > PAGE, revisions[:PAGE]
    earlier = images_before(revisions)
    return [act_of(revision, earlier.get(revision.pk)) for revision in revisions], revisions[
        -1
    ].pk if more else None


def act_of(revision: Revision, before: dict[str, Any] | None) -> Act:
    """One row of the history in words; with a word diff where the image before it is given."""
    return Act(
        key=revision.verb,
        verb=_verb(revision),
        actor=revision.actor_name,
        channel=revision.get_channel_display(),
        when=revision.created_at,
        reason=revision.reason,
        version=revision.version,
        node_id=revision.node_id,
        diffs=_diffs(revision, before) if before is not None and revision.after is not None else [],
    )


def _verb(revision: Revision) -> str:
    said = str(VERBS.get(revision.verb, revision.verb))
    detail = revision.detail or {}
    if revision.verb == UNDO:
        said = _("did again: %s") if not detail.get("back", True) else _("undid: %s")
        said %= VERBS.get(detail.get("verb", ""), detail.get("verb", ""))
    if "relation" in detail and detail.get("relation") in Relation.values:
        return f"{said}: {detail['source']} {Relation(detail['relation']).label} {detail['target']}"
    if "verdict" in detail:
        return f"{said}: {detail['source']} {SETTLED.get(detail['verdict'], '')} {detail['target']}"
    if "restored" in detail:
        return f"{said}: {detail['restored']}"
    if "confidence_after" in detail:
        return f"{said} ({_('confidence')} {detail['confidence_after']:.2f})"
    return said


def _diffs(revision: Revision, before: dict[str, Any]) -> list[tuple[str, SafeString]]:
    after = revision.after or {}
    columns = {column.attname: column for column in kind_named(revision.kind).model._meta.concrete_fields}
    return [
        (
            str(columns[name].verbose_name).capitalize() if name in columns else name,
            diff_of(before.get(name), after.get(name)),
        )
        for name in revision.changed
        if name not in QUIET_COLUMNS
    ]


def diff_of(before: Any, after: Any) -> SafeString:
    """Two values of a column as words taken out and put in."""
    return render_diff(fold(word_diff(as_text(before), as_text(after))))


def as_text(value: Any) -> str:
    """A column's value in words a person can compare."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return shown_time(value).isoformat(sep=" ", timespec="minutes")
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(value)
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True)
    return str(value)
