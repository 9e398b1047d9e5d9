"""A place without Python in which a package has to prove itself: a minimal Debian, or less."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import recipe

PLACE = recipe.BUILD / "clean-debian"
SUITE = "bookworm"
SELF_TEST = "--self-test"


def bare_environment(**more: str) -> dict[str, str]:
    """Return the environment of a program that is started by a desktop: almost nothing."""
    kept = ("SYSTEMROOT", "TEMP", "TMP", "LOCALAPPDATA", "APPDATA", "USERPROFILE")
    home = tempfile.mkdtemp(prefix="aucstudio-home-")
    known = {name: os.environ[name] for name in kept if name in os.environ}
    return {**known, "HOME": home, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", **more}


def test_program(package: Path, program: Path | None, **variables: str) -> None:
    """Run the self-test of a program in a folder, or of a package that is one file."""
    if not _can_debootstrap():
        started = package / program if program else package
        _check(subprocess.run([started, SELF_TEST], env=bare_environment(**variables)))
        return
    place = _place()
    target = place / "package"
    _remove(target)
    if program:
        shutil.copytree(package, target, symlinks=True)
    else:
        shutil.copy(package, target)
    _apt(place, recipe.DEBIAN_DEPENDS)
    started = Path("/package") / program if program else Path("/package")
    _check(_inside(place, str(started), SELF_TEST, **variables))


def test_debian_package(package: Path) -> None:
    """Install a Debian package with what it depends on, run its self-test, and remove it."""
    if not _can_debootstrap():
        raise SystemExit("testing a Debian package takes root and debootstrap")
    place = _place()
    shutil.copy(package, place / "tmp" / "aucstudio.deb")
    _apt(place, ("/tmp/aucstudio.deb",))
    _check(_inside(place, "/usr/bin/aucstudio", SELF_TEST))
    _check(_inside(place, "/usr/bin/dpkg", "--purge", "aucstudio"))
    left = [name for name in ("opt/aucstudio", "usr/bin/aucstudio") if (place / name).exists()]
    if left:
        raise SystemExit(f"removing the package leaves {', '.join(left)}")


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
