"""What the bot plays. This is the file to change."""

from patterns import resolved


def choose(legal_actions, observe, seat, match):
    """Choose an action.

    legal_actions: the legal actions, as the API lists them, never empty. An entry may have a pattern in place of a
        value: {"any_of": items, "min": 1, "max": 3} stands for any choice of one to three of the items.
    observe: call it for the observation of the table, if the choice depends on more than the list.
    seat: the number of the bot's seat, from 0.
    match: the id of the match.
    """
    return resolved(legal_actions[0])
