"""Mutations: faults in the sources, each of which must make a named test fail (`make mutations`)."""

from typing import Final

from tests.chaos.mutations_calls import CALLS
from tests.chaos.mutations_visibility import VISIBILITY
from tests.chaos.mutations_written import WRITTEN

MUTATIONS: Final = (*VISIBILITY, *WRITTEN, *CALLS)
