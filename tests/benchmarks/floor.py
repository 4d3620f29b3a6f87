"""The baseline of an action over HTTP: bare Flask, a marshmallow schema and the append function.

`python -m tests.benchmarks.floor PORT LOG_URL` serves it with the service's own server class and number of workers.
"""

import sys
from collections.abc import Callable, Iterator

import msgspec
from flask import Flask, Response, request
from marshmallow import Schema, fields

from api.server.gunicorn import Server
from events.chain import Draft, genesis, seal
from events.log import Append, Appended
from events.record import Head
from service.match.randomness import new_salts

WORKERS = 2
_PREFIX = "floor-"
"""Prefix of match ids, because the service may have stored a match with the same id in this log."""


class ActionSchema(Schema):
    action = fields.Dict(required=True)
    seat = fields.Integer(strict=True)


def create_floor(log_url: str) -> Flask:
    # This module imports redis, which must not be imported before gevent's patches (api.server.gunicorn).
    from events.redis_log import WAKE_CHANNEL, RedisLog, connect  # noqa: PLC0415

    client = connect(log_url)
    log = RedisLog(client)
    log.load()
    heads: dict[str, Head] = {}
    schema = ActionSchema()
    app = Flask("floor")

    @app.get("/readyz")
    def ready() -> str:
        return "ready"

    @app.post("/v1/matches/<match>/actions")
    def append(match: str) -> Response:
        body = schema.load(request.get_json())
        own = _PREFIX + match
        head = heads.get(match) or genesis(own, "floor", 1)[1]
        draft = Draft("action", f"seat:{body['seat']}", msgspec.json.encode(body, order="sorted"))
        events, after = seal(head, [draft], 0, new_salts(1))
        appended = log.append(Append(own, request.headers["Idempotency-Key"], "floor", head, events))
        heads[match] = after
        answer = msgspec.json.encode({"version": after.version, "head": after.hash})
        return Response(answer, 201 if isinstance(appended, Appended) else 409, mimetype="application/json")

    @app.get("/v1/matches/<match>/stream")
    def follow(match: str) -> Response:
        def lines() -> Iterator[bytes]:
            with client.pubsub() as subscription:  # type: ignore[no-untyped-call]  # redis-py leaves it untyped
                subscription.subscribe(WAKE_CHANNEL + _PREFIX + match)
                while True:
                    message = subscription.get_message(timeout=1)
                    if message is not None and message["type"] == "message":
                        yield msgspec.json.encode({"match": match, "version": int(message["data"])}) + b"\n"
                    elif message is not None:
                        yield msgspec.json.encode({"match": match}) + b"\n"

        return Response(lines(), mimetype="application/x-ndjson")

    @app.get("/v1/matches/<match>")
    def read(match: str) -> Response:
        return Response(msgspec.json.encode({"match": match}), mimetype="application/json")

    return app


def main() -> None:
    port, log_url = int(sys.argv[1]), sys.argv[2]

    def factory(_alive: Callable[[], bool]) -> Flask:
        return create_floor(log_url)

    Server(factory, host="127.0.0.1", port=port, workers=WORKERS, on_ready=lambda *_: None).run()


if __name__ == "__main__":
    main()
