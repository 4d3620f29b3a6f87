"""The fault matrix: faults, and the tests that cause them. A row never changes its number.

Besides its own statement, each row has seven promises. I1: no acknowledged command is lost. I2: no command is applied
twice. I3: versions have no gap, and the chain is valid. I4: hidden information stays hidden. I5: no 5xx except a 503 with a
problem document and Retry-After. I6: the service recovers by itself. I7: other matches continue.
"""

from typing import Final, NamedTuple


class Row(NamedTuple):
    """One fault; `tests` are node ids without parameters."""

    number: int
    fault: str
    tests: tuple[str, ...]


_LOG: Final = "tests/chaos/test_log_faults.py"
_HEADS: Final = "tests/service/adapters/test_heads.py"
_FILE: Final = "tests/chaos/test_log_file.py"
_POWER: Final = "tests/chaos/test_power.py"
_PROCESSES: Final = "tests/chaos/test_processes.py"
_KILLED_OR_CUT: Final = (
    f"{_POWER}::test_row_01_and_02_a_log_that_is_killed_or_loses_its_power_keeps_every_acknowledged_command"
)
_KILLS: Final = "tests/e2e/test_kills.py::test_kills_lose_no_acknowledged_action_and_apply_none_twice"
_NO_WRITES: Final = f"{_LOG}::test_row_12_and_18_a_log_that_accepts_no_writes_says_why_and_reads_continue"
_UPGRADE: Final = "tests/chaos/test_upgrade.py"
_WORKERS: Final = "tests/workers/test_process.py"
_DAMAGE: Final = "tests/workers/test_queue_damage.py"
_WORKER_KILLED: Final = (
    f"{_WORKERS}::test_workers_killed_in_their_jobs_lose_and_repeat_no_turn_and_delay_no_match",
    f"{_WORKERS}::test_a_match_goes_on_within_three_seconds_of_the_return_of_workers_that_were_all_killed",
    _KILLS,
)
_ONCE: Final = f"{_PROCESSES}::test_row_23_and_24_and_25_a_command_is_applied_once_however_often_and_late_it_is_sent"
_SENDERS: Final = "tests/chaos/test_senders.py"
_SLOW_CLIENTS: Final = (
    "tests/api/server/test_gunicorn.py::test_slow_silent_and_incomplete_clients_are_closed_and_disturb_no_other_client"
)
_ACTIONS: Final = "tests/api/resources/test_actions.py"

