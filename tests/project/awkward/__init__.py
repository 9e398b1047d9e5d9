"""Files that are hard to read, each with its correct content.

Each ``.toml`` file of this folder holds one group of files. A file has the keys

awkward
    What makes it hard to read.
content, encoding
    Its text, and how that is encoded (UTF-8 by default).
columns
    The expected values in order: numbers, or texts; ``nan`` is a missing value.
notes
    Regular expressions that sentences match.
error
    The code of the error, for a file that is refused.
rejected
    Lines of rows that are left out.
given, roles
    Parts of the dialect and roles that a person sets.
label
    The label that is guessed, where that is checked.
"""

import tomllib
from pathlib import Path

CASES = [
    (f"{group.stem}-{name}", case)
    for group in sorted(Path(__file__).parent.glob("*.toml"))
    for name, case in tomllib.loads(group.read_text(encoding="utf-8")).items()
]


def write(path, case):
    """Write a file, and return the arguments with which it is read."""
    path.write_bytes(content_of(case))
    given = {
        part: tuple(value) if isinstance(value, list) else value
        for part, value in case.get("given", {}).items()
    }
    return {"dialect": given, "roles": case.get("roles", {})}


def content_of(case):
    return case["content"].encode(case.get("encoding", "utf-8"))


def without_nan(columns):
    return {
        name: [None if value is None or value != value else value for value in values]
        for name, values in columns.items()
    }


def understood(table):
    return without_nan({column.name: column.values.tolist() for column in table.columns})
