"""Plays matches on a service, many at once. It may be stopped: started again, it goes on with its matches."""

import argparse
import os
import secrets
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

from client import Client, NoService, Refused
from patterns import resolved
from strategy import choose

REFUSED, WRONG_ARGUMENTS, UNREACHABLE, STOPPED = 1, 2, 3, 130
"""Exit codes."""

CLOSED = {
    *("decision-closed", "match-not-running", "match-over", "match-suspended", "not-your-turn", "too-late"),
    "not-seated",  # the player left the match, or lost the seat, while the bot was thinking
}
"""Problems of an action that came too late: there is nothing left to decide."""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="http://127.0.0.1:8080", help="the address of the service")
    parser.add_argument("--game", default="ape_town")
    parser.add_argument("--against", default="random", help="the other seats' bots, separated by commas")
    parser.add_argument("--matches", type=int, default=1, help="how many matches to play, all at once")
    parser.add_argument("--name", default="Botty", help="the name of the player")
    parser.add_argument("--token-file", type=Path, default=Path("token"), help="keeps the player's token")
    given = parser.parse_args()
    if not is_address(given.url):
        parser.error(f"--url {given.url}: give an address such as http://127.0.0.1:8080")
    if given.matches < 0:
        parser.error("--matches: give a number from 0")
    try:
        client = signed_in(given.url, given.name, given.token_file)
        begin(client, given.game, given.against.split(","), given.matches)
        play(client)
    except Refused as refusal:
        exit_with(REFUSED, f"The service refused: {refusal}")
    except NoService as error:
        exit_with(UNREACHABLE, f"No service answers at {given.url}: {error}. Is it running?")
    except KeyboardInterrupt:
        exit_with(STOPPED, "Stopped; --matches 0 goes on with the matches that have begun.")


def exit_with(code, sentence):
    print(sentence, file=sys.stderr)
    raise SystemExit(code)


def is_address(url):
    """Whether a URL is one of HTTP, with a host."""
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def signed_in(url, name, token_file):
    """The client of the player whose token is in the file, or of a new player."""
    try:
        token = token_file.read_text(encoding="ascii", errors="replace").strip()
    except FileNotFoundError:
        token = None
    except OSError as error:
        exit_with(WRONG_ARGUMENTS, f"The token cannot be read from {token_file}: {error.strerror}.")
    if token is not None:
        if not token or not all("!" <= character <= "~" for character in token):  # it is secret: do not print it
            exit_with(WRONG_ARGUMENTS, f"{token_file} holds no token; name another file with --token-file.")
        client = Client(url, token)
        client.check()
        return client
    if not token_file.parent.is_dir():
        exit_with(WRONG_ARGUMENTS, f"The token cannot be kept in {token_file}: there is no folder {token_file.parent}.")
    client = Client(url)
    client.sign_up(name)
    try:
        with os.fdopen(os.open(token_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(client.token)
    except OSError as error:
        exit_with(WRONG_ARGUMENTS, f"The token cannot be kept in {token_file}: {error.strerror}.")
    return client


def begin(client, game, others, matches):
    """Create matches and take a seat in each; the others' bots have the other seats."""
    for _ in range(matches):
        wanted = {"game": game, "seats": len(others) + 1, "bots": others}
        match = client.post("/matches", wanted, secrets.token_hex(16))["id"]
        client.post(f"/matches/{match}/seats", {}, secrets.token_hex(16))
        print(f"{match}: seated")


def play(client):
    """Answer every turn of the player's matches, until none of them is left."""
    running = set()
    for frame in client.frames():
        kind = frame["type"]
        if kind == "hello":
            running = {match["id"] for match in frame["matches"] if match["status"] not in {"finished", "aborted"}}
        elif kind == "your_turn":
            act(client, frame)
        elif kind == "finished":
            running.discard(frame["match"])
            print(f"{frame['match']}: {result(frame)} {client.url}/matches/{frame['match']}/board.svg")
        if not running:
            return


def act(client, turn):
    """Take a decision. Its id is the key of the command, so that a notice that comes twice does no harm.

    If the rules refuse the action, the strategy has a fault: the refusal is printed, and the first action of the newest
    list is taken instead. Raises Refused if that one is refused too, because otherwise the match would wait for this bot
    forever.
    """
    match, decision = turn["match"], turn["decisions"][0]["id"]
    action = choose(turn["legal_actions"], lambda: client.get(f"/matches/{match}")["observation"], turn["seat"], match)
    for key in (decision, f"{decision}-again"):
        try:
            send(client, match, action, decision, key)
        except Refused as refusal:
            print(f"{match}: refused: {refusal} The action was {action}.")
            if refusal.code in CLOSED:
                return
            if key != decision:
                raise
        else:
            return
        newest = client.get(f"/matches/{match}/legal-actions")["actions"]
        if not newest:
            return
        action = resolved(newest[0])


def send(client, match, action, decision, key):
    """Send an action, again if it was too early."""
    while True:
        try:
            client.post(f"/matches/{match}/actions", {"action": action, "decision": decision}, key)
        except Refused as refusal:
            if refusal.code != "too-early":
                raise
            time.sleep(refusal.retry_after_s)
        else:
            return


def result(frame):
    """The end of a match in words."""
    outcome, seat = frame["outcome"], frame["seat"]
    if outcome is None or seat is None:
        return f"{frame['status']}."
    winners = outcome["winners"]
    words = "lost" if seat not in winners else "won" if len(winners) == 1 else "shared the win"
    return f"{words}, rank {outcome['ranks'][seat]} of {len(outcome['ranks'])} with {outcome['scores'][seat]} points."


if __name__ == "__main__":
    main()
