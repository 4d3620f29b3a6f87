"""Settings are read from the environment with one table."""

from pathlib import Path

import pytest

from service.settings import VARIABLES, BadSetting, Settings, read


def test_an_empty_environment_gives_the_defaults() -> None:
    assert read({"PATH": "/bin"}) == Settings(
        log_url=None,
        queue_url=None,
        host="127.0.0.1",
        port=8080,
        data_dir=Path("data"),
        workers=2,
        bot_workers=1,
        api_workers=2,
        store_id=None,
        cors_origins=(),
        allowed_hosts=(),
        requests_by_token=read({}).requests_by_token,
        moves_by_token=read({}).moves_by_token,
        requests_by_address=read({}).requests_by_address,
        sign_ups_by_address=read({}).sign_ups_by_address,
        account_changes_by_token=read({}).account_changes_by_token,
        recoveries_by_address=read({}).recoveries_by_address,
        creations_by_token=read({}).creations_by_token,
        creations_by_address=read({}).creations_by_address,
        bot_matches_by_address=read({}).bot_matches_by_address,
        bot_matches_waiting=read({}).bot_matches_waiting,
        audits_by_caller=read({}).audits_by_caller,
        open_hours=24,
        proxies=0,
        metrics="machine",
        metrics_port=None,
        loopback_calls=False,
        allow_volatile=False,
    )


def test_every_setting_is_a_row_of_the_table_and_an_empty_variable_is_the_default() -> None:
    assert [variable.setting for variable in VARIABLES] == list(Settings.__dataclass_fields__)
    assert read({variable.name: "" for variable in VARIABLES}) == read({})


@pytest.mark.parametrize(
    ("name", "value", "parsed"),
    [
        ("LOG_URL", "rediss://me:secret@log:6379/0", "rediss://me:secret@log:6379/0"),
        ("LOG_URL", "cluster://log:6379", "cluster://log:6379"),
        ("QUEUE_URL", "unix:///run/queue.sock", "unix:///run/queue.sock"),
        ("HOST", "::1", "::1"),
        ("PORT", "0", 0),
        ("DATA_DIR", "/var/lib/moonstone", Path("/var/lib/moonstone")),
        ("WORKERS", "8", 8),
        ("STORE_ID", "0123456789abcdef", "0123456789abcdef"),
        ("CORS_ORIGINS", "*", ("*",)),
        ("CORS_ORIGINS", "https://a.example, http://b.example:81,", ("https://a.example", "http://b.example:81")),
        ("ALLOWED_HOSTS", "a.example,b.example", ("a.example", "b.example")),
        ("PROXIES", "1", 1),
        ("METRICS", "none", "none"),
        ("METRICS_PORT", "9100", 9100),
        ("ALLOW_VOLATILE", "1", True),
    ],
)
def test_a_value_is_parsed(name: str, value: str, parsed: object) -> None:
    assert getattr(read({f"MOONSTONE_{name}": value}), name.lower()) == parsed


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LOG_URL", "postgres://me:secret@log"),
        ("LOG_URL", "REDIS://me:secret@log"),
        ("LOG_URL", "redis://:pw[secret]x@log"),
        ("LOG_URL", "redis://:sec\uff03ret@log"),
        ("LOG_URL", "redis://:secret#x@log"),
        ("LOG_URL", "redis://:sec/secret@log"),
        ("LOG_URL", "redis://:4711/secret@log"),
        ("LOG_URL", "redis://me:secret@log:99999"),
        ("LOG_URL", "redis://me:secret@log:port"),
        ("LOG_URL", "unix://"),
        ("LOG_URL", "redis://log?password=secret"),
        ("QUEUE_URL", "redis://log?socket_timeout=secret"),
        ("LOG_URL", "redis://:\udcffsecret@log"),
        ("HOST", "a b"),
        ("HOST", "\udcff"),
        ("STORE_ID", "\udcff"),
        ("ALLOWED_HOSTS", ","),
        ("ALLOWED_HOSTS", "*"),
        ("ALLOWED_HOSTS", "*.moon.example"),
        ("ALLOWED_HOSTS", "https://moon.example"),
        ("ALLOWED_HOSTS", "moon.example:443"),
        ("ALLOWED_HOSTS", "moon.example,\u2603.example"),
        ("QUEUE_URL", "localhost:6379"),
        ("QUEUE_URL", "cluster://queue:6379"),
        ("PORT", "65536"),
        ("PORT", "-1"),
        ("PORT", "0" * 4301),
        ("METRICS_PORT", "9" * 4301),
        ("PORT", "８０"),
        ("WORKERS", "1"),
        ("API_WORKERS", "two"),
        ("CORS_ORIGINS", "a.example"),
        ("CORS_ORIGINS", " , "),
        ("CORS_ORIGINS", "https://a.example/path"),
        ("METRICS", "yes"),
        ("METRICS_PORT", "0"),
        ("ALLOW_VOLATILE", "yes"),
        ("ALOW_VOLATILE", "1"),
    ],
)
def test_an_invalid_value_is_reported_by_its_name_and_a_url_is_not_repeated(name: str, value: str) -> None:
    with pytest.raises(BadSetting, match=f"MOONSTONE_{name}") as raised:
        read({f"MOONSTONE_{name}": value})
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("name", [variable.name for variable in VARIABLES])
def test_every_invalid_value_of_a_variable_gives_the_same_message(name: str) -> None:
    values = (
        "\x00",
        "http://[",
        "http://",
        "9" * 4301,
        ",",
        " ",
        "redis://h?db=x",
        "redis://h?x=y",
        "a" * 70,
        "..",
        "'",
    )
    sentences = set()
    for value in values:
        try:
            read({name: value})
        except BadSetting as raised:
            sentences.add(str(raised))
    assert len(sentences) <= 1


def test_urls_with_passwords_stay_out_of_the_repr() -> None:
    url = "redis://me:secret@log:6379/0"
    assert "secret" not in repr(read({"MOONSTONE_LOG_URL": url, "MOONSTONE_QUEUE_URL": url}))
