"""The length of tests marked `long`: `make test` runs the short form (1); `make long` sets TEST_LENGTH to a multiple."""

import os
from typing import Final

LENGTH: Final = int(os.environ.get("TEST_LENGTH", "1"))
LONG: Final = LENGTH > 1
