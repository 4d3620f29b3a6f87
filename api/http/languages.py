"""The language of texts, by Accept-Language (RFC 9110, 12.5.4)."""

from flask import Response, request

from service.match import texts


def preferred() -> str:
    """The available language that the client prefers. Regions are ignored: `de-AT` is German."""
    wanted = (tag.partition("-")[0].lower() for tag, quality in request.accept_languages if quality > 0)
    return next((language for language in wanted if language in texts.LANGUAGES), texts.DEFAULT)


def label(response: Response, language: str) -> Response:
    """Set Content-Language, and Vary, since another request may get another language."""
    response.content_language.add(language)
    response.vary.add("Accept-Language")
    return response
