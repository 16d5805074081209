"""Columns of ASCII, asked for text that they cannot hold."""

import pytest

from projects.models import Project
from records.models import Attention, Read

pytestmark = [pytest.mark.database, pytest.mark.django_db]
OTHER = ["é", "магазин", "😀", "shop\u202e", "\x80"]


@pytest.mark.parametrize("text", OTHER)
def test_no_row_has_it(project, text):
    assert not Project.objects.filter(slug=text).exists()
    assert list(Project.objects.exclude(slug=text)) == [project]
    assert list(Project.objects.filter(slug__in=[text, "shop"])) == [project]
    assert not Project.objects.filter(slug__in=[text]).exists()
    assert not Attention.objects.filter(node_id=text).exists()


@pytest.mark.parametrize("text", OTHER)
def test_columns_of_any_language_are_asked(text):
    read = Read.objects.create(node_id="dec_1", agent_name=text, door="api")
    assert list(Read.objects.filter(agent_name=text)) == [read]
    assert list(Read.objects.filter(agent_name__in=[text, "x"])) == [read]
