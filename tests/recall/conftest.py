"""One record to embed, and real texts: prose and code of the packages that the project depends on anyway."""

import re
from importlib import metadata
from pathlib import Path

import pytest

from decisions.actions import create_decision
from recall.words import keep_words
from tests.recall.searched import TEXTS


@pytest.fixture
def decision(agent, project):
    return create_decision(actor=agent, project=project, title="Use Redis", decision="Cache totals.")


@pytest.fixture
def texts(agent, project):
    made = {
        name: create_decision(actor=agent, project=project, title=title, decision=text)
        for name, (title, text) in TEXTS.items()
    }
    keep_words(list(made.values()))
    return made


@pytest.fixture(scope="session")
def real_passages():
    """passages(count): paragraphs of 200 to 1,200 characters that somebody wrote, the same on each call."""

    def passages(count):
        found = []
        for package in (
            "django",
            "hypothesis",
            "numpy",
            "djangorestframework",
            "huggingface-hub",
            "onnxruntime",
        ):
            for text in _written_in(package):
                found += [part for part in re.split(r"\n\s*\n", text) if 200 <= len(part.strip()) <= 1200]
        assert len(found) >= count
        return [found[at * len(found) // count].strip() for at in range(count)]

    return passages


def _written_in(package):
    distribution = metadata.distribution(package)
    yield distribution.metadata.get_payload() or ""
    # Docstrings of their modules: prose about software, as records are.
    for file in sorted(distribution.files or [], key=str)[:400]:
        if file.suffix == ".py" and "test" not in str(file):
            source = Path(str(file.locate())).read_text(errors="replace")
            yield "\n\n".join(re.findall(r'"""(.+?)"""', source, re.DOTALL))