ROWS: Final = (
    Row(
        1,
        "the log is killed",
        (_KILLED_OR_CUT, _KILLS),
    ),
    Row(
        2,
        "the power fails",
        (_KILLED_OR_CUT, f"{_POWER}::test_row_02_the_loss_of_a_log_that_is_synced_every_second_is_found"),
    ),
    Row(
        3,
        "the log loads its file",
        (
            f"{_LOG}::test_row_03_a_log_that_is_loading_its_file_is_reported_as_loading",
            "tests/events/test_redis_unavailable.py::test_a_server_that_still_loads_its_files_is_reported_as_loading",
        ),
    ),
    Row(
        4,
        "the log comes back empty",
        (
            f"{_LOG}::test_row_04_a_log_that_comes_back_empty_is_not_served",
            "tests/service/adapters/test_store.py::test_a_server_that_restarts_without_data_gets_no_command",
            "tests/service/ops/test_serve.py::test_a_log_that_lost_its_end_is_not_served_and_a_check_reports_what_is_missing",
        ),
    ),
    Row(
        5,
        "an API process is killed in mid-request",
        (
            f"{_PROCESSES}::test_row_05_a_repeat_of_a_request_whose_worker_was_killed_gets_its_answer_and_there_is_one_event",
            "tests/chaos/test_crash_points.py::test_the_next_try_repairs_a_crash_at_any_point",
        ),
    ),
    Row(6, "the process that runs a job is killed", _WORKER_KILLED),
    Row(7, "a worker is killed with all that it runs", _WORKER_KILLED),
    Row(
        9,
        "the queue is wiped",
        (f"{_WORKERS}::test_a_queue_that_is_wiped_in_mid_match_is_filled_again_from_the_log",),
    ),
    Row(
        10,
        "the queue is down",
        (
            f"{_PROCESSES}::test_row_10_deadlines_are_enforced_without_a_queue",
            f"{_WORKERS}::test_a_deadline_is_enforced_in_time_after_every_worker_was_killed",
        ),
    ),
    Row(
        11,
        "a timer fires early, or twice",
        (
            "tests/workers/test_sweeper.py::test_a_deadline_counts_once_for_any_number_of_sweepers_and_never_early",
            "tests/service/automation/test_deadlines.py::test_each_deadline_counts_once",
            "tests/service/automation/test_deadlines.py::test_two_sweepers_at_once_enforce_a_deadline_once",
        ),
    ),
    Row(
        12,
        "the log has no memory left",
        (
            _NO_WRITES,
            "tests/events/test_redis_faults.py::test_an_append_is_stored_whole_or_not_at_all_when_memory_runs_out",
        ),
    ),
    Row(
        13, "the log's disk is full", (f"{_LOG}::test_row_13_a_full_disk_is_reported_and_nothing_acknowledged_is_lost",)
    ),
    Row(
        14,
        "the log's disk is slow",
        (f"{_LOG}::test_row_14_a_slow_disk_is_reported_in_time_and_a_repeat_is_not_applied_twice",),
    ),
    Row(
        15,
        "the log hangs",
        (
            f"{_LOG}::test_row_15_a_hanging_log_is_reported_in_time_and_a_repeat_is_not_applied_twice",
            "tests/service/adapters/test_jobs.py::test_at_most_one_job_of_a_match_waits_until_it_is_taken",
        ),
    ),
    Row(
        16,
        "the log's reply is lost",
        (
            "tests/events/test_redis_faults.py::test_a_command_with_a_lost_reply_is_sent_again_and_its_event_is_stored_once",
            "tests/service/usecases/test_play.py::test_an_append_whose_answer_got_lost_counts_once",
        ),
    ),
    Row(
        18,
        "the log takes no writes",
        (
            _NO_WRITES,
            "tests/events/test_redis_faults.py::test_a_server_that_rejects_writes_is_reported_with_its_reason_and_stores_nothing",
        ),
    ),
    Row(
        19,
        "the log lost its Functions",
        (
            f"{_LOG}::test_row_19_flushed_functions_are_loaded_again_without_an_error",
            "tests/events/test_redis_faults.py::test_appends_succeed_while_the_functions_are_flushed_all_the_time",
        ),
    ),
    Row(
        20,
        "the log's clock jumps",
        (f"{_PROCESSES}::test_row_20_a_jump_of_the_logs_clock_enforces_nothing_and_costs_no_player_a_turn",),
    ),
    Row(
        21,
        "a process's clock jumps",
        (
            "tests/workers/test_sweeper.py::test_a_jump_of_every_clock_is_given_back_before_a_deadline_is_enforced",
            "tests/workers/test_sweeper.py::test_a_jump_of_only_the_processes_clocks_costs_no_player_the_turn",
            "tests/service/usecases/test_submit.py::test_a_command_is_decided_at_the_time_of_its_receipt_or_of_the_newest_event",
        ),
    ),
    Row(
        22,
        "two commands at the same version",
        (
            f"{_LOG}::test_row_22_one_of_many_writers_at_one_version_succeeds_and_the_others_get_an_error",
            "tests/events/log_contract.py::test_exactly_one_of_many_writers_wins_each_version",
        ),
    ),
    Row(
        23,
        "a command is sent twice",
        (_ONCE, f"{_ACTIONS}::test_a_command_sent_many_times_simultaneously_is_applied_once"),
    ),
    Row(
        24,
        "a key is sent with another command",
        (
            _ONCE,
            f"{_ACTIONS}::test_a_key_used_again_for_another_action_is_refused",
            "tests/service/usecases/test_play.py::test_a_key_of_another_request_is_refused",
        ),
    ),
    Row(
        25,
        "a command is sent again much later",
        (
            _ONCE,
            f"{_ACTIONS}::test_the_same_key_gets_the_same_receipt_after_any_number_of_later_events",
            "tests/service/usecases/test_play.py::test_a_retry_long_after_later_moves_gives_the_original_receipt",
        ),
    ),
    Row(
        26,
        "a command names an old version",
        (f"{_ACTIONS}::test_if_match_accepts_an_action_only_at_the_version_that_was_seen",),
    ),
    Row(
        28,
        "a token is wrong, revoked or another's",
        ("tests/api/test_rights.py::test_each_caller_gets_the_expected_answer",),
    ),
    Row(
        29,
        "a caller tries to read hidden information",
        (
            "tests/api/resources/test_observation.py::test_hidden_information_changes_no_answer_during_a_whole_match",
            "tests/api/test_nothing_leaks.py::test_worlds_that_differ_in_hidden_information_get_the_same_answers",
            "tests/api/test_nothing_leaks.py::test_bots_workers_and_long_polls_get_the_same_in_both_worlds",
            "tests/api/test_nothing_leaks_live.py::test_streams_and_long_polls_stay_the_same_in_both_worlds",
        ),
    ),
    Row(
        30,
        "a stream is cut",
        (
            "tests/api/resources/test_stream_response.py::test_two_clients_with_different_views_follow_a_match_despite_disconnections_and_kills",
        ),
    ),
    Row(31, "a stream's client never reads", (_SLOW_CLIENTS,)),
    Row(
        32,
        "one match has very many streams",
        (f"{_PROCESSES}::test_row_32_many_streams_of_one_match_slow_its_appends_only_a_little",),
    ),
    Row(33, "requests are incomplete", (_SLOW_CLIENTS, f"{_SENDERS}::test_row_33_slow_headers_delay_no_other_clients")),
    Row(
        34,
        "a body is larger than it says, or than allowed, or never ends",
        (
            "tests/api/server/test_gunicorn.py::test_each_request_gets_its_status",
            "tests/api/server/test_gunicorn.py::test_a_body_of_the_maximum_size_is_read_to_its_end",
            "tests/api/server/test_gunicorn.py::test_bytes_after_the_content_length_are_not_a_request",
            "tests/api/server/test_gunicorn.py::test_a_body_that_ends_early_is_refused",
            "tests/api/server/test_gunicorn.py::test_the_answer_to_a_request_that_is_not_read_completely_arrives_and_closes_the_connection",
            f"{_SENDERS}::test_row_34_clients_that_send_without_a_pause_delay_no_other_clients",
            f"{_SENDERS}::test_row_34_clients_that_send_without_a_pause_delay_no_other_clients_behind_nginx",
        ),
    ),
    Row(
        36,
        "JSON is hostile",
        (
            "tests/api/http/test_strict_json.py::test_json_that_parsers_disagree_on_is_refused",
            "tests/api/http/test_strict_json.py::test_a_request_with_an_invalid_body_gets_one_problem",
            "tests/api/http/test_strict_json.py::test_any_bytes_are_a_value_or_bad_json",
            "tests/api/http/test_strict_json.py::test_the_worst_sixteen_kilobytes_are_parsed_in_milliseconds",
        ),
    ),
    Row(
        37,
        "a body has thousands of faults",
        (
            "tests/api/problems/test_documents.py::test_a_body_with_many_faults_gets_a_short_answer",
            "tests/api/requests/test_strict_fields.py::test_a_list_that_is_too_long_is_refused_before_its_items_are_read",
        ),
    ),
    Row(
        38,
        "a stored event is damaged",
        (
            f"{_LOG}::test_row_38_a_byte_changed_in_the_logs_file_stops_its_match_and_no_other",
            "tests/service/repository/test_match_history.py::test_a_changed_byte_anywhere_in_a_stored_event_affects_only_its_own_match",
        ),
    ),
    Row(
        39,
        "a stored event is of a later release",
        (
            f"{_LOG}::test_row_39_an_event_of_a_later_release_stops_its_match_and_is_not_skipped",
            "tests/service/repository/test_match_history.py::test_an_event_of_a_newer_release_affects_only_its_own_match",
        ),
    ),
    Row(
        40,
        "the log's file ends in zeros or a torn command, or is damaged",
        (
            f"{_FILE}::test_row_40_an_incomplete_end_after_a_power_failure_is_cut_off_and_other_damage_is_not_served",
            f"{_FILE}::test_row_40_a_file_that_the_server_cannot_read_is_reported_without_its_content",
            "tests/service/adapters/test_log_file.py::test_no_changed_byte_makes_the_repair_cut_a_complete_command_after_it",
        ),
    ),
    Row(
        41,
        "a snapshot is wrong",
        (
            f"{_LOG}::test_row_41_a_short_match_stores_only_events_commands_and_seed_and_a_foreign_snapshot_is_ignored",
            "tests/service/repository/test_match_history.py::test_lost_events_are_noticed_and_nothing_is_served_from_the_cache",
        ),
    ),
    Row(
        45,
        "the queue holds foreign or damaged jobs",
        (
            "tests/workers/test_worker.py::test_a_function_that_is_not_on_the_list_is_refused_and_the_next_job_runs",
            f"{_WORKERS}::test_damaged_jobs_are_skipped_by_the_same_process",
            "tests/workers/test_worker.py::test_callbacks_methods_and_pickles_in_the_queue_do_nothing",
        ),
    ),
    Row(
        46,
        "the queue is full, read-only, or damaged by others",
        (
            f"{_DAMAGE}::test_matches_go_on_while_the_queue_fails_and_the_fault_is_reported",
            f"{_DAMAGE}::test_matches_go_on_with_a_damaged_queue_and_hints_are_taken_again",
            f"{_DAMAGE}::test_a_hanging_queue_does_not_delay_deadlines",
        ),
    ),
    Row(
        47,
        "no connection to the log is free",
        (f"{_LOG}::test_row_47_requests_without_a_free_connection_fail_in_time_and_the_next_ones_are_served",),
    ),
    Row(
        48,
        "one address floods the service with matches between bots",
        (
            "tests/workers/test_flood.py::test_a_bot_answers_a_person_as_fast_beside_a_flood_of_matches_of_bots",
            "tests/api/requests/test_admission.py::test_matches_with_only_bots_are_limited_by_address_however_they_start",
        ),
    ),
    Row(
        53,
        "the log lost its end, but is valid otherwise",
        (
            "tests/service/ops/test_serve.py::test_a_log_that_lost_its_end_is_not_served_and_a_check_reports_what_is_missing",
            f"{_HEADS}::test_a_log_that_lost_its_end_is_found_even_if_no_match_lost_events",
            f"{_HEADS}::test_heads_that_the_log_lost_are_reported_and_stay_saved",
        ),
    ),
    Row(
        54,
        "an older and a newer release work side by side",
        (f"{_UPGRADE}::test_row_54_matches_continue_while_one_release_replaces_another",),
    ),
    Row(
        55,
        "the log is unavailable for a moment while clocks run",
        (
            "tests/chaos/test_outages.py::test_row_55_an_outage_of_any_length_costs_no_player_time",
            "tests/service/automation/test_outages.py::test_an_outage_costs_a_seat_no_time",
        ),
    ),
)
