"""Several actors create, edit, review, archive, link, supersede, vote, merge, undo, restore and erase in any order: the
database says what plain dicts say, and every version is in the history."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from decisions.actions import create_decision, edit_decision, supersede
from patterns.actions import create_pattern, edit_pattern, record_evidence
from projects.models import Membership, Project, Role, User
from records.acts import one_act
from records.erasing import erase
from records.errors import Refused
from records.images import image_of
from records.kinds import kind_named
from records.links import link
from records.merging import merge
from records.models import Link, Revision
from records.queries import records_by_node_id
from records.restoring import restore_version
from records.undo import undo
from records.verbs import archive, restore, review
from tests.conftest import make_token, person
from tests.records.curation_model import Model

pytestmark = pytest.mark.django_db
WORDS = st.sampled_from(["red", "blue", "green"])
TAGS = st.lists(st.sampled_from("abc"), max_size=2, unique=True).map(tuple)
STATES = st.sampled_from(["approved", "rejected", "quarantined", "unreviewed"])
PICK = st.integers(0, 99)
PREFIX = st.sampled_from(["dec", "pat"])


class Curation(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.atomic = transaction.atomic()
        self.atomic.__enter__()
        self.model = Model()
        self.names = 0
        self.project = Project.objects.create(name="M", slug="machine")
        users = {}
        for role in (Role.CURATOR, Role.ADMIN):
            users[role] = User.objects.create(username=f"m-{role}")
            Membership.objects.create(user=users[role], project=self.project, role=role)
        token, _text = make_token(self.project)
        from records.actor import Actor

        self.people = {"cleo": person(users[Role.CURATOR]), "ada": person(users[Role.ADMIN])}
        self.actors = {**self.people, "bot": Actor.agent(token)}

    def teardown(self) -> None:
        if hasattr(self, "atomic"):
            transaction.set_rollback(True)
            self.atomic.__exit__(None, None, None)

    # --- What hypothesis chooses from ------------------------------------------------------------------------
    def pick(self, nodes: list[str], at: int) -> str:
        return nodes[at % len(nodes)]

    def record(self, node: str):
        return records_by_node_id([node])[node]

    def who(self, at: int, *, reviews: bool = False):
        actors = self.people if reviews else self.actors
        return list(actors.values())[at % len(actors)]

    def some(self, *, prefix: str = "", least: int = 1, merged_too: bool = False) -> bool:
        return len(self.model.live(prefix, merged_too=merged_too)) >= least

    # --- Verbs -----------------------------------------------------------------------------------------------
    @rule(prefix=PREFIX, tags=TAGS, who=PICK)
    def create(self, prefix, tags, who):
        self.names += 1
        actor, title = self.who(who), f"T{self.names}"
        with one_act() as act:
            if prefix == "dec":
                made = create_decision(
                    actor=actor, project=self.project, title=title, decision=title, tags=list(tags)
                )
            else:
                made = create_pattern(
                    actor=actor,
                    project=self.project,
                    name=title,
                    category="c",
                    description=title,
                    tags=list(tags),
                )
        is_person = actor.user is not None
        self.model.create(act, made.node_id, {
            "title": title, "more": None, "tags": tags, "status": "accepted", "trust": 1.0 if is_person else 0.5,
            "review": ("approved", next(self.model.stamps)) if is_person else ("unreviewed", None),
        })  # fmt: skip

    @precondition(lambda self: self.some())
    @rule(at=PICK, title=WORDS, more=WORDS, tags=TAGS, who=PICK)
    def edit(self, at, title, more, tags, who):
        node = self.pick(self.model.live(), at)
        changes = {"tags": list(tags)}
        with one_act() as act:
            if node.startswith("dec"):
                changes |= {"title": title, "rationale": more}
                edit_decision(actor=self.who(who), decision=self.record(node), changes=changes)
            else:
                changes |= {"name": title, "code_example": more}
                edit_pattern(actor=self.who(who), pattern=self.record(node), changes=changes)
        self.model.change(act, node, title=title, more=more, tags=tags)

    @precondition(lambda self: self.some())
    @rule(at=PICK, state=STATES, who=PICK)
    def review(self, at, state, who):
        node = self.pick(self.model.live(), at)
        with one_act() as act:
            review([self.record(node)], state, actor=self.who(who, reviews=True), reason="why")
        if self.model.records[node]["review"][0] != state:
            stamp = None if state == "unreviewed" else next(self.model.stamps)
            self.model.change(act, node, review=(state, stamp))

    @precondition(lambda self: self.some())
    @rule(at=PICK, away=st.booleans(), who=PICK)
    def archive_or_restore(self, at, away, who):
        node = self.pick(self.model.live(), at)
        with one_act() as act:
            (archive if away else restore)([self.record(node)], actor=self.who(who))
        if away != bool(self.model.records[node]["archived"]):
            self.model.change(act, node, archived=next(self.model.stamps) if away else None)

    @precondition(lambda self: self.some(least=2, merged_too=True))
    @rule(at=PICK, step=st.integers(1, 9), who=PICK)
    def relate(self, at, step, who):
        nodes = self.model.live(merged_too=True)
        one, two = self.pick(nodes, at), self.pick(nodes, at + step)
        ends = {self.model.survivor(one), self.model.survivor(two)}
        if len(ends) < 2 or any(self.model.records[end]["erased"] for end in ends):
            return
        with one_act() as act:
            link(self.record(one), "RELATES_TO", self.record(two), actor=self.who(who))
        self.model.link(act, "RELATES_TO", one, two)

    @precondition(lambda self: self.some(prefix="dec", least=2))
    @rule(at=PICK, step=st.integers(1, 9), who=PICK)
    def supersede(self, at, step, who):
        nodes = self.model.live("dec")
        old, new = self.pick(nodes, at), self.pick(nodes, at + step)
        if old == new:
            return
        if self.model.leads(old, new):
            with pytest.raises(Refused):
                supersede(actor=self.who(who), decision=self.record(old), by=self.record(new))
            return
        with one_act() as act:
            supersede(actor=self.who(who), decision=self.record(old), by=self.record(new))
        self.model.change(act, old, status="superseded")
        self.model.link(act, "SUPERSEDES", new, old)

    @precondition(lambda self: self.some(prefix="pat", merged_too=True))
    @rule(at=PICK, worked=st.booleans(), who=PICK)
    def vote(self, at, worked, who):
        node = self.pick(self.model.live("pat", merged_too=True), at)
        if self.model.records[self.model.survivor(node)]["erased"]:
            return
        with one_act() as act:
            record_evidence(actor=self.who(who), pattern=self.record(node), worked=worked)
        self.model.vote(act, node, worked)

    @precondition(lambda self: max(len(self.model.mergeable(prefix)) for prefix in ("dec", "pat")) > 1)
    @rule(at=PICK, number=st.integers(1, 2), title=PICK, who=PICK)
    def merge(self, at, number, title, who):
        prefix = max(("dec", "pat"), key=lambda name: len(self.model.mergeable(name)))
        nodes = self.model.mergeable(prefix)
        chosen = [nodes[(at + n) % len(nodes)] for n in range(min(number + 1, len(nodes)))]
        into, *others = chosen
        title_of = self.pick(chosen, title)
        records = records_by_node_id(chosen)
        with one_act() as act:
            merge(
                records[into], [records[other] for other in others], actor=self.who(who, reviews=True),
                choices={"title" if prefix == "dec" else "name": title_of},
            )  # fmt: skip
        self.model.merge(act, into, others, title_of)

    @precondition(lambda self: self.model.acts)
    @rule(at=PICK, who=PICK)
    def undo(self, at, who):
        undone = list(self.model.acts)[
            -1 - at % len(self.model.acts)
        ]  # hypothesis likes small numbers: the newest
        with one_act() as act:
            try:
                with transaction.atomic():
                    outcome = undo(undone, actor=self.who(who, reviews=True))
            except Refused:
                outcome = None
        refused = self.model.undo(act, undone)
        assert (refused is None) == (outcome is None)
        if outcome is not None:
            assert {node for node, _why in outcome.refused} == refused

    @precondition(lambda self: self.some())
    @rule(at=PICK, back=PICK, who=PICK)
    def restore_version(self, at, back, who):
        node = self.pick(self.model.live(), at)
        version = 1 + back % self.model.records[node]["version"]
        image = Revision.objects.get(node_id=node, version=version).after
        with one_act() as act:
            restore_version(self.record(node), version, actor=self.who(who))
        title, more = ("title", "rationale") if node.startswith("dec") else ("name", "code_example")
        words = {"title": image[title], "more": image[more], "tags": tuple(image["tags"] or ())}
        status = {"status": image["status"]} if node.startswith("dec") else {}
        self.model.change(act, node, **words, **status)

    @precondition(lambda self: self.some(least=4))
    @rule(at=PICK)
    def erase(self, at):
        node = self.pick(self.model.live(), at)
        erase([self.record(node)], actor=self.people["ada"], reason="Somebody asked for it.")
        self.model.records[node]["erased"] = True

    # --- What must agree ---------------------------------------------------------------------------------------
    @invariant()
    def the_database_says_the_same(self):
        if not hasattr(self, "model"):
            return
        records = records_by_node_id(self.model.records)
        for node, wanted in self.model.records.items():
            record = records[node]
            if wanted["erased"]:
                assert record.archived_at is not None
                assert "T" not in (record.heading or "")
                continue
            is_decision = node.startswith("dec")
            said = {
                "title": record.heading, "more": record.rationale if is_decision else record.code_example,
                "tags": tuple(record.tags or ()), "trust": record.trust, "version": record.version,
                "status": record.status if is_decision else "accepted", "merged": record.merged_into,
            }  # fmt: skip
            assert said == {name: wanted[name] for name in said}, node
            assert (record.review_state, bool(record.archived_at)) == (
                wanted["review"][0],
                bool(wanted["archived"]),
            )
            assert bool(record.reviewed_at) == (wanted["review"][1] is not None)
            if not is_decision and not record.merged_into:
                worked, failed = self.model.tally(node)
                assert (record.worked_count, record.failed_count, record.usage_count) == (
                    worked, failed, worked + failed,
                ), node  # fmt: skip
                assert record.confidence_score == pytest.approx((0.5 * 4 + worked) / (4 + worked + failed))
            versions = list(
                Revision.objects.filter(node_id=node, version__isnull=False).order_by("version").values_list(
                    "version", "after"
                )
            )  # fmt: skip
            assert [version for version, _after in versions] == list(range(1, record.version + 1))
            assert versions[-1][1] == image_of(record)
        links = {(row.relation, row.source, row.target) for row in Link.objects.all()}
        assert links == self.model.links


def machine(examples: int, steps: int) -> None:
    assert kind_named("pattern").counted is not None
    run_state_machine_as_test(
        Curation,
        settings=settings(
            max_examples=examples, stateful_step_count=steps, deadline=None, suppress_health_check=[*HealthCheck],
            derandomize=examples < 50,
        ),
    )  # fmt: skip


def test_any_order_of_acts_agrees_with_plain_dicts(db):
    machine(examples=8, steps=25)


@pytest.mark.slow
def test_many_orders_of_acts_agree_with_plain_dicts(db):
    machine(examples=60, steps=40)
