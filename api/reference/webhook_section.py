"""The section `webhooks` of the reference (OpenAPI 3.1, 4.8.1): what the service sends to a webhook."""

from typing import Any, Final

from api.requests.components import ref

_HEADERS: Final = {
    "webhook-id": "The id of the notice, the same in every attempt.",
    "webhook-timestamp": "When the attempt was made, in seconds since 1970 (UTC).",
    "webhook-signature": "`v1,` and the HMAC-SHA256 of id, timestamp and body with points between them, in base64. For a day after "
    "a renewal of the secret there are two, with a space between them.",
}


def section() -> dict[str, Any]:
    operation = {
        "operationId": "receive_notice",
        "summary": "Receive a notice",
        "description": "The service sends this request to the `url` of a webhook, signed as Standard Webhooks describes. A notice "
        "may come more than once and in any order. WEBHOOKS.md describes attempts and their ends.",
        "tags": ["webhooks"],
        "security": [],
        "parameters": [
            {"in": "header", "name": name, "required": True, "description": text, "schema": {"type": "string"}}
            for name, text in _HEADERS.items()
        ],
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": {"oneOf": [ref(name) for name in ("Notice", "SeekEndedNotice", "TestNotice")]}
                }
            },
        },
        "responses": {
            "2XX": {"description": "The notice is delivered. The content of the answer is not used."},
            "410": {"description": "The webhook is ended."},
        },
    }
    return {"notice": {"post": operation}}
