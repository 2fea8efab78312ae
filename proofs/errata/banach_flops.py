"""The printed overheads do not follow from the printed formulas."""

from fractions import Fraction

from proofs.checking import require
from proofs.sources import BANACH

SOURCE = BANACH
PLACE = "Appendix E.1, Table 7, against the formulas of E.2"
KIND = "Refuted"
FAILS = "the numbers, against the formulas of E.2"
PRINTED = (
    (563, "ViT-T/16 1.25 1.38 10.4%"),
    (564, "ViT-S/16 4.60 4.89 6.2%"),
    (565, "GPT-2 9.53 9.72 2.0%"),
    (
        577,
        r"\text{FLOPs}_{\text{Total}} \approx \underbrace{2T^2C}_{\text{Attention "
        r"Matmuls}} + \underbrace{4TC^2}_{\text{Projections}} + "
        r"\underbrace{2rTC^2}_{\text{FFN}}.",
    ),
    (615, "Block size - - 1024"),
)
CLAIM = (
    "FLOPs 1.25 -> 1.38 G (10.4 %) for ViT-T, 4.60 -> 4.89 G (6.2 %) for ViT-S, 9.53 G for "
    "GPT-2 with T = 1024."
)
MENDED = (
    "By the formulas of E.2, with T = 197 and 1024, the overhead is 5.2 % for ViT-T and 4.3 % "
    "for ViT-S, and GPT-2 needs 106 G, eleven times the printed number."
)


def flops(T: int, C: int, H: int, layers: int, r: int = 4) -> tuple[Fraction, Fraction]:
    """Return (baseline, overhead) of E.2."""
    D = Fraction(C, H)
    base = 2 * T * T * C + 4 * T * C * C + 2 * r * T * C * C
    first = H * D * D * C + T * H * D * D + T * H * D + T * C
    second = Fraction(3, 2) * T * C + 3 * r * C * C + Fraction(3, 2) * (r + 2) * C
    return Fraction(layers * base), layers * (first + second)


def matches(found: Fraction, printed: str) -> bool:
    """Tell whether a number is within a tenth of the printed one."""
    return abs(found / Fraction(printed) - 1) <= Fraction(1, 10)


def witness() -> str:
    """Evaluate the formulas for the three models, with the printed sizes and any length T."""
    shapes = {"ViT-T": (192, 3), "ViT-S": (384, 6), "GPT-2": (768, 12)}
    printed = {"ViT-T": ("1.25", "10.4"), "ViT-S": ("4.60", "6.2"), "GPT-2": ("9.53", "2.0")}
    for name, (C, H) in shapes.items():
        for T in range(1, 1025):
            base, more = flops(T, C, H, 12)
            both = (base / 10**9, 100 * more / base)
            require(
                not all(map(matches, both, printed[name])),
                f"{name}: no length T gives the baseline and the overhead",
            )
    tiny, small, gpt = flops(197, 192, 3, 12), flops(197, 384, 6, 12), flops(1024, 768, 12, 12)
    require(
        matches(tiny[0] / 10**9, "1.25") and matches(small[0] / 10**9, "4.60"),
        "T = 197 gives the baselines of both ViTs",
    )
    require(round(100 * tiny[1] / tiny[0], 1) == Fraction("5.2"), "ViT-T: 5.2 %, printed 10.4 %")
    require(round(100 * small[1] / small[0], 1) == Fraction("4.3"), "ViT-S: 4.3 %, printed 6.2 %")
    require(round(gpt[0] / 10**9, 1) == Fraction("106.3"), "GPT-2: 106.3 G, printed 9.53 G")
    return (
        "For no length T up to 1024 do the formulas give both the baseline and the overhead of "
        "a row within a tenth. T = 197 (images of 224 x 224) gives the baselines of the ViTs, and "
        "overheads of 5.2 % (printed 10.4 %) and 4.3 % (6.2 %); T = 1024, the block size of GPT-2, "
        "gives 106.3 G (printed 9.53 G)."
    )
