"""The query parameter `include` of events and streams."""

from collections.abc import Mapping
from typing import Any

from api.http import languages
from api.resources.matches import TEXTS
from service.subscriptions.situation import Include


def included(query: Mapping[str, Any]) -> Include:
    """What the client requests besides events. Texts are in the language of the request."""
    names = query.get("include", "").split(",")
    language = languages.preferred() if TEXTS in names else None
    return Include("decisions" in names, "legal_actions" in names, language)
