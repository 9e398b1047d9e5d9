"""Imports point in one direction, and only the window imports Qt."""

import ast
import graphlib
import importlib
import subprocess
import sys

import pytest

from tests.sources import PACKAGE, nodes, parsed

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

# A package of the engine may import those to its left; modules beside packages count as packages.
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
    "reliability",
    "restoring",
    "cost",
    "declared",
    "base",
    "crossfit",
    "methods",
    "verification",
    "__init__",
]

# A package of the project layer may import those to its left.
ROOMS = [
    "errors",
    "pickle_stream",
    "typed",
    "child_process",
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

# The same for the window; pages share code only through the shared modules.
GUI_ROOMS = ["state", "common", "dialogs", "panels", "pages", "desk", "root"]


def imports(path, top_level_only=False):
    for node in parsed(path).body if top_level_only else nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def module_name(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def engine_imports(path):
    """Return the modules and packages of the engine that a module imports from."""
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("aucstudio.engine"):
            # "from package import module" imports the module.
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            modules = [name for name in inner if is_module(name)]
            yield from modules or ([node.module] if node.module != "aucstudio.engine" else [])


def is_module(name):
    place = PACKAGE.parent.joinpath(*name.split("."))
    return place.is_dir() or place.with_suffix(".py").exists()


@pytest.mark.parametrize(("layer", "names"), FORBIDDEN.items())
def test_imports_point_to_lower_layers(layer, names):
    for path in modules(layer):
        for name in imports(path):
            assert not name.startswith(names), f"{path} imports {name}"


@pytest.mark.parametrize(("layer", "names"), LOADED_WHEN_USED.items())
def test_command_line_imports_the_window_inside_functions(layer, names):
    for path in modules(layer):
        for name in imports(path, top_level_only=True):
            assert not name.startswith(names), f"{path} imports {name}"


def modules(layer):
    place = PACKAGE / layer
    return place.rglob("*.py") if place.is_dir() else [place]


@pytest.mark.slow
def test_engine_packages_import_in_one_direction():
    for path in (PACKAGE / "engine").rglob("*.py"):
        room = path.relative_to(PACKAGE / "engine").parts[0].removesuffix(".py")
        for name in engine_imports(path):
            other = name.split(".")[2]
            assert ENGINE_ROOMS.index(other) <= ENGINE_ROOMS.index(room), f"{path} imports {name}"


def test_engine_has_no_import_cycles():
    known = {module_name(path): path for path in (PACKAGE / "engine").rglob("*.py")}
    graph = {
        name: {other for other in engine_imports(path) if other in known and other != name}
        for name, path in known.items()
    }
    assert list(graphlib.TopologicalSorter(graph).static_order())


def test_private_names_are_not_imported_across_packages():
    reached = set()
    for path in MODULES:
        for node in nodes(path):
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


# Private names that tests use, and why.
PRIVATE_IN_TESTS = {
    "_fit": "what a method implements",
    "_space": "what a method of the rank family implements",
    "_repr_html_": "what notebooks call",
    "_exit": "the only way to end a process at once",
    "_current_frames": "the only way to see the stacks of other threads",
}


PATCHES = {"setattr", "getattr", "delattr", "Gate"}


def test_tests_use_no_private_names():
    for path in (PACKAGE.parent / "tests").rglob("*.py"):
        used = set(filter(private, names_used(ast.parse(path.read_text(encoding="utf-8")))))
        assert used <= PRIVATE_IN_TESTS.keys(), path


def names_used(tree):
    """Yield the imported names and the attributes of a module, but for those of ``self``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") != "self":
            yield node.attr
        elif isinstance(node, ast.ImportFrom):
            yield from (node.module or "").split(".")
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Call) and PATCHES & {*ast.unparse(node.func).split(".")}:
            texts = (part.value for part in node.args[:3] if isinstance(part, ast.Constant))
            yield from (str(text).split(".")[-1] for text in texts)


def test_public_engine_names_are_unique():
    homes = {}
    for path in (PACKAGE / "engine").rglob("*.py"):
        if "verification" in path.parts:
            continue  # the same problems by other routes, which share nothing on purpose
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(path)
    assert not {name: paths for name, paths in homes.items() if len(paths) > 1}


def test_public_engine_names_can_be_imported():
    for package in ("engine", "engine.inference"):
        module = importlib.import_module(f"aucstudio.{package}")
        late = [name for names in getattr(module, "LATE", {}).values() for name in names.split()]
        assert all(hasattr(module, name) for name in [*getattr(module, "__all__", ()), *late])


def test_solvers_do_not_import_methods():
    for room in ("linalg.py", "features", "losses", "solvers"):
        start = PACKAGE / "engine" / room
        for path in [start] if start.is_file() else start.rglob("*.py"):
            assert "aucstudio.engine.methods" not in " ".join(engine_imports(path)), path


@pytest.mark.slow
def test_project_packages_import_in_one_direction():
    for path in (PACKAGE / "project").rglob("*.py"):
        room = path.relative_to(PACKAGE / "project").parts[0].removesuffix(".py")
        for name in imports(path):
            if name.startswith("aucstudio.project.") and room != "__init__":
                other = name.split(".")[2]
                assert ROOMS.index(other) <= ROOMS.index(room), f"{path} imports {name}"


@pytest.mark.slow
def test_gui_packages_import_in_one_direction():
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


def test_gui_has_no_import_cycles():
    known = {module_name(path): path for path in (PACKAGE / "gui").rglob("*.py")}
    graph = {}
    for name, path in known.items():
        inner = {
            f"{node.module}.{alias.name}" if f"{node.module}.{alias.name}" in known else node.module
            for node in nodes(path)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        graph[name] = {other for other in inner if other in known and other != name}
    assert list(graphlib.TopologicalSorter(graph).static_order())


@pytest.mark.slow
def test_gui_has_no_nested_event_loops():
    # During a nested loop, the user can change state that the calling code relies on.
    for path in (PACKAGE / "gui").rglob("*.py"):
        called = {
            node.func.attr
            for node in nodes(path)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        }
        # Prompts for a file or an item have a loop of their own, as Qt's static functions have.
        assert "exec" not in called or path.name in ("app.py", "prompts.py"), path
        assert "QEventLoop" not in path.read_text(encoding="utf-8"), path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("loaded", "other"),
    [
        ("aucstudio.cli, aucstudio.project.work.submit", "PySide6"),
        ("aucstudio.engine", "numba"),
    ],
)
def test_import_does_not_load_a_library_of_another_layer(loaded, other):
    code = f"import sys, {loaded}; print({other!r} in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.slow
def test_engine_uses_no_threads_and_no_files():
    for path in (PACKAGE / "engine").rglob("*.py"):
        known = {"concurrent.futures", "multiprocessing", "pathlib", "os", "io", "sqlite3"}
        assert not set(imports(path)) & known, path
        assert "Thread(" not in path.read_text(encoding="utf-8"), path


def test_documents_are_decoded_in_one_module():
    # The module explains why several threads must not do this at once.
    for path in (path for path in MODULES if path.name != "typed.py"):
        text = path.read_text(encoding="utf-8")
        assert "msgspec.convert(" not in text, path
        assert "msgspec.json.decode(" not in text, path


@pytest.mark.slow
def test_exchanged_files_are_not_pickled():
    # The program's own processes exchange pickles; nobody else reads them.
    for path in (path for path in MODULES if path.name != "pickle_stream.py"):
        assert not {"pickle", "joblib", "dill"} & set(imports(path)), path


def test_every_module_has_a_docstring():
    for path in MODULES:
        assert ast.get_docstring(parsed(path)), path


@pytest.mark.slow
def test_compiled_code_releases_the_gil():
    for path in (PACKAGE / "engine").rglob("*.py"):
        if path.name not in ("compiled.py", "code_cache.py"):
            assert not any(name.split(".")[0] == "numba" for name in imports(path)), path
