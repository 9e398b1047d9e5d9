"""``aucstudio export``: write a saved model for other programs."""

from __future__ import annotations

import argparse

from aucstudio.boundary import DONE
from aucstudio.commands.options import MODEL, add


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add(parser, {"model MODEL": MODEL})
    add(parser, {"--to FORMAT": "script, onnx, sql or json"}, required=True)
    target = "where the exported model goes; - is the standard output"
    add(parser, {"--output FILE": target}, "-o", required=True)


def run(options: argparse.Namespace) -> int:
    from aucstudio.project.store.export import check_format, export_model
    from aucstudio.project.store.files import refuse_own_input
    from aucstudio.project.store.model_file import load_model

    check_format(options.to)
    refuse_own_input(options.output, options.model)
    export_model(load_model(options.model), options.to, options.output)
    return DONE
