"""The metrics of several processes are added up from one folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from service.observability import metrics_folder
from service.observability.metrics import of_folder

ROOT = Path(__file__).parents[3]
COUNT = "from service.observability import metrics; metrics.COMMANDS.labels('appended').inc(); metrics.STREAMS.set({streams})"


def count(folder: str, process: str, streams: int) -> None:
    environ = {**os.environ, metrics_folder.FOLDER: folder, metrics_folder.PROCESS: process}
    subprocess.run([sys.executable, "-c", COUNT.format(streams=streams)], cwd=ROOT, env=environ, check=True)


def test_a_process_continues_the_counts_of_one_that_died() -> None:
    with metrics_folder.new_folder() as folder:
        for process, streams in (("api-1", 3), ("api-2", 4), ("api-1", 1)):
            count(folder, process, streams)
        registry = of_folder(folder)
        assert registry.get_sample_value("moonstone_commands_total", {"result": "appended"}) == 3
        assert registry.get_sample_value("moonstone_streams_open") == 5
        assert {path.name.partition("api")[2] for path in Path(folder).iterdir()} == {"-1.db", "-2.db"}
    assert not Path(folder).exists()


def test_a_forked_child_does_not_delete_the_folder() -> None:
    with metrics_folder.new_folder() as folder:
        program = (
            "import os, sys\n"
            "from service.observability import metrics_folder\n"
            "with metrics_folder.new_folder() as folder:\n"
            "    if not os.fork(): sys.exit(0)\n"
            "    os.wait()\n"
            "    print(os.path.exists(folder), folder)\n"
        )
        done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
        exists, folder_of_child = done.stdout.split()
        assert exists == "True"
        assert not Path(folder_of_child).exists()
        assert Path(folder).exists()


def test_a_forked_child_counts_and_logs_with_its_own_process_id() -> None:
    program = (
        "import os\n"
        "from pathlib import Path\n"
        "from service.observability import metrics_folder\n"
        "with metrics_folder.new_folder() as folder:\n"
        "    os.environ[metrics_folder.FOLDER] = folder\n"
        "    from service.observability import metrics\n"
        "    from service.observability.logfmt import Line\n"
        "    metrics.COMMANDS.labels('appended').inc(), Line('', 0, '', {})\n"
        "    if not os.fork():\n"
        "        metrics.COMMANDS.labels('reused').inc()\n"
        "        os._exit(Line('', 0, '', {}).process != os.getpid())\n"
        "    _, status = os.wait()\n"
        "    print(status, len({path.stem.rpartition('_')[2] for path in Path(folder).iterdir()}))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "2"]


def test_the_folder_of_a_killed_process_is_removed_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics_folder, "_MEMORY", str(tmp_path))  # here no process of another test deletes folders
    program = (
        "import os, signal, sys\n"
        "from service.observability import metrics_folder\n"
        "metrics_folder._MEMORY = sys.argv[1]\n"
        "with metrics_folder.new_folder() as folder:\n"
        "    print(folder, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    left = Path(done.stdout.strip())
    assert left.parent == tmp_path
    assert left.exists()
    with metrics_folder.new_folder() as folder:
        assert not left.exists()
        assert Path(folder).exists()
