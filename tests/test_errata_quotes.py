"""Every erratum quotes its paper verbatim and says what kind of point it makes."""

import doctest
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from proofs import errata_page, quotes  # noqa: E402
from proofs.registry import errata_modules, short_name  # noqa: E402

each = pytest.mark.parametrize("module", errata_modules(), ids=short_name)


@each
def test_it_says_what_is_printed_and_what_fails(module) -> None:
    name = short_name(module)
    for field in ("KIND", "PRINTED", "FAILS"):
        assert hasattr(module, field), f"{name} has no {field}: see proofs/README.md"
    assert module.KIND in quotes.KINDS, f"{name}: KIND is one of {quotes.KINDS}"
    assert module.PRINTED, f"{name} quotes nothing"
    for line, text in module.PRINTED:
        assert isinstance(line, int)
        assert quotes.words(text) == text
        assert len(text) > 10


@each
def test_what_it_quotes_is_in_the_paper(module) -> None:
    if not hasattr(module, "PRINTED"):
        pytest.fail(f"{short_name(module)} has no PRINTED: see proofs/README.md")
    if quotes.texts_are_here():
        assert quotes.misquoted(module) == []
    stored = quotes.digests().get(short_name(module))
    assert stored == quotes.digest(module), (
        f"{short_name(module)}: quotes changed; run python -m proofs --write-quotes"
    )


def test_no_digest_is_left_over() -> None:
    assert set(quotes.digests()) <= {short_name(module) for module in errata_modules()}


def test_a_changed_word_or_line_is_noticed() -> None:
    lines = ["Every claim", "here is  true.", "", "The end."]
    assert quotes.stands_at("claim here is true.", 1, lines)
    assert not quotes.stands_at("claim here is false.", 1, lines)
    assert not quotes.stands_at("claim here is true.", 2, lines)
    assert not quotes.stands_at("The end.", 3, lines)
    assert not quotes.stands_at("The end.", 9, lines)


def test_the_page_has_the_three_sections_and_all_quotes() -> None:
    page = errata_page.page()
    for title in ("## Refuted", "## Gaps", "## Remarks"):
        assert f"\n{title}\n" in page
    for module in errata_modules():
        for _, text in getattr(module, "PRINTED", ()):
            assert errata_page.verbatim(text) in page


@pytest.mark.parametrize("module", [quotes, errata_page], ids=lambda m: m.__name__)
def test_examples_in_docstrings(module) -> None:
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0
