"""The settings of a desk that is broken on purpose: FAULTS_MUTANT or FAULTS_PLANT names how. Read by child processes."""

import os

from tests.faults import mutants

mutants.apply(os.environ.get("FAULTS_MUTANT", ""), os.environ.get("FAULTS_PLANT", ""))

from memory_site.settings import *  # noqa: E402, F403
