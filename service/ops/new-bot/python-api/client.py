"""The part of the service's API that a bot needs, with nothing but Python's standard library."""

import json
import time
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import Request, urlopen

TIMEOUT_S = 15
"""The service sends something every few seconds; after so much silence the connection is lost."""
RETRY_DELAY_S = 1
SAME_NOTE_AFTER_S = 60
"""The same delay is printed again only after so long."""


class Refused(Exception):
    """The service answered with a problem. `code` is stable; the message says what is wrong and what would be right."""

    def __init__(self, problem, status=0, retry_after=None):
        super().__init__(problem.get("detail") or problem.get("title") or f"status {status}")
        self.code = problem.get("code", "")
        self.is_temporary = status in {429, 502, 503, 504}
        self.retry_after_s = float(retry_after or RETRY_DELAY_S)


class NoService(Exception):
    """The service does not answer; the message says why."""


class Client:
    """One player of a service. `url` is such as http://127.0.0.1:8080; `token` is that of an existing player."""

    def __init__(self, url, token=""):
        self.url = url.rstrip("/").removesuffix("/v1") + "/v1"
        self.token = token
        self._noted = {}

    def sign_up(self, name):
        """Create a player, and be that player from now on. Raises Refused, and NoService."""
        self.token = self._first("/players", {"name": name})["token"]

    def check(self):
        """Ask who this player is. Raises Refused if the token is wrong, and NoService."""
        self._first("/me", None)

    def get(self, path):
        return self._repeated(path, None, {})

    def post(self, path, body, key):
        """Send a command. It is repeated until it is answered; with the same key it is carried out only once.

        Raises Refused.
        """
        return self._repeated(path, body, {"Idempotency-Key": key})

    def frames(self):
        """Yield the frames of the player's stream, forever.

        It connects again after each interruption, and misses nothing.
        """
        after = ""
        while True:
            try:
                with self._open(
                    f"/me/stream?include=legal_actions{after}", None, {"Accept": "application/x-ndjson"}
                ) as stream:
                    for line in stream:
                        if not line.strip():
                            continue  # a sign of life
                        frame = json.loads(line)
                        after = f"&after={frame['cursor']}" if "cursor" in frame else after
                        yield frame
            except HTTPError as error:
                self._wait(_problem(error))
            except (OSError, HTTPException) as error:
                self._note(f"connecting again: {error}")
            time.sleep(RETRY_DELAY_S)

    def _first(self, path, body):
        """The answer to the first request. It is not repeated, because the address may be wrong."""
        try:
            return self._answer(path, body)
        except HTTPError as error:
            raise _problem(error) from None
        except (OSError, HTTPException, ValueError) as error:
            raise NoService(getattr(error, "reason", error)) from None

    def _repeated(self, path, body, headers):
        while True:
            try:
                return self._answer(path, body, headers)
            except HTTPError as error:
                self._wait(_problem(error))
            except (OSError, HTTPException) as error:
                self._note(f"sending again: {error}")
                time.sleep(RETRY_DELAY_S)

    def _wait(self, problem):
        """Wait as long as the service asks for. Raises the problem if a repeated request would get it again."""
        if not problem.is_temporary:
            raise problem
        self._note(f"waiting: {problem}")
        time.sleep(problem.retry_after_s)

    def _note(self, text):
        """Print what delays the bot."""
        now = time.monotonic()
        if text not in self._noted or now - self._noted[text] >= SAME_NOTE_AFTER_S:
            self._noted[text] = now
            print(text)

    def _answer(self, path, body, headers=None):
        with self._open(path, body, headers or {}) as response:
            return json.load(response)

    def _open(self, path, body, headers):
        data = None if body is None else json.dumps(body).encode()
        every = {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"}
        if not self.token:
            del every["Authorization"]
        return urlopen(Request(self.url + path, data, {**every, **headers}), timeout=TIMEOUT_S)


def _problem(error):
    """The problem document of an answer, as a Refused."""
    with error:
        try:
            problem = json.load(error)
        except ValueError:
            problem = {}
    return Refused(problem, error.code, error.headers.get("Retry-After"))
