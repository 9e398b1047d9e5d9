"""The scripts, the desktop entry and the wheel: what can be checked without a network."""

import configparser
import importlib.util
import os
import pkgutil
import runpy
import shutil
import struct
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

import aucstudio
from aucstudio import __version__
from aucstudio.commands import COMMANDS
from aucstudio.engine import METHODS

ROOT = Path(__file__).resolve().parent.parent
NOTICES = ROOT / "aucstudio" / "notices" / "en"
SCRIPTS = ["packaging/run", "packaging/test", ".ci/run"]
ICON = ROOT / "resources" / "icons" / "aucstudio.svg"
ALLOWED = {"pyproject.toml", "aucstudio", "resources", "tests", "packaging", "README.md", "LICENSE"}
LDD = """\
\tlinux-vdso.so.1 (0x00007ffd1a5f2000)
\tlibEGL.so.1 => not found
\tlibGL.so.1 => /lib/x86_64-linux-gnu/libGL.so.1 (0x00007f2b4c000000)
\tlibxcb-cursor.so.0 => not found
\tlibEGL.so.1 => not found
\tlibnovelty.so.7 => not found
"""


def load(name: str) -> ModuleType:
    path = ROOT / "packaging" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    sys.path.remove(str(path.parent))
    return module


check_system = load("check_system")
recipe = load("recipe")
shrink = load("shrink")
MIME = {"mime": "http://www.freedesktop.org/standards/shared-mime-info"}


