"""Options of the commands: their declaration, and how their values are read.

They are declared in ``options.toml``, which the help follows.
"""

from __future__ import annotations

import argparse
import functools
import math
import shlex
import tomllib
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from aucstudio import __version__
from aucstudio.console import BAD_INPUT, note
from aucstudio.notices.words import suggestion
from aucstudio.project.errors import InputError, input_error

if TYPE_CHECKING:
    from aucstudio.project.data.any_table import AnyTable
    from aucstudio.project.data.preparing.acceptance import RefusedColumnsError

Value = TypeVar("Value")

_ACCEPTED = ("unknown", "unreadable", "range")
_MARKS = {
    "delimiter": {"tab": "\t", "\\t": "\t", "blank": " ", "blanks": " "},
    "quote": {"none": ""},
    "limits": {"missing": ""},
}
GLOBAL_OPTIONS = ("--debug", "--quiet")


@functools.cache
def declared() -> dict[str, Any]:
    """Return the declared options, by command or by the name of a set of them."""
    return tomllib.loads(Path(__file__).with_name("options.toml").read_text("utf-8"))


def add_options(parser: argparse.ArgumentParser, name: str) -> None:
    """Add the options of a command, or of a set."""
    for group in declared()[name]:
        for other in group.get("use", ()):
            add_options(parser, other)
        place: argparse._ActionsContainer = parser
        if "title" in group:
            place = parser.add_argument_group(group["title"])
        elif "one_of" in group:
            place = parser.add_mutually_exclusive_group(required=group.get("required", False))
        for spelled, how in group.get("options", {}).items():
            _add(place, spelled, how if isinstance(how, dict) else {"help": how})


def _add(place: argparse._ActionsContainer, spelled: str, how: dict[str, Any]) -> None:
    name, *value = spelled.split()
    given = {key: found for key, found in how.items() if key not in ("short", "type")}
    if value:
        given["metavar"] = value[0].removesuffix("*")
        given |= {"action": "append", "default": []} if value[0].endswith("*") else {}
    elif not {"nargs", "choices"} & given.keys():
        given["action"] = "store_true"
    if "type" in how:
        given["type"] = _TYPES[how["type"]]
    if "metavar" in how and isinstance(how["metavar"], list):
        given["metavar"] = tuple(how["metavar"])
    short = [how["short"]] if "short" in how else []
    place.add_argument(*short, name, **given)


def file_or_none(text: str) -> str | None:
    """Return the file to write results to; - is where they go without one."""
    return None if text == "-" else text


def whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return what reads a whole number within bounds."""
    bounds = f"of at least {least}" if most is None else f"from {least} to {most}"

    def read(text: str) -> int:
        if not text.isdigit() or not least <= int(text) <= (int(text) if most is None else most):
            raise argparse.ArgumentTypeError(f"must be a whole number {bounds}; it is {text!r}")
        return int(text)

    return read


def minutes(text: str) -> float:
    """Read a time limit."""
    from aucstudio.engine.params import read_decimal

    try:
        found = read_decimal(text)
    except ValueError:
        found = float("nan")
    if not 0.0 < found < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number greater than 0; it is {text!r}")
    return found


def by_column(
    given: Collection[str],
    option: str,
    example: str,
    read: Callable[[str], Value],
) -> Iterator[tuple[str, Value]]:
    """Read ``COL=VALUE`` of a repeatable option; yield column and value.

    Raises
    ------
    InputError
        If one has no column, or ``read`` raises ValueError; ``example`` describes what is accepted.
    """
    for text in given:
        column, _, value = text.rpartition("=")
        try:
            found = read(value)
        except ValueError:
            column = ""
        if not column:
            raise InputError(f"--{option} takes {example}; it is {text!r}", setting=option)
        yield column, found


def read_band(text: str) -> tuple[float, float]:
    """Read a range of false-positive rates."""
    try:
        alpha, beta = (float(part) for part in text.split(","))
    except ValueError:
        raise input_error("no_band", text=text) from None
    return alpha, beta


def check_together(options: argparse.Namespace) -> None:
    """Refuse options without those that they need, and with those that they exclude.

    Raises
    ------
    InputError
    """

    def given(name: str) -> bool:
        value = getattr(options, name)
        return value is not None and value is not False and value != []

    for name, needed in declared()["needs"].get(options.command, {}).items():
        wrong = given(name) and not given(needed)
        refuse(wrong, f"{_spelled(name)} needs {_spelled(needed)}: add it", name)
    for pair in declared()["excludes"].get(options.command, ()):
        name, other = pair["option"], pair["other"]
        why = f"{_spelled(name)} cannot be combined with {_spelled(other)}: {pair['why']}"
        refuse(given(name) and given(other), why, name)


def _spelled(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def refuse(wrong: object, sentence: str, setting: str) -> None:
    """Raise InputError if options do not go together.

    Raises
    ------
    InputError
    """
    if wrong:
        raise InputError(sentence, setting=setting)


_TYPES: dict[str, Callable[[str], object]] = {
    "int": int,
    "float": float,
    "minutes": minutes,
    "count": whole(1),
    "folds": whole(2, 20),
    "file": file_or_none,
}


def read_acceptance(options: argparse.Namespace) -> dict[str, Any]:
    """Collect what is accepted, and how columns are written."""
    written: dict[str, str] = {}
    for text in options.written:
        column, _, cell = text.partition("=")
        example = "--written takes COL=CELL, such as 'rate=12.5 %'"
        refuse(not (column and cell.strip()), f"{example}; it is {text!r}", "written")
        written[column] = cell.strip()
    example = "COL=FACTOR, such as rate=0.01"
    scale = dict(by_column(options.scale, "scale", example, _factor))
    allowed = {kind: getattr(options, f"allow_{kind}") for kind in _ACCEPTED}
    return {"written": written, "scale": scale, "allowed": allowed}


def _factor(text: str) -> float:
    from aucstudio.engine.params import read_decimal

    factor = read_decimal(text)
    if not (math.isfinite(factor) and factor):
        raise ValueError
    return factor


def with_options(error: RefusedColumnsError) -> str:
    """Return the sentence of a refusal with the options that mend or allow it.

    None are named where a column name may be mistyped: the sentence offers that name.
    """
    if str(error).endswith("?"):
        return str(error)
    remedies = dict.fromkeys(
        f"--{remedy.setting} {shlex.quote(remedy.of_column(name))}"
        for name, refusal in error.refusals.items()
        if (remedy := refusal.remedy) is not None
    )
    allowing = " ".join(
        f"--allow-{refusal.kind} {name!r}" for name, refusal in error.refusals.items()
    )
    mend = f"{' '.join(remedies)} reads it; " if remedies else ""
    kinds = {refusal.kind for refusal in error.refusals.values()}
    how = "with these numbers as they are" if kinds == {"range"} else "nevertheless"
    return f"{error}; {mend}{allowing} scores the rows {how}"


def _read_roles(options: argparse.Namespace) -> dict[str, str]:
    """Collect the roles that columns were given."""
    roles: dict[str, str] = {}
    for role in ("ignore", "category", "number", "id", "group", "weight"):
        for column in getattr(options, role):
            if roles.setdefault(column, role) != role:
                raise input_error("two_roles", column=column, setting=role, other=roles[column])
    if options.weight_kind == "frequency":
        absent = "--weight-kind needs a weight column: add --weight COLUMN"
        refuse(not options.weight, absent, "weight-kind")
        roles |= dict.fromkeys(options.weight, "frequency")
    return roles


def read_said(options: argparse.Namespace) -> dict[str, Any]:
    """Collect the options about the table, its columns and its dialect.

    These are arguments of :func:`~aucstudio.project.data.table.read_table`.
    """
    absent: dict[str, tuple[float, ...]] = {}
    example = "COL=NUMBER, such as age=-999"
    for column, numbers in by_column(options.missing_in, "missing-in", example, _numbers):
        absent[column] = (*absent.get(column, ()), *numbers)
    parts: dict[str, tuple[str, ...]] = {}
    example = "COL=PART, such as admitted=number,weekday,month-circle"
    for column, asked in by_column(options.date_parts, "date-parts", example, _names):
        parts[column] = (*parts.get(column, ()), *asked)
    return {
        "label": options.label,
        "positive": options.positive or None,
        "merge": options.merge_spellings or None,
        "roles": _read_roles(options),
        "absent": absent,
        "parts": parts,
        "dialect": read_dialect(options),
    }


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(map(float, text.split(",")))


def _names(text: str) -> tuple[str, ...]:
    if not text:
        raise ValueError
    return tuple(part.strip().lower() for part in text.split(","))


def read_dialect(options: argparse.Namespace) -> dict[str, Any]:
    """Collect the options about the format of the text file."""
    given: dict[str, Any] = {}
    parts = ("delimiter", "encoding", "decimal", "quote", "skip", "sheet", "limits", "strict")
    for part in parts:
        value = getattr(options, part)
        if value is not None and value is not False:
            given[part] = _MARKS.get(part, {}).get(value, value)
    if "delimiter" in given:
        given["delimiter"] = _control(given["delimiter"])
    if options.missing:
        given["missing"] = tuple(options.missing)
    return given


def _control(mark: str) -> str:
    r"""Read ``\x01`` or ``^A`` as the character that cannot be typed."""
    if len(mark) == 4 and mark[:2] == "\\x" and set(mark[2:]) <= set("0123456789abcdefABCDEF"):
        return chr(int(mark[2:], 16))
    if len(mark) == 2 and mark[0] == "^" and "A" <= mark[1] <= "_":
        return chr(ord(mark[1]) - 64)
    return mark


def choose_reader(
    options: argparse.Namespace, data: str, methods: Sequence[str | None]
) -> Callable[..., AnyTable]:
    """Return what reads the table, or opens it on disk."""
    from aucstudio.project.data.table import read_table
    from aucstudio.project.runs.estimate import table_reader

    stream, block_size = options.stream, options.block_size
    found = [table_reader(data, method, stream, block_size) for method in dict.fromkeys(methods)]
    read, remark = found[0]
    elsewhere = "cluster" if getattr(options, "cluster", None) else "jobs"
    refuse(
        read is not read_table and (elsewhere == "cluster" or getattr(options, "jobs", 1) > 1),
        f"an out-of-memory table is read by one process only: leave out --{elsewhere}",
        elsewhere,
    )
    if remark:
        note(remark)
    return read


class OneLineParser(argparse.ArgumentParser):
    """Says what is wrong in one line, and what may have been meant."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: {message} (see {self.prog} --help)\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Refuse unknown options before missing ones: an unknown one may be a misspelt one."""
        if self._subparsers is None:
            self._refuse([word for word in _options(args or ()) if not self._may_be(word)])
        found, others = super().parse_known_args(args, namespace)
        self._refuse([word for word in others if word.startswith("-")])
        return found, others

    def _may_be(self, word: str) -> bool:
        name = word.partition("=")[0]
        return any(known.startswith(name) for known in self._option_string_actions)

    def _refuse(self, unknown: Sequence[str]) -> None:
        if unknown:
            name = unknown[0].partition("=")[0]
            self.error(f"there is no option {name}{suggestion(name, self._option_string_actions)}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as wrong:
            near = suggestion(str(value), map(str, action.choices or ()))
            raise argparse.ArgumentError(action, f"{wrong.message}{near}") from None


def _options(words: Sequence[str]) -> list[str]:
    """Return the long options among words; one with a blank is taken as a value."""
    before = takewhile(lambda word: word != "--", words)
    return [word for word in before if word.startswith("--") and " " not in word]


def window_parser() -> argparse.ArgumentParser:
    parser = OneLineParser(prog="aucstudio", parents=[_global_options()])
    add_options(parser, "window")
    parser.set_defaults(sample=False, self_test=False)
    return parser


def command_parser(words: Collection[str] | None = None) -> argparse.ArgumentParser:
    """Build the parser of all commands.

    Parameters
    ----------
    words : collection of str
        The command line: only the commands among its words get their options. By default all do.
    """
    common = _global_options()
    parser = OneLineParser(
        prog="aucstudio",
        parents=[common],
        usage="aucstudio [options] [FILE]\n       aucstudio [options] COMMAND ...",
        description="Train for the ROC curve itself. Without a command: open the window, "
        "on FILE (a table or a project) if one is given.",
        epilog="To begin: aucstudio inspect data.csv, then aucstudio best data.csv --save-model "
        "best.aucmodel. aucstudio COMMAND --help lists the options of a command.",
    )
    parser.add_argument("--version", action="version", version=f"aucstudio {__version__}")
    add_options(parser, "program")
    parser.set_defaults(file=None)
    commands = parser.add_subparsers(
        dest="command", title="commands", metavar="COMMAND", prog="aucstudio"
    )
    for name, purpose in declared()["commands"].items():
        sentence = f"{purpose[0].upper()}{purpose[1:]}."
        made = commands.add_parser(name, parents=[common], help=purpose, description=sentence)
        if words is None or name in words:
            add_options(made, name)
    return parser


def _global_options() -> OneLineParser:
    """Build the options that are accepted before or after a command."""
    common = OneLineParser(add_help=False, argument_default=argparse.SUPPRESS)
    add_options(common, "global")
    return common
