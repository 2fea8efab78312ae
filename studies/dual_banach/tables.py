"""Audit of the paper's tables: Table 1 and its intervals from Table 10, and Table 7 from E.2.

    python studies/dual_banach/tables.py ../shared/seeds/dual_banach.txt

Reads Table 10 and Table 1 out of the paper's text. Means and half-widths (95 %, Student's t,
three seeds) are recomputed; a difference of more than 0.015 is listed (less, rounding explains).
The rows of Table 10 are exact decimals, so the averages over corruptions are exact.
"""

from __future__ import annotations

import argparse
import re
from fractions import Fraction
from pathlib import Path

from statistics_of_runs import interval, write

from hardmax.learned.dual_banach.flops import Shape

MODELS = ("ViT-T", "ViT-T + DB", "ViT-S", "ViT-S + DB")
COLUMNS = ("No Corruption", "Gaussian Noise", "Shot Noise", "Pixelate", "Avg.")
Rows = dict[str, list[Fraction]]


def table10(text: str) -> dict[str, Rows]:
    """Data set → row name → 12 numbers: four models, three seeds each."""
    part = text[text.index("Table 10: Full experimental results") :]
    tables: dict[str, Rows] = {}
    name = ""
    for line in part.splitlines():
        if line.startswith("CIFAR-"):
            name = line.split()[0]
            tables[name] = {}
        cells = line.split("\t")
        if name and len(cells) == 13 and re.fullmatch(r"\d+\.\d+", cells[1]):
            tables[name][cells[0]] = [Fraction(cell) for cell in cells[1:]]
    return tables


def table1(text: str) -> dict[tuple[str, str], list[tuple[float, float]]]:
    """(Data set, model) → the printed (mean, half-width) of the five columns."""
    part = text[text.index("Table 1: Image") : text.index("Table 10: Full")]
    found = {}
    name, model = "", ""
    for line in part.splitlines():
        if line.startswith("CIFAR-1"):
            name = "CIFAR-100" if line.startswith("CIFAR-100") or "00 and" in line else "CIFAR-10"
        numbers = re.findall(r"(\d+\.\d+)\s*(?:±|\$?\\pm)\s*(\d+\.\d+)", line)
        if name and len(numbers) == 5:
            model = model + " + DB" if "mathcal" in line else line.split("\t")[0]
            found[name, model] = [(float(a), float(b)) for a, b in numbers]
            model = model.removesuffix(" + DB")
    return found


def audit(text: str) -> dict[str, object]:
    """What Table 1 should say, what differs, the averages of Table 10, which intervals shrink."""
    printed, tables = table1(text), table10(text)
    rows, differences, averages, wider = [], [], [], []
    for name, table in tables.items():
        kinds = [row for row in table if row not in ("No Corruption", "Avg.")]
        widths: dict[str, list[float]] = {}
        for m, model in enumerate(MODELS):
            seeds = slice(3 * m, 3 * m + 3)
            for k in range(3):
                mean = sum(table[row][3 * m + k] for row in kinds) / len(kinds)
                averages.append(abs(mean - table["Avg."][3 * m + k]) <= Fraction(1, 200))
            widths[model] = []
            for column, (mean1, half1) in zip(COLUMNS, printed[name, model], strict=True):
                mean, half = interval([float(x) for x in table[column][seeds]])
                widths[model].append(half)
                row = {"data": name, "model": model, "column": column, "printed": [mean1, half1],
                       "from Table 10": [round(mean, 2), round(half, 2)]}  # fmt: skip
                rows.append(row)
                if max(abs(mean - mean1), abs(half - half1)) > 0.0151:
                    differences.append(row)
        for model in ("ViT-T", "ViT-S"):
            pairs = zip(widths[model], widths[model + " + DB"], strict=True)
            grew = [c for c, (a, b) in zip(COLUMNS, pairs, strict=True) if b > a]
            wider.append({"data": name, "model": model, "intervals that widen": grew})
    return {
        "corruptions": len(kinds),
        "averages of Table 10 that equal the mean of their rows": [sum(averages), len(averages)],
        "rows": rows,
        "differences from Table 1": differences,
        "intervals": wider,
    }


def flops() -> list[dict[str, object]]:
    """Table 7 against the formulas of E.2."""
    printed = {"ViT-T": (1.25, 10.4), "ViT-S": (4.60, 6.2), "GPT-2": (9.53, 2.0)}
    shapes = {
        "ViT-T": Shape(197, 192, 3, 12),
        "ViT-S": Shape(197, 384, 6, 12),
        "GPT-2": Shape(1024, 768, 12, 12),
    }
    return [
        {"model": name, "printed GFLOPs": printed[name][0], "printed overhead %": printed[name][1],
         "GFLOPs by E.2": round(shape.baseline / 1e9, 2),
         "overhead by E.2 %": round(100 * float(shape.overhead), 1)}
        for name, shape in shapes.items()
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("paper", type=Path)
    text = parser.parse_args().paper.read_text(encoding="utf-8")
    result = {"Table 1": audit(text), "Table 7": flops()}
    for key, value in result["Table 1"].items():
        if key != "rows":
            print(f"{key}: {value}")
    for row in result["Table 7"]:
        print(row)
    write("tables", result)


if __name__ == "__main__":
    main()
