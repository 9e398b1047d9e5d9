"""Which faults the engine's tests would not see: mutants drawn by seed, and the survivors named.

    python -m venv MUT && MUT/bin/pip install cosmic-ray
    MUT/bin/python tests/benchmarks/mutation.py [--seed 0] [--mutants 80] [--of losses ...]

Cosmic Ray changes the source, in a copy under the temporary folder: the sources here are never
touched. A mutant meets the test files whose imports come nearest to its module; with ``--widely``
what survives them meets all fast tests of the engine. ``--python`` names the interpreter that has
the project's libraries.
"""

import argparse
import ast
import collections
import difflib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

ROOT = Path(__file__).resolve().parents[2]
ENGINE = Path("aucstudio/engine")
# Each operator to its likely slips only: to divide matrices by shifting bits ends in a TypeError.
OPERATORS = re.compile(
    r"core/(Replace(Binary|Comparison|Unary)Operator_("
    r"Add_Sub|Sub_Add|Mul_Div|Div_Mul|FloorDiv_Mul|Mod_Mul|Pow_Mul|BitOr_BitAnd|BitAnd_BitOr|"
    r"RShift_LShift|LShift_RShift|Eq_NotEq|NotEq_Eq|Is_IsNot|IsNot_Is|Lt_LtE|Lt_GtE|LtE_Lt|LtE_Gt|"
    r"Gt_GtE|Gt_LtE|GtE_Gt|GtE_Lt|Delete_USub|Delete_Not|Delete_Invert)"
    r"|AddNot|Replace(TrueWithFalse|FalseWithTrue|AndWithOr|OrWithAnd|BreakWithContinue|ContinueWithBreak)"
    r"|NumberReplacer|ZeroIterationForLoop)"
)


def operators():
    return [get_operator(name)() for name in operator_names() if OPERATORS.fullmatch(name)]


def positions(module):
    """Every place of a module where an operator applies: (module, operator, its occurrence)."""
    tree = get_ast((ROOT / module).read_text("utf-8"))
    for operator in operators():
        count = sum(len(list(operator.mutation_positions(node))) for node in ast_nodes(tree))
        yield from ((module, operator, k) for k in range(count))


def meaning(source):
    """What a source does: its tree without annotations and forecasts of time and memory."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == "estimate":
            node.body = []
        for field in ("annotation", "returns"):
            if hasattr(node, field):
                setattr(node, field, ast.Constant(None) if field == "annotation" else None)
    return ast.dump(tree)


def mutants(chosen, seed):
    """Draw without end: (module, mutated source, line, what was changed into what)."""
    found = [place for module in chosen for place in positions(module)]
    random.Random(seed).shuffle(found)
    for module, operator, occurrence in found:
        before = (ROOT / module).read_text("utf-8")
        after = mutate_code(before, operator, occurrence)
        if after is not None and meaning(after) != meaning(before):
            lines = list(difflib.ndiff(before.splitlines(), after.splitlines()))
            removed = [line[2:].strip() for line in lines if line.startswith("- ")]
            added = [line[2:].strip() for line in lines if line.startswith("+ ")]
            kept = [line for line in lines if not line.startswith(("? ", "+ "))]
            number = next(k for k, line in enumerate(kept, 1) if line.startswith("- "))
            yield module, after, number, f"{' '.join(removed)}  →  {' '.join(added)}"


def imported(path):
    """The project's files that a file imports itself."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("aucstudio"):
            base = Path(*node.module.split("."))
            for option in (base.with_suffix(".py"), base / "__init__.py"):
                if (ROOT / option).is_file():
                    yield option
            for name in node.names:
                if (ROOT / base / f"{name.name}.py").is_file():
                    yield base / f"{name.name}.py"
                elif (ROOT / base / name.name / "__init__.py").is_file():
                    yield base / name.name / "__init__.py"


def distances(test):
    """How many imports lie between a test file and each module."""
    far, waiting = {test: 0}, collections.deque([test])
    while waiting:
        at = waiting.popleft()
        for module in imported(ROOT / at):
            if module not in far:
                far[module] = far[at] + 1
                waiting.append(module)
    return far


def nearest(module, far):
    """Test files at the smallest distance from a module, those of its name first."""
    least = min((found[module] for found in far.values() if module in found), default=None)
    near = [test for test, found in far.items() if found.get(module, -1) == least]
    names = {module.stem.strip("_"), module.parent.name}
    return sorted(near, key=lambda test: not any(name in test.stem for name in names))


