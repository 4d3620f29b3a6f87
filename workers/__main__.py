"""`python -m workers [all|people|bots]`: one worker process. A supervisor outside starts it again when it ends."""

import os
import sys

from service.adapters.uncollected import uncollected

with uncollected():
    from service.observability.logfmt import log_to_stderr
    from service.settings import read
    from workers.process import ROLES, run

if __name__ == "__main__":
    log_to_stderr()
    wanted = sys.argv[1] if len(sys.argv) > 1 else "all"
    role = next((role for role in ROLES if role == wanted), None)
    sys.exit(f"{wanted} is not one of {', '.join(ROLES)}" if role is None else run(read(os.environ), role))
