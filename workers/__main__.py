"""`python -m workers [all|people|bots]`: one worker process. Something outside starts it again when it ends."""

import os
import sys

from service.observability.logfmt import log_to_stderr
from service.settings import read
from workers.process import ROLES, run

if __name__ == "__main__":
    log_to_stderr()
    wanted = sys.argv[1] if len(sys.argv) > 1 else "all"
    role = next((role for role in ROLES if role == wanted), None)
    sys.exit(f"{wanted} is none of {', '.join(ROLES)}" if role is None else run(read(os.environ), role))