def interpreter(folder: Path, name: str, body: str) -> None:
    """Write a fake Python interpreter that only returns an exit status."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{body}\n")
    (folder / name).chmod(0o755)


def find_python(path: Path) -> subprocess.CompletedProcess[str]:
    command = 'source packaging/common.sh; find_python && echo "$python"'
    bash = shutil.which("bash")
    assert bash is not None
    return subprocess.run(
        [bash, "-c", command], cwd=ROOT, env={"PATH": str(path)}, capture_output=True, text=True
    )


def test_packaging_folder_does_not_hide_the_library():
    command = [sys.executable, "-c", "import packaging; print(packaging.__file__)"]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert answer.stdout.strip().endswith("__init__.py")
    assert not Path(answer.stdout).is_relative_to(ROOT / "packaging")
    assert not (ROOT / "packaging" / "__init__.py").exists()
    assert not (ROOT / "resources" / "__init__.py").exists()


@pytest.mark.parametrize("script", [*SCRIPTS, "packaging/common.sh"])
def test_script_parses(script):
    answer = subprocess.run(["bash", "-n", ROOT / script], capture_output=True, text=True)
    assert (answer.returncode, answer.stderr) == (0, "")


@pytest.mark.parametrize("script", SCRIPTS)
def test_script_is_executable_and_strict(script):
    assert os.access(ROOT / script, os.X_OK)
    assert "\nset -euo pipefail\n" in (ROOT / script).read_text()


@pytest.mark.parametrize(
    ("bodies", "status", "words"),
    [
        ({"python3": "exit 1", "python3.12": "exit 0"}, 0, "python3.12\n"),
        ({"python3": "exit 1"}, 1, "Python 3.11 or newer"),
        ({"python3": 'case "$*" in *venv*) exit 1;; esac'}, 1, "python3-venv"),
    ],
)
def test_first_usable_python_is_chosen(tmp_path, bodies, status, words):
    for name, body in bodies.items():
        interpreter(tmp_path, name, body)
    answer = find_python(tmp_path)
    assert answer.returncode == status
    assert words in (answer.stderr if status else answer.stdout)


@pytest.mark.parametrize("arguments", [["methods"], []])
def test_launch_script_is_replaced_by_the_program(tmp_path, arguments):
    """The script replaces itself with the program, so signals reach it."""
    root, venv = tmp_path / "root", tmp_path / "root" / ".venv" / "bin"
    for name in ("run", "common.sh"):
        (root / "packaging").mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "packaging" / name, root / "packaging")
    venv.mkdir(parents=True)
    (root / "pyproject.toml").touch()
    says = 'case "$*" in *check_system*) exit 1;; *sys.version*) echo 3;; *) echo $$ "$@";; esac'
    interpreter(venv, "python", says)
    (root / ".venv" / "aucstudio-installed").write_text(f"3\n{root}\n")
    started = subprocess.Popen(
        [root / "packaging" / "run", *arguments],
        env={"PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    out, _ = started.communicate(timeout=60)
    expected = arguments or ["demo", "--out", "aucstudio-demo"]
    assert out.split() == [str(started.pid), "-P", "-m", "aucstudio", *expected]


def test_linker_output_names_libraries_and_packages():
    missing = check_system.missing_libraries(LDD)
    assert missing == {"libEGL.so.1", "libxcb-cursor.so.0", "libnovelty.so.7"}
    assert check_system.packages(missing, 0) == ["libegl1", "libxcb-cursor0"]
    assert check_system.packages(missing, 1) == ["libglvnd-egl", "xcb-util-cursor"]


def test_explanation_includes_unknown_libraries():
    text = check_system.explain(check_system.missing_libraries(LDD))
    assert "libnovelty.so.7" in text
    assert "sudo apt-get install libegl1 libxcb-cursor0" in text
    assert "sudo dnf install libglvnd-egl xcb-util-cursor" in text


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, ["offscreen"]),
        ({"DISPLAY": ":0"}, ["xcb"]),
        ({"DISPLAY": "", "WAYLAND_DISPLAY": ""}, ["offscreen"]),
        ({"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}, ["wayland", "xcb"]),
        ({"DISPLAY": ":0", "QT_QPA_PLATFORM": "offscreen:size=9"}, ["offscreen"]),
        ({"QT_QPA_PLATFORM": "wayland;xcb"}, ["wayland", "xcb"]),
    ],
)
def test_qt_platforms_follow_the_environment(environment, expected):
    assert check_system.platforms(environment) == expected


@pytest.mark.parametrize(
    ("trouble", "arguments", "status", "out", "err"),
    [
        (({"fonts", "libGL.so.1"}, ""), ["--debian-packages"], 1, "fonts-dejavu-core libgl1", ""),
        ((set(), ""), [], 0, "", ""),
        ((set(), "could not connect"), [], 1, "", "could not connect"),
    ],
)
def test_missing_system_parts_are_reported(
    monkeypatch, capsys, trouble, arguments, status, out, err
):
    monkeypatch.setattr(check_system, "find_trouble", lambda: trouble)
    assert check_system.main(arguments) == status
    found = capsys.readouterr()
    assert found.out.strip() == out
    assert (err in found.err) if err else not found.err


def test_desktop_entry_matches_the_project():
    entry = configparser.ConfigParser(interpolation=None)
    entry.optionxform = str
    entry.read(ROOT / "packaging" / "aucstudio.desktop")
    desktop = entry["Desktop Entry"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert desktop["Exec"].split()[0] in project["scripts"]
    assert desktop["Icon"] == ICON.stem
    assert ElementTree.parse(ICON).getroot().tag.endswith("svg")


def test_desktop_entry_declares_the_project_file_type():
    declared = ElementTree.parse(ROOT / "packaging" / "aucstudio.mime.xml").getroot()
    patterns = {
        kind.get("type"): [glob.get("pattern") for glob in kind.findall("mime:glob", MIME)]
        for kind in declared.findall("mime:mime-type", MIME)
    }
    assert patterns == {
        "application/x-aucstudio-project": ["*.aucproj"],
        "application/x-aucstudio-model": ["*.aucmodel"],
    }
    entry = configparser.ConfigParser(interpolation=None)
    entry.read(ROOT / "packaging" / "aucstudio.desktop")
    opened = entry["Desktop Entry"]["mimetype"].split(";")
    assert "application/x-aucstudio-project" in opened
    assert "%f" in entry["Desktop Entry"]["exec"]


def test_appstream_metadata_is_of_this_version():
    file = ROOT / "packaging" / f"{recipe.IDENTIFIER}.metainfo.xml"
    component = ElementTree.parse(file).getroot()
    assert component.findtext("id") == recipe.IDENTIFIER
    assert component.findtext("launchable") == "aucstudio.desktop"
    assert component.findtext("provides/mediatype") == "application/x-aucstudio-project"
    assert component.find("releases/release").get("version") == recipe.version() == __version__
    if shutil.which("appstreamcli"):
        command = ["appstreamcli", "validate", "--no-net", file]
        answer = subprocess.run(command, capture_output=True, text=True)
        assert answer.returncode == 0, answer.stdout


def test_frozen_program_has_modules_imported_by_name():
    found = pkgutil.walk_packages(aucstudio.__path__, "aucstudio.")
    known = set(recipe.own_modules())
    assert known == {"aucstudio", *(module.name for module in found), "aucstudio.__main__"}
    assert {cls.__module__ for cls in METHODS.values()} <= known
    assert {f"aucstudio.commands.{name}" for name in COMMANDS} <= known


def test_frozen_program_has_its_data_files():
    names = {Path(file).relative_to(ROOT).as_posix() for file, _ in recipe.own_data()}
    assert "aucstudio/commands/options.toml" in names
    assert not {path for path in names if path.endswith((".py", ".pyc"))}
    assert names >= {path.relative_to(ROOT).as_posix() for path in NOTICES.rglob("*.toml")}


@pytest.mark.parametrize(
    ("path", "needed"),
    [
        ("PySide6/Qt/lib/libQt6Gui.so.6", True),
        ("PySide6\\Qt6Widgets.dll", True),
        ("PySide6/Qt/plugins/platforms/libqxcb.so", True),
        ("PySide6/Qt/plugins/platforms/libqwayland.so", True),
        ("PySide6/plugins/platforms/qwindows.dll", True),
        ("PySide6/Qt/plugins/imageformats/libqsvg.so", True),
        ("sklearn/datasets/data/digits.csv.gz", True),
        ("PySide6/Qt/lib/libQt6Quick.so.6", False),
        ("PySide6\\Qt6Network.dll", False),
        ("PySide6/Qt/plugins/platformthemes/libqgtk3.so", False),
        ("PySide6/Qt/plugins/sqldrivers/libqsqlite.so", False),
        ("scipy/linalg/tests/data/x.npz", False),
        ("sklearn/utils/murmurhash.pyx", False),
        ("resources/help/data.md", True),
    ],
)
def test_frozen_program_excludes_unused_qt_files(path, needed):
    assert recipe.is_needed(path) == needed


def icu_package(items):
    """Return a package in ICU's layout: a header of 32 bytes, the table, names and contents."""
    names = b"".join(name.encode() + b"\0" for name in items)
    name_at = 4 + 8 * len(items)
    content_at = name_at + len(names)
    table = struct.pack("<I", len(items))
    for name, content in items.items():
        table += struct.pack("<II", name_at, content_at)
        name_at, content_at = name_at + len(name) + 1, content_at + len(content)
    return struct.pack("<H", 32) + bytes(30) + table + names + b"".join(items.values())


