"""Hostile requests, generated from a seed: damaged valid requests, wrong framing, floods, incomplete requests, noise.

None of them may change anything. So each write is forbidden for its sender, a dry run, or invalid because of an unknown
parameter or field. If its bytes are damaged at random, it has both, so that the result is never a valid command.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from random import Random  # noqa: TID251  # it decides nothing in a match
from typing import Any, Final, NamedTuple

from tests.api.bad_inputs import HEADER_VALUES, INVALID_JSON, QUERY_VALUES, percent
from tests.api.bad_values import VALUES
from tests.api.checked import reference

UNKNOWN: Final = "surprise"
"""The name of a parameter and a field that no operation has."""


class Attack(NamedTuple):
    """The pieces to send, and in `then` what the client does with the connection afterwards."""

    kind: str
    pieces: tuple[bytes, ...]
    then: str = "ends"
    """`ends`: it sends nothing more and reads all answers; `closes`: it closes the connection; `lingers`: it keeps it open."""

    @property
    def sent(self) -> bytes:
        return b"".join(self.pieces)


class Target(NamedTuple):
    """What an attacker knows: values for the path parameters, tokens, and a valid body for each operation.

    `running` is a running match, and `stranger` the token of a player without a seat there.
    """

    names: Mapping[str, Sequence[str]]
    tokens: Sequence[str]
    bodies: Mapping[str, Any]
    running: str
    stranger: str


class Attacker:
    """`attack(number)` depends only on the seed and the number, so that a failing attack can be repeated alone."""

    def __init__(self, target: Target, seed: int) -> None:
        self._target = target
        self._seed = seed
        self._operations = {
            (method.upper(), path): [one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"]
            for path, methods in reference()["paths"].items()
            for method, operation in methods.items()
            if method != "parameters"
        }
        self._kinds: tuple[Callable[[Random], Attack], ...] = (
            *(
                self._damaged,
                self._damaged,
                self._field,
                self._field,
                self._field,
                self._header,
                self._query,
                self._query,
            ),
            *(self._framing, self._flood, self._noise, self._incomplete, self._slow, self._pipeline, self._method),
        )

    def attack(self, number: int) -> Attack:
        random = Random(f"{self._seed}/{number}")
        return random.choice(self._kinds)(random)

    def _request(
        self,
        random: Random,
        operation: tuple[str, str] | None = None,
        *,
        method: str = "",
        query: str = "",
        headers: Sequence[tuple[str, str]] = (),
        body: bytes | None = None,
        has_unknown: bool = True,
        forbidden: bool = False,
    ) -> bytes:
        """`forbidden`: the sender is `stranger`, who has no seat in the running match; `has_unknown`: it has an unknown parameter and field."""
        verb, template = operation or random.choice(list(self._operations))
        names = {name: random.choice(values) for name, values in self._target.names.items()}
        token = random.choice(self._target.tokens)
        if forbidden:
            names, token = {**names, "match_id": self._target.running}, self._target.stranger
        lines = [("Host", "moon"), *([("Authorization", f"Bearer {token}")] if token else [])]
        parameters = [query] if query else []
        if verb != "GET" and has_unknown:
            parameters.append(f"{UNKNOWN}=1")
        if verb in {"POST", "PATCH"}:
            if body is None:
                fields = self._target.bodies.get(f"{verb} {template}", {})
                body = json.dumps({**fields, UNKNOWN: 1} if has_unknown else fields).encode()
            lines.append(("Content-Type", "application/json"))
        if body is not None:
            lines.append(("Content-Length", str(len(body))))
        changed = {name.lower() for name, _ in headers}
        lines = [(name, value) for name, value in lines if name.lower() not in changed] + list(headers)
        head = (
            f"{method or verb} {template.format(**names)}{'?' if parameters else ''}{'&'.join(parameters)} HTTP/1.1\r\n"
        )
        head += "".join(f"{name}: {value}\r\n" for name, value in lines)
        return head.encode("utf-8", "surrogatepass") + b"\r\n" + (body or b"")

    def _forbidden(self, random: Random, **wrong: Any) -> bytes:
        """A command in a match by a player without a seat there, valid except for `wrong`."""
        at = [("POST", f"/v1/matches/{{match_id}}/{end}") for end in ("actions", "seats", "bots", "start", "leave")]
        return self._request(random, random.choice(at), has_unknown=False, forbidden=True, **wrong)

    def _damaged(self, random: Random) -> Attack:
        """A request in which a few bytes are changed, removed, doubled or inserted."""
        text = bytearray(random.choice((self._request, self._forbidden))(random))
        for _ in range(random.randint(1, 2)):
            at, length = random.randrange(len(text)), random.choice((1, 1, 2, 8, 40))
            match random.randrange(4):
                case 0:
                    text[at] = random.choice((random.randrange(256), random.randrange(33, 127)))
                case 1:
                    del text[at : at + length]
                case 2:
                    text[at:at] = text[at : at + length]
                case 3:
                    text[at:at] = random.choice(
                        (b"\0", b"\r\n", b"\n", b" ", b"%00", b"\xff", b'"', b"{", b":", b"/..")
                    )
            text = text or bytearray(b"x")
        return Attack("damaged", (bytes(text),))

    def _field(self, random: Random) -> Attack:
        """A body with an invalid value, or that is not JSON: of a dry run, of a stranger, or with an unknown field."""
        reason = random.choice(("dry run", "stranger", "unknown"))
        wanted = {"dry run": "/actions", "stranger": "/{match_id}/", "unknown": ""}[reason]
        operation = random.choice([one for one in self._target.bodies if wanted in one])
        body = self._target.bodies[operation] | ({UNKNOWN: 1} if reason == "unknown" else {})
        text = self._invalid_json(random, body).encode()
        if random.random() < 0.3:
            at = random.randrange(len(text) + 1)
            text = text[:at] + random.choice((b"\xff", b"\xc3(", b"\xed\xa0\x80", b"\0", b"\xef\xbb\xbf")) + text[at:]
        verb, _, path = operation.partition(" ")
        request = self._request(
            random,
            (verb, path),
            query="dry_run=true" if reason == "dry run" else "",
            body=text,
            has_unknown=False,
            forbidden=reason == "stranger",
        )
        return Attack("field", (request,))

    @staticmethod
    def _invalid_json(random: Random, body: Any) -> str:
        """A body as JSON with one invalid value."""
        whole: Any = json.loads(json.dumps(body))
        holder, name = whole, random.choice(list(whole))
        while isinstance(holder[name], dict) and holder[name] and random.random() < 0.7:
            holder = holder[name]
            name = random.choice(list(holder))
        if random.random() < 0.2:
            name = random.choice(("", "\0", "é" * 300, "__proto__", "a/b~c", "action", "seat"))
        raw = random.choice((*INVALID_JSON.values(), *(json.dumps(value) for value in VALUES)))
        holder[name] = "\x00here"
        return json.dumps(whole).replace(json.dumps("\x00here"), raw)

    def _header(self, random: Random) -> Attack:
        names = ("Host", "Authorization", "Content-Type", "Accept", "Accept-Encoding", "Accept-Language", "If-Match")
        more = ("If-None-Match", "Idempotency-Key", "Last-Event-ID", "Content-Encoding", "X-Forwarded-For", "Origin")
        rest = (
            "Range",
            "Expect",
            "Upgrade",
            "X-HTTP-Method-Override",
            "Forwarded",
            "Cookie",
            "Connection",
            "Script_Name",
        )
        values = (
            *HEADER_VALUES,
            "é" * 99,
            "a" * 3000,
            "Bearer " + "A" * 43,
            "*",
            "\t",
            "q=9;q=x,,;",
            "100-continue",
            "bytes=0-",
        )
        headers = [(random.choice((*names, *more, *rest)), random.choice(values)) for _ in range(random.randint(1, 3))]
        request = random.choice((self._request, self._forbidden))(random, headers=headers)
        return Attack("header", (request,))

    def _query(self, random: Random) -> Attack:
        operation = random.choice([one for one, known in self._operations.items() if known and one[0] == "GET"])
        names = [*self._operations[operation] * 3, "ticket", UNKNOWN]
        parameters = [
            f"{random.choice(names)}={percent(random.choice(QUERY_VALUES))}" for _ in range(random.randint(1, 3))
        ]
        return Attack("query", (self._request(random, operation, query="&".join(parameters)),))

    def _method(self, random: Random) -> Attack:
        """A method, a target or an HTTP version that the server does not support."""
        methods = (
            "HEAD",
            "PUT",
            "PATCH",
            "DELETE",
            "OPTIONS",
            "TRACE",
            "CONNECT",
            "PRI",
            "get",
            "GET\t",
            " ",
            "A" * 40,
            "Ü",
        )
        request = self._request(random, method=random.choice(methods), query=f"{UNKNOWN}=1")
        if random.random() < 0.4:
            targets = (
                "*",
                "//",
                "/../../etc/passwd",
                "/%2e%2e/",
                "http://evil/v1/matches",
                "moon:80",
                "/v1/\xff",
                "?",
                "",
            )
            version = random.choice(("HTTP/1.1", "HTTP/9.9", "HTTP/1", "HTTP/0.9", ""))
            line = f"{random.choice(('GET', *methods))} {random.choice(targets)} {version}".encode("latin-1")
            request = line + request[request.index(b"\r\n") :]
        return Attack("method", (request,))

    def _framing(self, random: Random) -> Attack:
        """Framing that servers may interpret differently, as in request smuggling."""
        lengths = ("0", "1", "5", "-1", "+4", "4, 4", "0x4", " ", "9" * 25, "16385", "4_0", "٤", "4;x")
        codings = (
            "chunked",
            "identity",
            "xchunked",
            "gzip, chunked",
            "chunked, chunked",
            " chunked",
            "\x0bchunked",
            "Chunked",
        )
        chunks = (
            b"0\r\n\r\n",
            b"2\r\n{}\r\n0\r\n\r\n",
            b"-1\r\n{}",
            b"ffffffffffffffff\r\n{}",
            b"2;x=\x00\r\n{}\r\n",
            b"zz\r\n",
            b"",
        )
        headers = [("Content-Length", random.choice(lengths)) for _ in range(random.randint(0, 2))]
        headers += [("Transfer-Encoding", random.choice(codings)) for _ in range(random.randint(0, 2))]
        request = self._request(random, headers=headers, body=random.choice((*chunks, b'{"surprise": 1}')))
        if random.random() < 0.3:
            request = request.replace(
                b"\r\n", random.choice((b"\n", b"\r", b"\r\n ", b"\r\n\r\n")), random.randint(1, 3)
            )
        return Attack("framing", (request,))

    def _flood(self, random: Random) -> Attack:
        size = random.choice((2_000, 9_000, 70_000))
        match random.randrange(4):
            case 0:
                return Attack("flood", (self._request(random, headers=[("X-Long", "a" * size)]),))
            case 1:
                many = [(f"X-{number}", "b") for number in range(size // 20)]
                return Attack("flood", (self._request(random, headers=many),))
            case 2:
                return Attack("flood", (self._request(random, query="q=" + "a" * size),))
        return Attack("flood", (self._request(random, body=b"[" * size),))

    def _noise(self, random: Random) -> Attack:
        begins = (
            b"",
            b"GET ",
            b"POST /v1/players HTTP/1.1\r\n",
            b"\x16\x03\x01",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            b"\r\n\r\n",
        )
        return Attack("noise", (random.choice(begins) + random.randbytes(random.choice((1, 20, 300, 5_000))),))

    def _incomplete(self, random: Random) -> Attack:
        request = self._request(random)
        return Attack(
            "incomplete", (request[: random.randrange(1, len(request))],), random.choice(("ends", "closes", "lingers"))
        )

    def _slow(self, random: Random) -> Attack:
        request = self._request(random)
        cuts = sorted(random.sample(range(1, len(request)), 4))
        pieces = tuple(request[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(request)], strict=True))
        return Attack("slow", pieces, random.choice(("ends", "closes")))

    def _pipeline(self, random: Random) -> Attack:
        kinds = (self._damaged, self._field, self._header, self._query, self._framing)
        parts = [random.choice(kinds)(random).sent for _ in range(random.randint(2, 6))]
        return Attack("pipeline", (b"".join(parts),), random.choice(("ends", "ends", "closes")))
