"""Compare what an erratum quotes with the text of the paper.

An erratum quotes by `PRINTED`, a tuple of pairs (line, words): the words stand in the text of the
paper, white space aside, and begin in that line. The texts lie in `../shared/seeds`; without them
the digests in `quotes.json`, written from a comparison with the texts, take their place.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from types import ModuleType

from proofs.sources import BANACH, CONVEX, HARDMAX, TRANSDUCER

ROOT = Path(__file__).resolve().parent
SEEDS = ROOT.parent.parent / "shared" / "seeds"
DIGESTS = ROOT / "quotes.json"
TEXTS = {
    HARDMAX: "hardmax.txt",
    CONVEX: "convex_attention.txt",
    BANACH: "dual_banach.txt",
    TRANSDUCER: "transducer.txt",
}
LONGEST = 16  # lines that a quote may cover
KINDS = ("Refuted", "Gap", "Remark")


def words(text: str) -> str:
    """Join the words of a text by single spaces.

    >>> words("two  words\\nand more ")
    'two words and more'
    """
    return " ".join(text.split())


def stands_at(quote: str, line: int, lines: list[str]) -> bool:
    """Tell whether a quote begins in a line, counted from 1.

    >>> stands_at("b c", 1, ["a b", "c d"]), stands_at("c d", 1, ["a b", "c d"])
    (True, False)
    """
    if not 1 <= line <= len(lines) or not quote:
        return False
    here = words(" ".join(lines[line - 1 : line - 1 + LONGEST]))
    return 0 <= here.find(quote) < len(words(lines[line - 1]))


def texts_are_here() -> bool:
    """Tell whether the texts of the papers lie beside the checkout."""
    return all((SEEDS / name).is_file() for name in TEXTS.values())


def misquoted(module: ModuleType) -> list[str]:
    """List what an erratum quotes that its paper does not say there; needs the texts."""
    text = (SEEDS / TEXTS[module.SOURCE]).read_text(encoding="utf-8")
    lines = text.split("\n")
    return [
        f"{module.__name__}: line {line} of {TEXTS[module.SOURCE]} does not say {quote!r}"
        for line, quote in module.PRINTED
        if not stands_at(quote, line, lines)
    ]


def digest(module: ModuleType) -> str:
    """Return the SHA-256 of what an erratum quotes."""
    return hashlib.sha256(json.dumps(module.PRINTED).encode()).hexdigest()


def digests() -> dict[str, str]:
    """Read the digests of quotes that were compared with the texts."""
    found: dict[str, str] = json.loads(DIGESTS.read_text(encoding="utf-8"))
    return found


def write(modules: list[ModuleType]) -> None:
    """Compare all quotes with the texts, then write their digests."""
    wrong = [line for module in modules for line in misquoted(module)]
    if wrong:
        raise ValueError("\n".join(wrong))
    found = {module.__name__.rsplit(".", 1)[-1]: digest(module) for module in modules}
    DIGESTS.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
