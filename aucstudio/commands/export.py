"""``aucstudio export``: write a saved model for other programs."""

from __future__ import annotations

import argparse

from aucstudio.console import DONE


def run(options: argparse.Namespace) -> int:
    from aucstudio.project.store.export import check_format, export_model
    from aucstudio.project.store.files import refuse_own_input
    from aucstudio.project.store.model_file import load_model

    check_format(options.to)
    refuse_own_input(options.output, options.model)
    export_model(load_model(options.model), options.to, options.output)
    return DONE
