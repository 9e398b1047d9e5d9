"""``aucstudio export``: a saved model written for other programs."""

from __future__ import annotations

import argparse

from aucstudio.boundary import DONE


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("model", metavar="MODEL", help="a saved model (*.aucmodel)")
    parser.add_argument("--to", metavar="FORMAT", required=True, help="script, onnx, sql or json")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        required=True,
        help="where the exported model goes; - is the standard output",
    )


def run(options: argparse.Namespace) -> int:
    from aucstudio.project.store.export import check_format, export_model
    from aucstudio.project.store.files import refuse_own_input
    from aucstudio.project.store.model_file import load_model

    check_format(options.to)
    refuse_own_input(options.output, options.model)
    export_model(load_model(options.model), options.to, options.output)
    return DONE
