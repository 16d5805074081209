"""Every mutant still fits the code that it patches."""

import importlib.util

import pytest

from tests.faults.mutants import MUTANTS, PLANTS, patched


@pytest.mark.parametrize("name", [*MUTANTS, *PLANTS])
def test_each_patch_fits_the_code_once_and_compiles(name):
    for module, patches in (MUTANTS | PLANTS)[name].items():
        path = importlib.util.find_spec(module).origin
        with open(path) as source:
            compile(patched(source.read(), patches), path, "exec")
