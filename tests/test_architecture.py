"""Imports point one way, and only the window knows Qt."""

import ast
import functools
import graphlib
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import aucstudio

PACKAGE = Path(aucstudio.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
DOORS = ("aucstudio.cli", "aucstudio.commands")
FORBIDDEN = {
    "notices": (
        "aucstudio.engine",
        "aucstudio.project",
        "aucstudio.gui",
        "aucstudio.cli",
        "aucstudio.commands",
        "PySide6",
        "pyqtgraph",
    ),
    "engine": (
        "aucstudio.project",
        "aucstudio.gui",
        "aucstudio.cli",
        "aucstudio.commands",
        "PySide6",
        "pyqtgraph",
    ),
    "project": ("aucstudio.gui", "aucstudio.cli", "aucstudio.commands", "PySide6", "pyqtgraph"),
    "gui": ("aucstudio.cli", "aucstudio.commands"),
}

# These are imported inside the functions that need them, so that other commands start without them.
_WINDOW = ("aucstudio.gui", "PySide6", "pyqtgraph")
LOADED_WHEN_USED = dict.fromkeys(("commands", "cli.py", "console.py"), _WINDOW)

# What a room of the engine may import stands to its left; modules beside the rooms are rooms too.
ENGINE_ROOMS = [
    "params",
    "code_cache",
    "compiled",
    "arrays",
    "linalg",
    "kernels",
    "scorers",
    "monitor",
    "blocks",
    "roc",
    "features",
    "losses",
    "solvers",
    "fit",
    "ensembles",
    "inference",
    "calibration",
    "restoring",
    "cost",
    "declared",
    "base",
    "crossfit",
    "methods",
    "verification",
    "__init__",
]

# What a room of the project layer may import stands to its left.
ROOMS = [
    "errors",
    "pickle_stream",
    "typed",
    "child_process",
    "leftovers",
    "scratch",
    "resources",
    "data",
    "runs",
    "store",
    "work",
    "results",
    "combination",
    "tournament",
    "survey",
    "geometry",
    "explain",
    "examples",
    "guide",
]

# The same of the window; pages know each other only through what several of them share.
GUI_ROOMS = ["state", "common", "dialogs", "panels", "pages", "desk", "root"]


@functools.cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path, top_level_only=False):
    tree = parsed(path)
    nodes = tree.body if top_level_only else ast.walk(tree)
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def module_name(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def engine_imports(path):
    """Give the modules and packages of the engine that a module imports from."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("aucstudio.engine"):
            # "from package import module" is about the module.
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            modules = [name for name in inner if is_module(name)]
            yield from modules or ([node.module] if node.module != "aucstudio.engine" else [])


def is_module(name):
    place = PACKAGE.parent.joinpath(*name.split("."))
    return place.is_dir() or place.with_suffix(".py").exists()


@pytest.mark.parametrize(("layer", "names"), FORBIDDEN.items())
def test_imports_point_down(layer, names):
    for path in modules(layer):
        for name in imports(path):
            assert not name.startswith(names), f"{path} imports {name}"


@pytest.mark.parametrize(("layer", "names"), LOADED_WHEN_USED.items())
def test_modules_of_the_command_line_import_the_window_where_they_use_it(layer, names):
    for path in modules(layer):
        for name in imports(path, top_level_only=True):
            assert not name.startswith(names), f"{path} imports {name}"


def modules(layer):
    place = PACKAGE / layer
    return place.rglob("*.py") if place.is_dir() else [place]


@pytest.mark.slow
def test_rooms_of_the_engine_import_one_way():
    for path in (PACKAGE / "engine").rglob("*.py"):
        room = path.relative_to(PACKAGE / "engine").parts[0].removesuffix(".py")
        for name in engine_imports(path):
            other = name.split(".")[2]
            assert ENGINE_ROOMS.index(other) <= ENGINE_ROOMS.index(room), f"{path} imports {name}"


def test_modules_of_the_engine_import_each_other_in_no_circle():
    known = {module_name(path): path for path in (PACKAGE / "engine").rglob("*.py")}
    graph = {
        name: {other for other in engine_imports(path) if other in known and other != name}
        for name, path in known.items()
    }
    assert list(graphlib.TopologicalSorter(graph).static_order())


def test_private_modules_and_names_stay_in_their_package():
    reached = set()
    for path in MODULES:
        for node in ast.walk(parsed(path)):
            module = getattr(node, "module", None) or ""
            if not isinstance(node, ast.ImportFrom) or not module.startswith("aucstudio"):
                continue
            parts = module.split(".")
            home = next((k for k, part in enumerate(parts) if private(part)), len(parts))
            package = ".".join(parts[:home])
            hidden = any(private(name) for name in (*parts, *(alias.name for alias in node.names)))
            if hidden and not module_name(path).startswith(package + "."):
                reached.add(module)
    assert not reached


def private(name):
    return name.startswith("_") and not name.startswith("__")


def test_a_public_name_of_the_engine_means_one_class():
    homes = {}
    for path in (PACKAGE / "engine").rglob("*.py"):
        if "verification" in path.parts:
            continue  # the same problems by other routes, which share nothing on purpose
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(path)
    assert not {name: paths for name, paths in homes.items() if len(paths) > 1}


def test_every_public_name_of_the_engine_can_be_imported():
    for package in ("engine", "engine.inference"):
        module = importlib.import_module(f"aucstudio.{package}")
        late = [name for names in getattr(module, "_LATE", {}).values() for name in names.split()]
        assert all(hasattr(module, name) for name in [*getattr(module, "__all__", ()), *late])


def test_solvers_know_no_method():
    for room in ("linalg.py", "features", "losses", "solvers"):
        start = PACKAGE / "engine" / room
        for path in [start] if start.is_file() else start.rglob("*.py"):
            assert "aucstudio.engine.methods" not in " ".join(engine_imports(path)), path


@pytest.mark.slow
def test_rooms_of_the_project_import_one_way():
    for path in (PACKAGE / "project").rglob("*.py"):
        room = path.relative_to(PACKAGE / "project").parts[0].removesuffix(".py")
        for name in imports(path):
            if name.startswith("aucstudio.project.") and room != "__init__":
                other = name.split(".")[2]
                assert ROOMS.index(other) <= ROOMS.index(room), f"{path} imports {name}"


@pytest.mark.slow
def test_rooms_of_the_window_import_one_way():
    for path in (PACKAGE / "gui").rglob("*.py"):
        place = path.relative_to(PACKAGE / "gui").parts
        room = place[0] if len(place) > 1 else "root"
        for name in imports(path):
            if name.startswith("aucstudio.gui."):
                other = name.split(".")[2]
                other = other if other in GUI_ROOMS else "root"
                assert GUI_ROOMS.index(other) <= GUI_ROOMS.index(room), f"{path} imports {name}"
                if room == other == "pages":
                    assert name.split(".")[3] == place[1], f"{path} imports {name}"


def test_modules_of_the_window_import_each_other_in_no_circle():
    known = {module_name(path): path for path in (PACKAGE / "gui").rglob("*.py")}
    graph = {}
    for name, path in known.items():
        inner = {
            f"{node.module}.{alias.name}" if f"{node.module}.{alias.name}" in known else node.module
            for node in ast.walk(parsed(path))
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        graph[name] = {other for other in inner if other in known and other != name}
    assert list(graphlib.TopologicalSorter(graph).static_order())


@pytest.mark.slow
def test_nothing_waits_inside_the_event_loop():
    # A nested loop lets a person change what the code below it relies on.
    for path in (PACKAGE / "gui").rglob("*.py"):
        called = {
            node.func.attr
            for node in ast.walk(parsed(path))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        }
        assert "exec" not in called or path.name == "app.py", path
        assert "QEventLoop" not in path.read_text(encoding="utf-8"), path


@pytest.mark.slow
def test_the_command_line_needs_no_window():
    code = (
        "import sys, aucstudio.cli, aucstudio.project.work.submit; print('PySide6' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.slow
def test_the_engine_starts_no_threads_and_knows_no_files():
    for path in (PACKAGE / "engine").rglob("*.py"):
        known = {"concurrent.futures", "multiprocessing", "pathlib", "os", "io", "sqlite3"}
        assert not set(imports(path)) & known, path
        assert "Thread(" not in path.read_text(encoding="utf-8"), path


def test_documents_are_made_into_types_in_one_place():
    # See there what threads that do so at once would come to.
    for path in (path for path in MODULES if path.name != "typed.py"):
        text = path.read_text(encoding="utf-8")
        assert "msgspec.convert(" not in text, path
        assert "msgspec.json.decode(" not in text, path


@pytest.mark.slow
def test_nothing_that_users_exchange_is_pickled():
    # The program's own two processes pickle what goes between them, and nobody else reads it.
    for path in (path for path in MODULES if path.name != "pickle_stream.py"):
        assert not {"pickle", "joblib", "dill"} & set(imports(path)), path


def test_every_module_says_what_it_is_for():
    for path in MODULES:
        assert ast.get_docstring(parsed(path)), path


@pytest.mark.slow
def test_compiled_code_lets_the_window_run_on():
    for path in (PACKAGE / "engine").rglob("*.py"):
        if path.name not in ("compiled.py", "code_cache.py"):
            assert not any(name.split(".")[0] == "numba" for name in imports(path)), path


@pytest.mark.slow
def test_the_engine_loads_no_compiler_before_it_is_needed():
    code = "import sys, aucstudio.engine; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
