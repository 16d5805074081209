"""`manage.py embed` fills in what is missing, says how far it is, and does nothing twice."""

import pytest
from django.core.management import CommandError, call_command

from decisions.actions import create_decision
from graph.worker import Worker
from graph.worker_thread import drain
from recall.encoders import EncoderUnavailable
from recall.models import Embedding, Similarity
from records.models import ProjectionMark

pytestmark = [pytest.mark.database, pytest.mark.django_db]


@pytest.fixture
def decisions(agent, project):
    made = [
        create_decision(actor=agent, project=project, title=f"Use Redis {n}", decision="Cache totals.")
        for n in range(5)
    ]
    assert drain(timeout=30) == 0
    return made


def embed(capsys, *arguments):
    call_command("embed", *arguments)
    return capsys.readouterr().out


def test_records_without_a_vector_get_one_and_their_lists(decisions, capsys):
    Embedding.objects.all().delete()
    Similarity.objects.all().delete()
    said = embed(capsys)
    assert "5 records have no vector" in said
    assert "5 of 5 embedded" in said
    assert "Done: 0 records without a vector, 0 of them given up" in said
    assert Embedding.objects.filter(part=0).count() == 5
    assert Similarity.objects.count() == 20


def test_a_second_run_changes_nothing(decisions, capsys):
    before = (
        set(Embedding.objects.values_list("id", flat=True)),
        set(Similarity.objects.values_list("id", flat=True)),
    )
    said = embed(capsys, "--similarities")
    assert "0 records have no vector" in said
    assert "shop: compared the lists of 5 records" in said
    after = (
        set(Embedding.objects.values_list("id", flat=True)),
        set(Similarity.objects.values_list("id", flat=True)),
    )
    assert before == after
    assert set(ProjectionMark.objects.values_list("wanted_version", flat=True)) == {1}


def test_vectors_of_another_model_are_replaced_and_go_when_asked(decisions, capsys):
    Embedding.objects.update(model="older")
    embed(capsys)
    assert Embedding.objects.filter(model="older").count() == 10
    assert Embedding.objects.exclude(model="older").count() == 10
    assert "Deleted 10 vectors" in embed(capsys, "--forget-other-models")
    assert not Embedding.objects.filter(model="older").exists()


def test_one_project_only(decisions, other_project, capsys):
    Embedding.objects.all().delete()
    assert "0 records have no vector" in embed(capsys, "--project", "bank")
    assert not Embedding.objects.exists()
    with pytest.raises(CommandError, match="nowhere"):
        call_command("embed", "--project", "nowhere")


def test_what_already_waits_is_worked_off_and_not_asked_for_twice(agent, project, capsys):
    create_decision(actor=agent, project=project, title="Waits", decision="D")
    said = embed(capsys)
    assert "0 records have no vector" in said
    assert "1 of 1 embedded" in said
    assert ProjectionMark.objects.get().wanted_version == 1


def test_without_an_encoder_it_says_what_to_install(agent, project, monkeypatch):
    create_decision(actor=agent, project=project, title="Waits", decision="D")

    def missing(self):
        raise EncoderUnavailable("pip install onnxruntime")

    monkeypatch.setattr(Worker, "work_once", missing)
    with pytest.raises(CommandError, match="pip install onnxruntime"):
        call_command("embed")


def test_a_wrong_encoder_is_said_at_once(settings, db):
    settings.ENCODER = "magic"
    with pytest.raises(CommandError, match="no encoder 'magic'"):
        call_command("embed")
