"""The tests tested: faults that somebody could build in, each of which a named test must find (`make mutations`)."""

from typing import Final

from tests.chaos.mutations_told import TOLD
from tests.chaos.mutations_written import WRITTEN

MUTATIONS: Final = (*TOLD, *WRITTEN)
