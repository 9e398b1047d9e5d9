"""``aucstudio methods``: list the methods and their settings."""

from __future__ import annotations

import argparse

from aucstudio.console import DONE, say, say_json


def run(options: argparse.Namespace) -> int:
    from aucstudio.engine import describe_methods

    if options.method is not None:
        from aucstudio.project.runs.planning import known_method

        known_method(options.method)
    described = [method for method in describe_methods() if options.method in (None, method["id"])]
    if options.json:
        say_json(described)
        return DONE
    width = max(len(method["id"]) for method in described)
    for method in described:
        key = method["id"]
        words = f"{method['title']}, {method['in_words']}: {method['summary']}"
        say(f"{key:<{width}}  {words}")
        say(f"{'':<{width}}    Trains for {method['trains_for']}. {method['use_when']}")
        say(f"{'':<{width}}    {method['weights_note']}")
        for setting in method["parameters"]:
            say(f"{'':<{width}}    {setting['name']} = {setting['default']}: {setting['help']}")
    return DONE
