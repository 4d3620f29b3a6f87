"""How long the tests that are marked `long` last: `make test` runs their short form, `make long` one so many times as long."""

import os
from typing import Final

LENGTH: Final = int(os.environ.get("TEST_LENGTH", "1"))
LONG: Final = LENGTH > 1
