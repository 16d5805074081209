"""Answers of the resources that are no record."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from graph.store import Node, Relation
from projects.models import Project, Scope
from records.actor import Actor, Channel, SourceKind
from records.api.fields import KeptJson, in_utc
from records.api.serializers import BriefSerializer, age_in_days
from records.kinds import kind_of
from records.models import Record, ReviewState, Revision


def projects_of(actor: Actor) -> list[Project]:
    """The token's projects, by name."""
    assert actor.token is not None
    return sorted(actor.token.reach, key=lambda project: (project.name, project.pk))


class ProjectSerializer(serializers.Serializer[Any]):
    slug = serializers.CharField(read_only=True)
    name = serializers.CharField(read_only=True)
    url = serializers.SerializerMethodField(help_text=_("The project's page."))

    def get_url(self, project: Project) -> str:
        return settings.SITE_URL + project.get_absolute_url()


class CountsSerializer(serializers.Serializer[Any]):
    active = serializers.IntegerField(
        source="count", read_only=True, help_text=_("10,001: more than 10,000.")
    )
    waiting = serializers.IntegerField(read_only=True, help_text=_("Of these, not yet seen by a person."))


class PolicySerializer(serializers.Serializer[Any]):
    """How the project treats what agents write and recall."""

    quarantine_findings = serializers.BooleanField(read_only=True)
    auto_approve_trust = serializers.FloatField(read_only=True, allow_null=True)
    reviewed_only_recall = serializers.BooleanField(read_only=True)
    stale_after_days = serializers.IntegerField(read_only=True, allow_null=True)
    duplicate_cosine = serializers.FloatField(read_only=True)
    prior_weight = serializers.FloatField(
        read_only=True, help_text=_("Votes that the starting confidence of a pattern counts for.")
    )
    confidence_half_life_days = serializers.IntegerField(read_only=True, allow_null=True)
    keep_reads_days = serializers.IntegerField(read_only=True, allow_null=True)


class ProjectDetailSerializer(ProjectSerializer):
    counts = serializers.DictField(child=CountsSerializer(), read_only=True, help_text=_("By kind."))
    policy = PolicySerializer(read_only=True)


class ProjectListSerializer(serializers.Serializer[Any]):
    results = ProjectSerializer(many=True, read_only=True)


class MeSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(read_only=True, help_text=_("The token's name."))
    agent_name = serializers.CharField(read_only=True, help_text=_("Whom its writes are credited to."))
    ends_in = serializers.CharField(source="hint", read_only=True)
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=Scope.choices), read_only=True)
    trust = serializers.FloatField(read_only=True)
    projects = ProjectSerializer(many=True, read_only=True)
    created_at = serializers.DateTimeField(read_only=True)
    expires_at = serializers.DateTimeField(read_only=True, allow_null=True)
    last_used_at = serializers.DateTimeField(read_only=True, allow_null=True)


class SimilarItemSerializer(BriefSerializer):
    score = serializers.SerializerMethodField(help_text=_("Plain cosine."))
    summary = serializers.SerializerMethodField(
        help_text=_("The first 500 characters of what follows the title.")
    )
    superseded_by = serializers.SerializerMethodField(help_text=_("Of a superseded decision."))
    findings = serializers.SerializerMethodField(help_text=_("What to be wary of in its text, by code."))

    def get_score(self, record: Record) -> float:
        return round(self.context["scores"][record.node_id], 4)

    def get_summary(self, record: Record) -> str:
        return kind_of(record).summary_of(record)[:500]

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_findings(self, record: Record) -> list[str]:
        found = self.context["findings"].get(record.node_id, ())
        return list(dict.fromkeys(finding.code for finding in found))

    @extend_schema_field(BriefSerializer(many=True))
    def get_superseded_by(self, record: Record) -> list[dict[str, Any]]:
        return self.context["successors"].get(record.node_id, [])


class SimilarSerializer(serializers.Serializer[Any]):
    node_id = serializers.CharField(read_only=True)
    answered_by = serializers.CharField(
        read_only=True, help_text=_("The graph store that answered: neo4j or relational.")
    )
    results = SimilarItemSerializer(many=True, read_only=True)