def test_icu_data_keeps_the_collation_items():
    kept = {"icu/coll/de.res": b"sort" * 4, "icu/root.res": b"base" * 4}
    left_out = {"icu/curr/de.res": b"euro" * 4, "icu/zone/root.res": b"noon" * 4}
    items = dict(sorted((kept | left_out | {"icu/big5.cnv": b"code" * 4}).items()))
    found = shrink.shorten_icu_data(icu_package(items))
    count, *places = struct.unpack_from(f"<{1 + 2 * len(kept)}I", found, 32)
    assert count == len(kept)
    body = found[32:]
    read = {
        body[name : body.index(b"\0", name)].decode(): body[content : content + 16]
        for name, content in zip(places[::2], places[1::2], strict=True)
    }
    assert read == kept
    assert all(content % 16 == 0 for content in places[1::2])


def test_library_in_two_folders_becomes_a_link(tmp_path):
    for folder, text in (("a.libs", "one"), ("b.libs", "one"), ("c.libs", "other")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "libx.so").write_text(text)
    shrink.link_twins(tmp_path)
    linked = {path.parent.name: path.is_symlink() for path in tmp_path.glob("*/libx.so")}
    assert linked == {"a.libs": False, "b.libs": True, "c.libs": False}
    assert (tmp_path / "b.libs" / "libx.so").read_text() == "one"


