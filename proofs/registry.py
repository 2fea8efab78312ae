"""All checks of this folder as one list, in a fixed order: lemmas by module, then errata by
paper.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import NamedTuple

from proofs import errata, lemmas
from proofs.sources import ORDER, SHORT


class Check(NamedTuple):
    """One row of the table: `run` raises on failure and returns the statement shown."""

    kind: str
    name: str
    source: str
    place: str
    run: Callable[[], str]


def modules(package: ModuleType) -> list[ModuleType]:
    """Import the modules of a package in alphabetical order."""
    names = sorted(m.name for m in pkgutil.iter_modules(package.__path__))
    return [importlib.import_module(f"{package.__name__}.{name}") for name in names]


def errata_modules() -> list[ModuleType]:
    """List the errata, grouped by paper in the order of `sources.ORDER`."""
    return sorted(modules(errata), key=lambda m: ORDER.index(m.SOURCE))


def short_name(module: ModuleType) -> str:
    """Return the last part of a module name."""
    return module.__name__.rsplit(".", 1)[-1]


def lemma_checks() -> Iterator[Check]:
    """Yield one check for each function `prove_...`, in the order of the files."""
    for module in modules(lemmas):
        for name, function in vars(module).items():
            if name.startswith("prove_") and function.__module__ == module.__name__:
                label = f"{short_name(module)}.{name.removeprefix('prove_')}"
                yield Check("lemma", label, SHORT[module.SOURCE], module.PLACE, function)


def errata_checks() -> Iterator[Check]:
    """Yield one check for each erratum."""
    for module in errata_modules():
        yield Check(
            "erratum", short_name(module), SHORT[module.SOURCE], module.PLACE, module.witness
        )


def all_checks() -> list[Check]:
    """List lemmas, then errata."""
    return [*lemma_checks(), *errata_checks()]
