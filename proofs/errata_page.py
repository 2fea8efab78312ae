"""Write docs/errata.md from the errata modules: the witness sentences are those that the checks
return.
"""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

from proofs.quotes import KINDS
from proofs.registry import errata_modules, short_name
from proofs.sources import ORDER

PAGE = Path(__file__).resolve().parent.parent / "docs" / "errata.md"

HEAD = """# Errata, each with an exact witness

Printed sentences that do not stand as written, from the paper behind this project and three sister
papers, in three sections.

- **Refuted**: the printed statement, formula or number is false, and the witness shows it.
- **Gaps**: the printed argument does not show what it is for: a step fails, or a hypothesis or a
  definition is missing. The claim itself is not refuted; *Mended* says what holds.
- **Remarks**: a slip that every reader corrects, or a sentence that is true as printed and on
  which there is something to say.

Every entry quotes the text it is about, with the line of the text file that the quote begins in
(formulas are as that file has them), and says what exactly fails. It is a small program under
`proofs/errata/`: it computes the witness in exact arithmetic (rationals, sympy, or ball arithmetic
where reals are needed) and fails if the witness fails. The papers survive most of this. Labels
such as A1 are those of [theory.md](theory.md), section 12.

This page is generated: `python -m proofs --write-errata`. `python -m proofs` fails if it is out
of date.
"""

SECTIONS = {"Refuted": "Refuted", "Gap": "Gaps", "Remark": "Remarks", "": "Not yet sorted"}


def markdown(text: str) -> str:
    """Escape what Markdown would read as emphasis, tags or strike-through."""
    return re.sub(r"([\\*_<~])", r"\\\1", text)


def verbatim(text: str) -> str:
    """Format a quote as code, so that nothing in it is read as markup.

    >>> verbatim("m^* < n")
    '`m^* < n`'
    """
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def kind(module: ModuleType) -> str:
    """Return the kind of an erratum; empty where the file does not say it."""
    return str(getattr(module, "KIND", ""))


def entry(number: int, module: ModuleType) -> str:
    """Format one erratum."""
    title = " ".join(module.__doc__.strip().split("\n\n")[0].split())
    quotes = " … ".join(
        f"(line {line}) {verbatim(text)}" for line, text in getattr(module, "PRINTED", ())
    )
    fails = getattr(module, "FAILS", "")
    return (
        f"### {number}. {markdown(title)}\n\n*{markdown(module.PLACE)}* · "
        f"`proofs/errata/{short_name(module)}.py`\n\n"
        + (f"- **Printed.** {quotes}\n" if quotes else "")
        + f"- **Read as.** {markdown(module.CLAIM)}\n"
        + (f"- **What fails.** {markdown(fails[:1].upper() + fails[1:])}.\n" if fails else "")
        + f"- **Witness.** {markdown(module.witness())}\n- "
        f"**Mended.** {markdown(module.MENDED)}\n"
    )


def page() -> str:
    """Return the whole page; the same text on every run."""
    found = errata_modules()
    rows = ["| paper | " + " | ".join(SECTIONS[k] for k in KINDS) + " |", "|---|---|---|---|"]
    for paper in ORDER:
        counts = [sum(paper == m.SOURCE and kind(m) == k for m in found) for k in KINDS]
        rows.append(f"| {paper} | " + " | ".join(map(str, counts)) + " |")
    parts = [HEAD, f"{len(found)} entries:\n\n" + "\n".join(rows) + "\n"]
    number = 0
    for section, title in SECTIONS.items():
        here = [m for m in found if kind(m) == section]
        if not here:
            continue
        parts.append(f"## {title}\n")
        for paper in ORDER:
            of_paper = [m for m in here if paper == m.SOURCE]
            if of_paper:
                parts.append(f"*{title}: {markdown(paper)}.*\n")
            for module in of_paper:
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
