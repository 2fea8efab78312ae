"""Write docs/errata.md from the errata modules: the witness sentences are those that the checks
return.
"""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

from proofs.registry import errata_modules, short_name
from proofs.sources import ORDER

PAGE = Path(__file__).resolve().parent.parent / "docs" / "errata.md"

HEAD = """# Errata, each with an exact witness

Printed claims that do not stand as written, from the paper behind this project and three sister
papers. Every entry is a small program under `proofs/errata/`: it computes the counterexample in
exact arithmetic (rationals, sympy, or ball arithmetic where reals are needed) and fails if the
counterexample fails. Most entries are slips that the papers survive; the mended statement says
what holds.

This page is generated: `python -m proofs --write-errata`. `python -m proofs` fails if it is out
of date.
"""


def markdown(text: str) -> str:
    """Escape what Markdown would read as emphasis, tags or strike-through."""
    return re.sub(r"([\\*_<~])", r"\\\1", text)


def entry(number: int, module: ModuleType) -> str:
    """Format one erratum."""
    title = " ".join(module.__doc__.strip().split("\n\n")[0].split())
    return (
        f"### {number}. {markdown(title)}\n\n*{markdown(module.PLACE)}* · "
        f"`proofs/errata/{short_name(module)}.py`\n\n- **Printed.** "
        f"{markdown(module.CLAIM)}\n- **Witness.** {markdown(module.witness())}\n- "
        f"**Mended.** {markdown(module.MENDED)}\n"
    )


def page() -> str:
    """Return the whole page; the same text on every run."""
    found = errata_modules()
    counts = "\n".join(f"- {sum(paper == m.SOURCE for m in found)} from {paper}" for paper in ORDER)
    parts = [HEAD, f"{len(found)} entries:\n\n{counts}\n"]
    number = 0
    for paper in ORDER:
        parts.append(f"## {paper}\n")
        for module in (m for m in found if paper == m.SOURCE):
            number += 1
            parts.append(entry(number, module))
    return "\n".join(parts)


def is_current() -> bool:
    """Tell whether the written page equals the generated one."""
    return PAGE.exists() and PAGE.read_text(encoding="utf-8") == page()


def write() -> None:
    """Write the page."""
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
