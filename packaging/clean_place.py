"""A place without Python in which a package has to prove itself: a minimal Debian, or less."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import recipe

PLACE = recipe.BUILD / "clean-debian"
SUITE = "bookworm"
STUDY = "two-gaussians"


def bare_environment(**more: str) -> dict[str, str]:
    """Return the environment of a program that is started by a desktop: almost nothing."""
    kept = ("SYSTEMROOT", "TEMP", "TMP", "LOCALAPPDATA", "APPDATA", "USERPROFILE")
    home = tempfile.mkdtemp(prefix="aucstudio-home-")
    known = {name: os.environ[name] for name in kept if name in os.environ}
    return {**known, "HOME": home, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", **more}


def walk(folder: str) -> Iterator[tuple[str, ...]]:
    """Yield what a package has to do: test itself, run an example study, export and score.

    Parameters
    ----------
    folder : str
        Where it writes, as the program sees it; empty at first.
    """
    model, table = f"{folder}/model.aucmodel", f"{folder}/study/{STUDY}-train.csv"
    yield ("--help",)
    yield ("--self-test",)
    yield ("demo", "--study", STUDY, "--out", f"{folder}/study", "--quiet")
    yield ("train", table, "--method", "svm-pauc", "--save-model", model, "--quiet")
    for form in ("script", "onnx", "sql", "json"):
        yield ("export", model, "--to", form, "-o", f"{folder}/model.{form}")
    yield ("score", model, f"{folder}/study/{STUDY}-test.csv", "-o", f"{folder}/scores.csv")


def take_walk(folder: Path, seen: str, start: Callable[[tuple[str, ...]], int]) -> None:
    """Let a package do all of it, and say how long each step takes.

    Parameters
    ----------
    folder : Path
    seen : str
        The folder as the program sees it.
    start : callable
        Runs the program with some arguments; returns its exit status.
    """
    _remove(folder)
    folder.mkdir(parents=True)
    for words in walk(seen):
        began = time.perf_counter()
        if status := start(words):
            raise SystemExit(f"aucstudio {' '.join(words)} ended with exit status {status}")
        spent = time.perf_counter() - began
        print(f"{spent:6.2f} s  aucstudio {' '.join(words)}", flush=True)  # noqa: T201
    rows = (folder / "scores.csv").read_text(encoding="utf-8").count("\n") - 1
    tested = (folder / "study" / f"{STUDY}-test.csv").read_text(encoding="utf-8").count("\n") - 1
    if rows != tested:
        raise SystemExit(f"{rows} of {tested} rows were scored")


def test_program(package: Path, program: Path | None, **variables: str) -> None:
    """Test a program in a folder, or a package that is one file."""
    if not _can_debootstrap():
        started = str(package / program if program else package)
        test_command([started], **variables)
        return
    place = _place()
    target = place / "package"
    _remove(target)
    if program:
        shutil.copytree(package, target, symlinks=True)
    else:
        shutil.copy(package, target)
    _apt(place, recipe.DEBIAN_DEPENDS)
    _walk_inside(place, str(Path("/package") / program) if program else "/package", **variables)


def test_command(command: list[str], **variables: str) -> None:
    """Test an installed program in this system, with an environment that knows nothing of it."""
    environment = bare_environment(QT_QPA_PLATFORM="offscreen", **variables)
    folder = Path(environment["HOME"]) / "walk"
    take_walk(
        folder,
        str(folder),
        lambda words: subprocess.run([*command, *words], env=environment).returncode,
    )


def test_debian_package(package: Path) -> None:
    """Install a Debian package with what it depends on, test it, and remove it."""
    if not _can_debootstrap():
        raise SystemExit("testing a Debian package takes root and debootstrap")
    place = _place()
    shutil.copy(package, place / "tmp" / "aucstudio.deb")
    _apt(place, ("/tmp/aucstudio.deb",))
    _walk_inside(place, "/usr/bin/aucstudio")
    _check(_inside(place, "/usr/bin/dpkg", "--purge", "aucstudio"))
    left = [name for name in ("opt/aucstudio", "usr/bin/aucstudio") if (place / name).exists()]
    if left:
        raise SystemExit(f"removing the package leaves {', '.join(left)}")


def _walk_inside(place: Path, program: str, **variables: str) -> None:
    shown = {"QT_QPA_PLATFORM": "offscreen", **variables}
    take_walk(
        place / "root" / "walk",
        "/root/walk",
        lambda words: _inside(place, program, *words, **shown).returncode,
    )


def _can_debootstrap() -> bool:
    able = sys.platform.startswith("linux") and os.geteuid() == 0
    return able and shutil.which("debootstrap") is not None


def _place() -> Path:
    if not (PLACE / "usr" / "bin" / "apt-get").exists():
        shutil.rmtree(PLACE, ignore_errors=True)
        _check(subprocess.run(["debootstrap", "--variant=minbase", SUITE, PLACE]))
    python = sorted((PLACE / "usr" / "bin").glob("python3*"))
    if python:
        raise SystemExit(f"the clean place has a Python: {python[0]}; remove {PLACE}")
    for file in ("etc/resolv.conf", "etc/apt/apt.conf.d", "etc/hosts"):
        source = Path("/") / file
        if source.is_file():
            shutil.copy(source, PLACE / file)
    return PLACE


def _apt(place: Path, packages: tuple[str, ...]) -> None:
    quiet = ["-qq", "--no-install-recommends", "-y", "install"]
    _check(_inside(place, "/usr/bin/apt-get", *quiet, *packages))


def _inside(place: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    """Run a program in the place, as its root folder, with processes it can look at."""
    _check(subprocess.run(["mkdir", "-p", place / "proc", place / "root"]))
    mount = 'mount -t proc proc "$1/proc"; root=$1; shift; exec chroot "$root" "$@"'
    words = ["unshare", "--mount", "--fork", "--pid", "sh", "-c", mount, "sh", place, *command]
    environment = bare_environment(
        HOME="/root", PATH="/usr/sbin:/usr/bin:/sbin:/bin", DEBIAN_FRONTEND="noninteractive"
    )
    proxies = {k: v for k, v in os.environ.items() if k.lower().endswith("_proxy")}
    return subprocess.run(words, env={**proxies, **environment, **variables})


def _remove(target: Path) -> None:
    if target.is_dir():
        shutil.rmtree(target)
    else:
        target.unlink(missing_ok=True)


def _check(done: subprocess.CompletedProcess[bytes]) -> None:
    if done.returncode:
        raise SystemExit(f"{done.args} ended with exit status {done.returncode}")
