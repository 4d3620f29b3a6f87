"""Plays matches on a service, many at once. It may be stopped at any time: started again, it goes on with its matches."""

import argparse
import os
import secrets
import time
from pathlib import Path

from client import Client, Refused
from strategy import choose


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="http://127.0.0.1:8080", help="the address of the service")
    parser.add_argument("--game", default="ape_town")
    parser.add_argument("--against", default="random", help="the other seats' bots, separated by commas")
    parser.add_argument("--matches", type=int, default=1, help="how many matches to play, all at once")
    parser.add_argument("--name", default="Botty", help="the name of the player")
    parser.add_argument("--token-file", type=Path, default=Path("token"), help="keeps the player's token")
    given = parser.parse_args()
    client = signed_in(given.url, given.name, given.token_file)
    others = given.against.split(",")
    wanted = {"game": given.game, "seats": len(others) + 1, "bots": others}
    for _ in range(given.matches):
        match = client.post("/matches", wanted, secrets.token_hex(16))["id"]
        client.post(f"/matches/{match}/seats", {}, secrets.token_hex(16))
        print(f"{match}: seated")
    play(client)


def signed_in(url, name, token_file):
    """The client of the player whose token is in the file, or of a new player."""
    if token_file.exists():
        return Client(url, token_file.read_text().strip())
    client = Client(url)
    client.sign_up(name)
    with os.fdopen(os.open(token_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(client.token)
    return client


def play(client):
    """Answer every turn of the player's matches, until none of them is left."""
    running = set()
    for frame in client.frames():
        kind = frame["type"]
        if kind == "hello":
            running = {match["id"] for match in frame["matches"] if match["status"] not in {"finished", "aborted"}}
        elif kind == "your_turn":
            act(client, frame["match"], frame["decisions"][0]["id"], frame["legal_actions"])
        elif kind == "finished":
            running.discard(frame["match"])
            print(f"{frame['match']}: {frame['status']} {frame['outcome']}")
        if not running:
            return


def act(client, match, decision, legal_actions):
    """Take the decision. The decision is the key of the command, so that a notice that comes twice does no harm."""
    action = choose(legal_actions, lambda: client.get(f"/matches/{match}")["observation"])
    while True:
        try:
            client.post(f"/matches/{match}/actions", {"action": action, "decision": decision}, decision)
        except Refused as refusal:
            if refusal.code == "too-early":
                time.sleep(refusal.retry_after_s)
                continue
            print(f"{match}: refused: {refusal}")  # for example, because the decision has closed meanwhile
        return


if __name__ == "__main__":
    main()
