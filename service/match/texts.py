"""Renders events, decisions, actions and refusals as text, from each game's texts.json, in each language.

The input is already redacted for the viewer, so a text cannot contain anything hidden.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from service.games.protocol import AnyGame, IllegalAction
from service.match.redaction import SeenDecision, SeenEvent

DEFAULT: Final = "en"
_EVENT_TEXTS: Final[Mapping[str, Mapping[str, str]]] = msgspec.json.decode(
    files("service.match").joinpath("event_texts.json").read_bytes()
)
LANGUAGES: Final = tuple(_EVENT_TEXTS)

_SENTENCES: Final = ("effect.", "action.", "step.", "refusal.", "option.", "breakdown.", "picture.")
"""Prefixes of the keys of texts.json whose texts are not names of things."""
_KEPT_GAMES: Final = 32
_KEPT_NAMES: Final = 2_048
_KEPT_ACTIONS: Final = 4_096
"""How many games' texts, in one language each, and how many names of things and texts of actions in each of them are kept in
memory."""
_encode: Final = msgspec.json.Encoder().encode


def with_text(game: AnyGame, language: str, event: SeenEvent) -> SeenEvent:
    """An event with its text: a sentence for the event and one for each effect.

    An `action` has only the sentences of its effects; without effects, its text describes the action.
    """
    data = msgspec.json.decode(event.data)
    texts = _texts(game, language)
    sentences = [texts.effect(effect) for effect in data.get("effects", ())]
    if event.type != "action":
        sentences.insert(0, texts.event(event.type, data, event.by))
    elif not sentences:
        sentences = [texts.action(data["action"])]
    return replace(event, text=" ".join(sentences))


def decisions_with_text(game: AnyGame, language: str, decisions: Iterable[SeenDecision]) -> tuple[SeenDecision, ...]:
    """Decisions, each with the text of its step."""
    return tuple(replace(one, text=game.texts[language][f"step.{one.step}"]) for one in decisions)


def effect_texts(game: AnyGame, language: str, effects: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """The text of each effect. The effects are already redacted for the viewer."""
    texts = _texts(game, language)
    return tuple(texts.effect(effect) for effect in effects)


def action_texts(game: AnyGame, language: str, actions: Iterable[Any]) -> tuple[str, ...]:
    """The text of each action in a seat's legal list. All texts are different."""
    texts = _texts(game, language)
    return tuple(texts.legal_action(action) for action in actions)


def refusal_texts(
    game: AnyGame, refusal: IllegalAction, legal: Sequence[Any] = (), others: int = 0
) -> Mapping[str, str]:
    """Why the rules refuse an action, by language. Names the actions `legal`; `others` is how many more are legal."""
    return {
        language: " ".join((_texts(game, language).refusal(refusal), *_allowed(game, language, legal, others)))
        for language in LANGUAGES
    }


def _allowed(game: AnyGame, language: str, legal: Sequence[Any], others: int) -> Iterator[str]:
    if legal:
        own = _EVENT_TEXTS[language]
        actions = [text.rstrip(".!") for text in action_texts(game, language, legal)]
        rest = [own["others"].format(count=others)] if others else []
        yield own["legal"].format(actions="; ".join([*actions, *rest]))


@lru_cache(_KEPT_GAMES)
def _texts(game: AnyGame, language: str) -> "_Texts":
    return _Texts(language, game.texts[language])


class _Texts:
    """The texts of one game in one language."""

    def __init__(self, language: str, texts: Mapping[str, str]) -> None:
        self._own = _EVENT_TEXTS[language]
        self._texts = texts
        self._names = {
            key.partition(".")[2]: text for key, text in texts.items() if "." in key and not key.startswith(_SENTENCES)
        }
        self._name = lru_cache(_KEPT_NAMES)(self._named)
        self._actions: dict[bytes, str] = {}
        """The texts of actions by their JSON. A legal list mostly has actions that earlier lists had."""

    def event(self, kind: str, data: Mapping[str, Any], by: str) -> str:
        """The sentence for an event type. Some types have several, by reason, or by `kind`, or by author (seat, worker)."""
        variants = (data.get("reason"), data.get("kind"), by.partition(":")[0])
        names = [kind, *(f"{kind}.{variant}" for variant in variants)]
        template = next(self._own[name] for name in names if name in self._own)
        return template.format_map(_Phrases(self, data["outcome"] if kind == "match_scored" else data))

    def effect(self, effect: Mapping[str, Any]) -> str:
        return self._texts[f"effect.{effect['type']}"].format_map(_Phrases(self, effect))

    def action(self, action: Mapping[str, Any]) -> str:
        return self._texts[f"action.{action['type']}"].format_map(_Phrases(self, action))

    def legal_action(self, action: Any) -> str:
        """The text of an action that is not in its JSON form."""
        key = _encode(action)
        text = self._actions.get(key)
        if text is None:
            if len(self._actions) >= _KEPT_ACTIONS:
                self._actions.clear()
            text = self._actions[key] = self.action(msgspec.to_builtins(action))
        return text

    def refusal(self, refusal: IllegalAction) -> str:
        return self._texts[f"refusal.{refusal.code}"].format_map(_Phrases(self, refusal.facts))

    def phrase(self, field: str, value: object) -> str:
        """A field's value in words: things by the game's names for them, lists with commas."""
        if value is None or value in ([], (), {}):
            return self._own["nothing"]
        match value:
            case bool():
                return self._own["yes" if value else "no"]
            case int():
                return self._texts.get(f"{field}.{value}", str(value)).rstrip(".")
            case str() if field in {"step", "label"}:
                return self._texts.get(f"step.{value}", value).rstrip(".")
            case str():
                return self._name(field, value)
            case list() | tuple():
                items = [self.phrase(field.removesuffix("s"), item) for item in value]
                in_parts = any(mark in item for item in items for mark in (", ", ": "))
                return ("; " if in_parts else ", ").join(items)
            case dict():
                return ", ".join(
                    f"{self.phrase(field, name)}: {self.phrase(field, item)}" for name, item in value.items()
                )
        return str(value)

    def _named(self, field: str, value: str) -> str:
        """The name of a thing. One of several equal things, such as K07-2, has their common name, followed by its id."""
        kind = None if (found := self._called(field, value)) else self._kind(field, value)
        return found or (f"{kind} ({value})" if kind else value)

    def _called(self, field: str, value: str) -> str | None:
        key = f"{field}.{value}"
        return self._texts.get(key) or self._own.get(key) or self._names.get(value)

    def _kind(self, field: str, value: str) -> str | None:
        """The common name of equal things, whose ids differ only in the owner and the last number.

        K07-2 has the name of K07, and 0:circle-square-1 has the names of both figures.
        """
        kind, _, number = value.rpartition(":")[2].rpartition("-")
        if not number.isdigit():
            return None
        words = kind.split("-")
        names = [word if word.isdigit() else self._called(field, word) for word in words]
        return None if None in names or names == words else " ".join(filter(None, names))

    @property
    def hidden(self) -> str:
        return self._own["hidden"]


class _Phrases(dict[str, Any]):
    """The values of a template's placeholders. A missing field is one that is hidden from the viewer."""

    def __init__(self, texts: _Texts, fields: Mapping[str, Any]) -> None:
        super().__init__({name: texts.phrase(name, value) for name, value in fields.items()})
        self._hidden = texts.hidden

    def __missing__(self, _name: str) -> str:
        return self._hidden
