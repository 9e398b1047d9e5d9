"""What an option may be given, and options that several commands share."""

from __future__ import annotations

import argparse


def add_cluster_option(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="send the work to a Dask scheduler that you trust (tcp://host:8786)",
    )


def file_or_none(text: str) -> str | None:
    """Return the file to write results to; - is where they go without one."""
    return None if text == "-" else text


def positive_int(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1; it is {text!r}")
    return int(text)


def minutes(text: str) -> float:
    try:
        minutes = float(text)
    except ValueError:
        minutes = float("nan")
    if not 0.0 < minutes < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number greater than 0; it is {text!r}")
    return minutes


def folds(text: str) -> int:
    if not text.isdigit() or not 2 <= int(text) <= 20:
        raise argparse.ArgumentTypeError(f"must be a whole number from 2 to 20; it is {text!r}")
    return int(text)


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON document")
