"""Texts in the language that a client asks for (RFC 9110, Accept-Language)."""

from flask import Response, request

from service.match import texts


def wanted() -> str:
    """The language that the client likes best of those that there are: `de-AT` is German, before another that it likes less."""
    liked = (tag.partition("-")[0].lower() for tag, quality in request.accept_languages if quality > 0)
    return next((language for language in liked if language in texts.LANGUAGES), texts.DEFAULT)


def tell(response: Response, language: str) -> Response:
    """Say in an answer which language it is in, and that another request may get another."""
    response.content_language.add(language)
    response.vary.add("Accept-Language")
    return response
