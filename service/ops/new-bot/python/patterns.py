"""Patterns of a legal list: {"any_of": items, "min": 1, "max": 3} is any choice of one to three of the items."""


def resolved(action):
    """The action with as few items as each of its patterns allows."""
    return {name: _taken(value) for name, value in action.items()}


def _taken(value):
    return value["any_of"][: value["min"]] if isinstance(value, dict) and "any_of" in value else value