class NodeSerializer(serializers.Serializer[Any]):
    node_id = serializers.CharField(source="id", read_only=True)
    kind = serializers.CharField(read_only=True)
    title = serializers.CharField(read_only=True)
    status = serializers.CharField(read_only=True, allow_null=True)
    review_state = serializers.ChoiceField(choices=ReviewState.choices, read_only=True)
    active = serializers.BooleanField(read_only=True)
    degree = serializers.IntegerField(
        read_only=True, help_text=_("Its neighbours within the filters, among its best hundred relations.")
    )
    has_more = serializers.BooleanField(
        read_only=True, help_text=_("Whether it has more relations than these.")
    )
    hop = serializers.IntegerField(read_only=True, help_text=_("Steps from the record asked about."))
    trust = serializers.SerializerMethodField(help_text=_("0 to 1, from where it came."))
    source_kind = serializers.SerializerMethodField()
    source_name = serializers.SerializerMethodField()
    created_at = serializers.SerializerMethodField()
    age_days = serializers.SerializerMethodField()
    url = serializers.SerializerMethodField()

    def _record(self, node: Node) -> Any:
        """None of one that was deleted since the graph saw it."""
        return self.context["records"].get(node.id)

    def get_trust(self, node: Node) -> float | None:
        return getattr(self._record(node), "trust", None)

    @extend_schema_field(serializers.ChoiceField(choices=SourceKind.choices, allow_null=True))
    def get_source_kind(self, node: Node) -> str | None:
        return getattr(self._record(node), "source_kind", None)

    def get_source_name(self, node: Node) -> str | None:
        return getattr(self._record(node), "source_name", None)

    @extend_schema_field(serializers.DateTimeField(allow_null=True))
    def get_created_at(self, node: Node) -> str | None:
        return in_utc(getattr(self._record(node), "created_at", None))

    def get_age_days(self, node: Node) -> int | None:
        record = self._record(node)
        return None if record is None else age_in_days(record)

    def get_url(self, node: Node) -> str:
        return settings.SITE_URL + reverse("records:node", args=[node.id])


class EdgeSerializer(serializers.Serializer[Any]):
    source = serializers.CharField(read_only=True)  # type: ignore[assignment]
    target = serializers.CharField(read_only=True)
    relation = serializers.ChoiceField(choices=Relation.choices, read_only=True)
    score = serializers.FloatField(read_only=True, allow_null=True, help_text=_("Cosine of a SIMILAR_TO."))


class NeighbourhoodSerializer(serializers.Serializer[Any]):
    center = serializers.CharField(read_only=True)
    total = serializers.IntegerField(read_only=True, help_text=_("Nodes found, shown or not."))
    at_least = serializers.BooleanField(read_only=True, help_text=_("There may be more than total."))
    truncated = serializers.BooleanField(
        read_only=True, help_text=_("There are, or may be, more than shown.")
    )
    nodes = NodeSerializer(many=True, read_only=True)
    edges = EdgeSerializer(many=True, read_only=True)


CHANGES = {
    "type": "object",
    "additionalProperties": {"type": "object", "properties": {"before": {}, "after": {}}},
}


class RevisionSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField(read_only=True)
    verb = serializers.CharField(read_only=True)
    version = serializers.IntegerField(
        read_only=True, allow_null=True, help_text=_("null: an event beside the versions, such as a link.")
    )
    channel = serializers.ChoiceField(choices=Channel.choices, read_only=True)
    by = serializers.CharField(source="actor_name", read_only=True)
    session = serializers.CharField(read_only=True)
    run = serializers.CharField(read_only=True)
    reason = serializers.CharField(read_only=True)
    changes = serializers.SerializerMethodField(help_text=_("By column: before and after."))
    detail = KeptJson()
    created_at = serializers.DateTimeField(read_only=True)

    @extend_schema_field(CHANGES)
    def get_changes(self, revision: Revision) -> dict[str, dict[str, Any]]:
        before = self.context["before"].get(revision.pk, {})
        after = revision.after or {}
        return {name: {"before": before.get(name), "after": after.get(name)} for name in revision.changed}


class HistorySerializer(serializers.Serializer[Any]):
    node_id = serializers.CharField(read_only=True)
    results = RevisionSerializer(many=True, read_only=True)
    next = serializers.IntegerField(
        read_only=True, allow_null=True, help_text=_("Ask for older ones with before=<this>.")
    )
