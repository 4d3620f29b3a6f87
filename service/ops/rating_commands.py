"""The commands `moonstone ratings rebuild` and `moonstone ratings check`."""

from collections.abc import Mapping

from service.ops.connection import errors_as_sentences, log_of, ports_of
from service.ops.maintenance import Report
from service.ops.rating_upkeep import check_ratings, rebuild_ratings
from service.settings import read


def rebuild(environ: Mapping[str, str], report: Report) -> bool:
    """Rebuild the leaderboards from the rating streams. Returns whether no stream has a fault.

    Raises:
        CannotOperate: the log cannot be read.
    """
    settings = read(environ)
    with errors_as_sentences(), log_of(settings) as client:
        return rebuild_ratings(ports_of(client, settings.store_id), report)


def check(environ: Mapping[str, str], report: Report) -> bool:
    """Check the ratings and the rated matches that they name. Returns whether there is no fault.

    Raises:
        CannotOperate: the log cannot be read.
    """
    settings = read(environ)
    with errors_as_sentences(), log_of(settings) as client:
        return check_ratings(ports_of(client, settings.store_id), report)
