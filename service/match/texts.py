"""What happened, what is asked and why not, in words for people, from each game's texts.json, in each of its languages.

It renders what was already redacted for a viewer: what is not there cannot be told.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from service.games.protocol import AnyGame, IllegalAction
from service.match.redaction import SeenDecision, SeenEvent

DEFAULT: Final = "en"
_OWN: Final[Mapping[str, Mapping[str, str]]] = msgspec.json.decode(
    files("service.match").joinpath("event_texts.json").read_bytes()
)
LANGUAGES: Final = tuple(_OWN)

_SENTENCES: Final = ("effect.", "action.", "step.", "refusal.", "option.", "breakdown.", "picture.")
"""Keys of texts.json that are no names of things."""


def with_text(game: AnyGame, language: str, event: SeenEvent) -> SeenEvent:
    """An event with its text: a sentence of its own, then one for each effect; an action stands in where none is told."""
    data = msgspec.json.decode(event.data)
    teller = _Teller(language, game.texts[language])
    told = [teller.effect(effect) for effect in data.get("effects", ())]
    if event.type != "action":
        told.insert(0, teller.happened(event.type, data, event.by))
    elif not told:
        told = [teller.action(data["action"])]
    return replace(event, text=" ".join(told))


def asked_with_text(game: AnyGame, language: str, decisions: Iterable[SeenDecision]) -> tuple[SeenDecision, ...]:
    """Decisions, each with the text of its step."""
    return tuple(replace(one, text=game.texts[language][f"step.{one.step}"]) for one in decisions)


def effect_texts(game: AnyGame, language: str, effects: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Effects in words, each as redacted for a viewer."""
    teller = _Teller(language, game.texts[language])
    return tuple(teller.effect(effect) for effect in effects)


def action_texts(game: AnyGame, language: str, actions: Iterable[Any]) -> tuple[str, ...]:
    """Each action of a seat's own legal list in words, no two alike."""
    teller = _Teller(language, game.texts[language])
    return tuple(teller.action(msgspec.to_builtins(action)) for action in actions)


def refusal_texts(
    game: AnyGame, refusal: IllegalAction, legal: Sequence[Any] = (), others: int = 0
) -> Mapping[str, str]:
    """Why the rules refuse an action, and some of what they allow, of which there are so many others; by language."""
    return {
        language: " ".join(
            (_Teller(language, game.texts[language]).refusal(refusal), *_allowed(game, language, legal, others))
        )
        for language in LANGUAGES
    }


def _allowed(game: AnyGame, language: str, legal: Sequence[Any], others: int) -> Iterator[str]:
    if legal:
        own = _OWN[language]
        told = [text.rstrip(".!") for text in action_texts(game, language, legal)]
        yield own["legal"].format(actions="; ".join([*told, *([own["others"].format(count=others)] if others else [])]))


class _Teller:
    """One game's words in one language."""

    def __init__(self, language: str, texts: Mapping[str, str]) -> None:
        self._own = _OWN[language]
        self._texts = texts
        self._names = {
            key.partition(".")[2]: text for key, text in texts.items() if "." in key and not key.startswith(_SENTENCES)
        }

    def happened(self, kind: str, data: Mapping[str, Any], by: str) -> str:
        """An event by its type; where it may mean several things, by its kind, or by who brought it: a seat or a worker."""
        template = self._own.get(kind) or self._own[f"{kind}.{data.get('kind', by.partition(':')[0])}"]
        return template.format_map(_Phrases(self, data["outcome"] if kind == "match_scored" else data))

    def effect(self, effect: Mapping[str, Any]) -> str:
        return self._texts[f"effect.{effect['type']}"].format_map(_Phrases(self, effect))

    def action(self, action: Mapping[str, Any]) -> str:
        return self._texts[f"action.{action['type']}"].format_map(_Phrases(self, action))

    def refusal(self, refusal: IllegalAction) -> str:
        return self._texts[f"refusal.{refusal.code}"].format_map(_Phrases(self, refusal.facts))

    def phrase(self, field: str, value: object) -> str:
        """A field's value in words: names of things as the game names them, lists with commas."""
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
                told = [self.phrase(field.removesuffix("s"), item) for item in value]
                in_parts = any(mark in item for item in told for mark in (", ", ": "))
                return ("; " if in_parts else ", ").join(told)
            case dict():
                return ", ".join(
                    f"{self.phrase(field, name)}: {self.phrase(field, item)}" for name, item in value.items()
                )
        return str(value)

    def _name(self, field: str, value: str) -> str:
        """What a thing is called; one of several alike, such as K07-2 of the combos K07, by their name and itself."""
        kind = None if (found := self._called(field, value)) else self._kind(field, value)
        return found or (f"{kind} ({value})" if kind else value)

    def _called(self, field: str, value: str) -> str | None:
        key = f"{field}.{value}"
        return self._texts.get(key) or self._own.get(key) or self._names.get(value)

    def _kind(self, field: str, value: str) -> str | None:
        """What things that differ in their owner and last number are called: K07, or the words of circle-square."""
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
    """What fills the places of a template."""

    def __init__(self, teller: _Teller, fields: Mapping[str, Any]) -> None:
        super().__init__({name: teller.phrase(name, value) for name, value in fields.items()})
        self._hidden = teller.hidden

    def __missing__(self, _name: str) -> str:
        return self._hidden
