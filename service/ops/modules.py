"""Links ES modules into one script, for a page that may load nothing.

It knows only the few forms of `import` and `export` that the files of `api/web/` use, and refuses others. A test runs the
result in a browser.
"""

import json
import re
from collections.abc import Callable
from posixpath import dirname, join, normpath
from typing import Final

_IMPORT: Final = re.compile(
    r"""(?<![\w$.@"'/*])import\s*(?:(?P<default>[\w$]+)\s*)?,?\s*(?:\{(?P<names>[^{}]*)\}\s*)?(?:from\s*)?"(?P<origin>[^"]+)";?"""
)
_REEXPORT: Final = re.compile(r"""(?<![\w$.@])export\s*\{(?P<names>[^{}]*)\}\s*from\s*"(?P<origin>[^"]+)";?""")
_EXPORTED_LIST: Final = re.compile(r"""(?<![\w$.@])export\s*\{(?P<names>[^{}]*)\}\s*;?""")
_EXPORTED_NAME: Final = re.compile(
    r"(?<![\w$.@])export\s+(?P<kind>const|class|function\*?|async\s+function\*?)\s+(?P<name>[\w$]+)"
)
_DEFAULT: Final = re.compile(r"(?<![\w$.@])export\s+default\s+(?=[\w$(])")
_LEFT: Final = re.compile(
    r"""(?<![\w$.@])(?:import\s*(?:[{*"]|[\w$]+\s*(?:,|from\b))|export\s+(?:let|var|default|async)\b|export\s*[{*])"""
    r"""|(?:=>|\bawait|\breturn)\s*import\("""
)
"""Forms of `import` and `export` that are not known here."""
_MAP_COMMENT: Final = re.compile(r"^//# sourceMappingURL=.*$", re.MULTILINE)
_IMPORT_MAP: Final = re.compile(r'<script type="importmap">(.*?)</script>', re.DOTALL)
_FOLDER: Final = "./web/{revision}/"


def linked(entry: str, read: Callable[[str], str]) -> str:
    """One script of a module and all that it imports; `read` gives the text of a file. Each module runs once, in order.

    Bare names such as `preact` are those of the import map in `index.html`.

    Raises:
        ValueError: a module has a form of import or export that is not known here, or imports itself.
    """
    found = _IMPORT_MAP.search(read("index.html"))
    bare = {
        name: file.removeprefix(_FOLDER) for name, file in json.loads(found[1] if found else "{}")["imports"].items()
    }
    done: dict[str, str] = {}

    def visit(file: str, path: tuple[str, ...]) -> str:
        if file in path:
            raise ValueError(f"{file} imports itself, by {path}")
        if file not in done:
            code = _MAP_COMMENT.sub("", read(file))
            origins = {match["origin"] for form in (_IMPORT, _REEXPORT) for match in form.finditer(code)}
            files = {
                origin: visit(bare.get(origin) or normpath(join(dirname(file), origin)), (*path, file))
                for origin in sorted(origins)
            }
            done[file] = _as_function(code, files)
        return file

    visit(entry, ())
    parts = [f"$modules[{json.dumps(file)}] = await (async () => {{\n{code}\n}})();" for file, code in done.items()]
    return "\n".join(["const $modules = {};", *parts, ""])


def _as_function(code: str, files: dict[str, str]) -> str:
    """The body of a function that runs a module and returns what it exports. `files` are those of its imports."""
    exported: dict[str, str] = {}

    def module(origin: str) -> str:
        return f"$modules[{json.dumps(files[origin])}]"

    def imported(match: re.Match[str]) -> str:
        names = [f"{name}: {local}" for name, local in _pairs(match["names"] or "")]
        if match["default"]:
            names.append(f"default: {match['default']}")
        return f"const {{ {', '.join(names)} }} = {module(match['origin'])};"

    def reexported(match: re.Match[str]) -> str:
        exported.update({name: f"{module(match['origin'])}.{source}" for source, name in _pairs(match["names"])})
        return ""

    def listed(match: re.Match[str]) -> str:
        exported.update({name: local for local, name in _pairs(match["names"])})
        return ""

    def named(match: re.Match[str]) -> str:
        exported[match["name"]] = match["name"]
        return f"{match['kind']} {match['name']}"

    def default(_match: re.Match[str]) -> str:
        exported["default"] = "$default"
        return "const $default = "

    for form, replaced in (
        (_IMPORT, imported),
        (_REEXPORT, reexported),
        (_EXPORTED_LIST, listed),
        (_EXPORTED_NAME, named),
        (_DEFAULT, default),
    ):
        code = form.sub(replaced, code)
    if left := _LEFT.search(code):
        raise ValueError(f"this form of import or export is not known: {code[left.start() : left.end() + 40]}")
    return f"{code}\nreturn {{ {', '.join(f'{name}: {local}' for name, local in exported.items())} }};"


def _pairs(names: str) -> list[tuple[str, str]]:
    """`a as b, c` is a and b, then c and c."""
    pairs = [name.split(" as ") for name in re.sub(r"\s+", " ", names).split(",") if name.strip()]
    return [(pair[0].strip(), pair[-1].strip()) for pair in pairs]
