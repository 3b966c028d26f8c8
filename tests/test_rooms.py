"""The package is built of rooms: imports go down from room to room only, and no modules import each other in a circle.

All imports count, also those inside functions and for type checking alone.
"""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import hypar_exp

PACKAGE = Path(hypar_exp.__file__).parent

GROUND = {"ground"}
LIBRARY = GROUND | {"networks", "planning", "simulation", "systems"}
EXPERIMENTS = LIBRARY | {"tracking", "reporting", "experiments"}
MAY_IMPORT = {
    "ground": set(),
    "networks": GROUND,
    "planning": GROUND | {"networks"},
    "simulation": GROUND | {"networks", "planning"},
    "systems": GROUND | {"networks", "planning", "simulation"},
    "tracking": GROUND,  # knows neither planning nor simulation
    "reporting": LIBRARY,
    "experiments": LIBRARY | {"tracking", "reporting"},
    "sweeps": EXPERIMENTS,
    "compare": EXPERIMENTS,
    "paper": EXPERIMENTS | {"sweeps"},  # an application of its own, which runs sweeps
    "cli": EXPERIMENTS | {"sweeps", "compare", "paper"},
}


def modules() -> dict[str, Path]:
    names = {}
    for file in PACKAGE.rglob("*.py"):
        parts = file.relative_to(PACKAGE).with_suffix("").parts
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return names


def imports(known: dict[str, Path]) -> dict[str, set[str]]:
    """Module -> modules of the package that it imports, names without `hypar_exp.`; the package itself is ''."""
    graph: dict[str, set[str]] = {}
    for module, file in known.items():
        graph[module] = set()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            for name in names:
                if name.split(".")[0] == "hypar_exp":
                    target = name.removeprefix("hypar_exp").removeprefix(".")
                    while target not in known:
                        target = target.rpartition(".")[0]
                    graph[module] |= {target} - {module}
    return graph


def room(module: str) -> str:
    """The room of a module; the launchers (`python -m hypar_exp`, `... .compare`) are the command line's."""
    first, last = module.split(".")[0], module.split(".")[-1]
    if first in MAY_IMPORT and last != "__main__":
        return first
    return "cli" if last in ("__main__", "reproduce", "runs", "show") else "ground"


def test_imports_go_down_from_room_to_room() -> None:
    wrong = {
        (module, room(target))
        for module, targets in imports(modules()).items()
        for target in targets
        if room(target) != room(module) and room(target) not in MAY_IMPORT[room(module)]
    }
    assert not wrong


def test_no_modules_import_each_other_in_a_circle() -> None:
    try:
        TopologicalSorter(imports(modules())).prepare()
    except CycleError as circle:
        raise AssertionError(f"imports go in a circle: {' -> '.join(circle.args[1])}") from None


def test_benchmarks_import_no_test() -> None:
    for file in (PACKAGE.parent / "benchmarks").glob("*.py"):
        assert "from tests" not in file.read_text(encoding="utf-8"), file