# Runs in the interpreter of the project: the libraries are loaded once, each task has a process of
# its own that has still to import the (changed) engine. A limit in processor seconds is the same
# on a busy machine.
SERVER = """
import json, os, resource, sys
import cvxopt, numba, numpy, pytest, scipy.optimize, scipy.sparse.linalg, scipy.stats
import sklearn.ensemble, sklearn.linear_model, sklearn.svm
sys.path.insert(0, os.getcwd())
for line in sys.stdin:
    options, code, limit = json.loads(line)
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        numba.config.CACHE_DIR = code
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        os._exit(pytest.main(options))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Copy:
    """A copy of the project that may be changed, and its tests run."""

    def __init__(self, folder, python, limit):
        self.folder, self.limit = folder, limit
        for name in ("aucstudio", "tests"):
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        for name in ("pyproject.toml", "README.md", "resources", "packaging"):
            (folder / name).symlink_to(ROOT / name)
        # Byte code is known by its second and size: a mutant of the same second would not be seen.
        own = {"PYTHONDONTWRITEBYTECODE": "1", "QT_QPA_PLATFORM": "offscreen"}
        threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        self.server = subprocess.Popen(
            [python, "-c", SERVER],
            cwd=folder,
            env={**os.environ, **own, **threads},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def passes(self, tests, code, which="not slow"):
        """Whether tests pass (None: not within the limit); ``code`` keeps compiled loops."""
        options = ["-x", "-q", "-m", which, "-p", "no:cacheprovider", *map(str, tests)]
        self.server.stdin.write(json.dumps([options, str(code), self.limit]) + "\n")
        self.server.stdin.flush()
        ended = int(self.server.stdout.readline())
        if ended == 5:  # every test of these files is a slow one
            return self.passes(tests, code, "slow")
        return None if ended in (-signal.SIGXCPU, -signal.SIGKILL) else ended == 0

    def judge(self, module, source, stages):
        """Give what becomes of a mutant in stages of tests, each wider than the one before."""
        original = (ROOT / module).read_text("utf-8")
        (self.folder / module).write_text(source, "utf-8")
        # Loops compiled from other files may hold this file's: they too are compiled again.
        code = self.folder / ("mutant_code" if "@kernel" in original else "code")
        try:
            for tests in stages:
                passed = self.passes(tests, code)
                if not passed:
                    return "timed out" if passed is None else "killed"
            return "survived"
        finally:
            shutil.copy2(ROOT / module, self.folder / module)
            shutil.rmtree(self.folder / "mutant_code", ignore_errors=True)


def modules(of):
    """Engine modules under the given paths, all without any."""
    every = sorted(path.relative_to(ROOT) for path in (ROOT / ENGINE).rglob("*.py"))
    return [path for path in every if not of or any(path.is_relative_to(ENGINE / p) for p in of)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--mutants", type=int, default=80)
    parser.add_argument("--of", nargs="*", default=[], help="paths in aucstudio/engine")
    parser.add_argument("--line", type=int, help="only mutants of this line")
    parser.add_argument("--limit", type=int, default=100, help="processor seconds")
    parser.add_argument("--widely", action="store_true", help="survivors meet all engine tests")
    parser.add_argument("--python", default=str(ROOT / ".venv/bin/python"))
    given = parser.parse_args()
    os.nice(10)
    tests = sorted(path.relative_to(ROOT) for path in (ROOT / "tests/engine").glob("test_*.py"))
    far = {test: distances(test) for test in tests}
    survivors, counts = [], collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder), given.python, given.limit)
        drawn = mutants(modules(given.of), given.seed)
        for module, source, line, change in drawn:
            if sum(counts.values()) == given.mutants:
                break
            near = nearest(module, far)
            if given.line not in (None, line) or not near:
                continue
            start = time.perf_counter()
            verdict = copy.judge(module, source, [near, tests] if given.widely else [near])
            counts[verdict] += 1
            named = f"{module.relative_to(ENGINE)}:{line}  {change}"
            print(f"{verdict:<9} {time.perf_counter() - start:5.0f} s  {named}", flush=True)
            survivors += [named] if verdict == "survived" else []
    print(f"\n{sum(counts.values())} mutants, seed {given.seed}:", dict(counts))
    print("survivors:", *survivors, sep="\n  ")


if __name__ == "__main__":
    main()