def test_package_check_requires_a_score_for_every_row(tmp_path):
    """Run the package check with a program that scores one row too few."""
    clean_place = load("clean_place")
    steps = []

    def start(words):
        steps.append(words[0])
        study = tmp_path / "walk" / "study"
        study.mkdir(exist_ok=True)
        (study / f"{clean_place.STUDY}-test.csv").write_text("x\n1\n2\n")
        (tmp_path / "walk" / "scores.csv").write_text("row,score\n1,0.5\n")
        return 0

    with pytest.raises(SystemExit, match="1 of 2 rows were scored"):
        clean_place.take_walk(tmp_path / "walk", str(tmp_path / "walk"), start)
    assert steps == ["--help", "--self-test", "demo", "train", *["export"] * 4, "score"]
    with pytest.raises(SystemExit, match="exit status 3"):
        clean_place.take_walk(tmp_path / "walk", str(tmp_path / "walk"), lambda _words: 3)


@pytest.mark.parametrize("runtime", [None, "absent"])
def test_appimage_without_its_runtime_is_rejected(tmp_path, runtime):
    environment = {name: v for name, v in os.environ.items() if name != "APPIMAGE_RUNTIME"}
    if runtime:
        environment["APPIMAGE_RUNTIME"] = str(tmp_path / runtime)
    command = [sys.executable, ROOT / "packaging" / "build", "appimage", "--keep-folder"]
    answer = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert answer.returncode == 1
    assert "APPIMAGE_RUNTIME=FILE" in answer.stderr


@pytest.mark.packages
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("target", ["wheel", "deb"])
def test_package_is_built_and_passes_its_self_test(target):
    subprocess.run([sys.executable, ROOT / "packaging" / "build", target, "--test"], check=True)


@pytest.mark.slow
def test_wheel_holds_resources_inside_the_package(tmp_path):
    builder = pytest.importorskip("hatchling.builders.wheel").WheelBuilder(str(ROOT))
    (path,) = builder.build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
    tops = {name.split("/")[0].split("-")[0] for name in names}
    assert tops == {"aucstudio"}
    assert "aucstudio/resources/icons/aucstudio.svg" in names
    assert "aucstudio/py.typed" in names
    share = {name.split("/share/")[1] for name in names if "/share/" in name}
    assert share == {
        "applications/aucstudio.desktop",
        "icons/hicolor/scalable/apps/aucstudio.svg",
        "metainfo/io.github.aucstudio.AUCStudio.metainfo.xml",
        "mime/packages/aucstudio.xml",
    }


def test_architecture_picture_has_every_package():
    script = runpy.run_path(str(ROOT / "packaging" / "architecture"))
    picture = script["draw"](*script["read_imports"]())
    found = (ROOT / "aucstudio").glob("*/*/__init__.py")
    rooms = {f"{path.parent.parent.name}/{path.parent.name}" for path in found}
    assert {room for room in rooms if f">{room}<" not in picture} == set()


def test_top_level_holds_only_allowed_files():
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a git checkout")
    # A container's root may read a checkout that belongs to someone else.
    command = ["git", "-c", f"safe.directory={ROOT}", "ls-files"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    tops = {line.split("/")[0] for line in listing.stdout.splitlines()}
    assert {name for name in tops if not name.startswith(".")} <= ALLOWED
