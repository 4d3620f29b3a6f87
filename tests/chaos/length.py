"""How long the fault tests last: CHAOS_LENGTH times their short form, which `make test` runs."""

import os
from typing import Final

LENGTH: Final = int(os.environ.get("CHAOS_LENGTH", "1"))
LONG: Final = LENGTH > 1
