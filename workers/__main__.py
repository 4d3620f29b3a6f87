"""`python -m workers`: one worker process. Something outside starts it again when it ends."""

import os
import sys

from service.log_lines import log_to_stderr
from service.settings import read
from workers.process import run

if __name__ == "__main__":
    log_to_stderr()
    sys.exit(run(read(os.environ)))
