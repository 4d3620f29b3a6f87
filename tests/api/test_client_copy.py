"""The data that a client stored during a match agrees with the exported file."""

import pytest
from flask.testing import FlaskClient

from service.audit.client_copy import Differs, check_feed, read_feed
from service.audit.verify import verify
from service.games.registry import GAMES
from service.games.visibility import Viewer
from tests.api.conftest import Container, app_of, settings
from tests.api.table import set_table

FORMS = ("application/json", "application/x-ndjson", "text/event-stream")


@pytest.mark.parametrize("form", FORMS)
def test_a_feed_stored_in_any_form_agrees_with_the_exported_file(form: str) -> None:
    container = Container(settings(requests_by_address=1_000_000, requests_by_token=1_000_000))
    client = app_of(container).test_client()
    table = set_table(container.ports)
    table.play(container.ports, 20)
    feeds = {viewer: _early(client, table.match_id, token) for viewer, token in ((None, None), (1, table.ben_token))}
    version = table.finish(container.ports).head.version
    lines = client.get(f"/v1/matches/{table.match_id}/export").get_data().splitlines(keepends=True)
    match = verify(lines, GAMES).match
    for viewer, early in feeds.items():
        late = _late(client, table.match_id, form, viewer)
        assert [event.version for event in read_feed(late).events] == list(range(1, version + 1))
        for stored in (early, late):
            check_feed(lines, match, viewer, read_feed(stored))
        with pytest.raises(Differs):
            check_feed(lines, match, 0, read_feed(late))


def _early(client: FlaskClient, match_id: str, token: str | None) -> bytes:
    """A page from the middle of the match."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return client.get(
        f"/v1/matches/{match_id}/events?after=3&limit=10&include=decisions,legal_actions,texts", headers=headers
    ).get_data()


def _late(client: FlaskClient, match_id: str, form: str, viewer: Viewer) -> bytes:
    query = "include=decisions&" + ("" if viewer is None else f"viewer={viewer}&")
    limit = "limit=500" if form == "application/json" else ""
    return client.get(
        f"/v1/matches/{match_id}/events?{query}{limit}", headers={"Accept": form}, buffered=True
    ).get_data()
