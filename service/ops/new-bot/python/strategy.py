"""What the bot plays. This is the file to change."""


def choose(legal_actions, observe, seat, match):
    """Choose an action.

    legal_actions: the legal actions, as the API lists them, never empty. An entry may have a pattern in place of a value:
        {"any_of": items, "min": 1, "max": 3} stands for any choice of one to three of the items.
    observe: call it for the observation of the table, if the choice depends on more than the list.
    seat: the number of the bot's seat, from 0.
    match: the id of the match.
    """
    return resolved(legal_actions[0])


def resolved(action):
    """The action with as few items as each of its patterns allows."""
    return {name: _taken(value) for name, value in action.items()}


def _taken(value):
    return value["any_of"][: value["min"]] if isinstance(value, dict) and "any_of" in value else value
