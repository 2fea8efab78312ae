"""Every lemma and every erratum under proofs/ runs, and docs/errata.md is what the errata say."""

import doctest
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from proofs import __main__ as command  # noqa: E402
from proofs import checking, errata_page, lemmas, vectors  # noqa: E402
from proofs.checking import Refuted, relu, require, require_equal  # noqa: E402
from proofs.registry import Check, all_checks, errata_modules, modules  # noqa: E402

LONG = ("e1_lift.construction",)  # in seconds; `make proofs` runs it, too


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(c, id=c.name, marks=[pytest.mark.slow] if c.name in LONG else [])
        for c in all_checks()
    ],
)
def test_statement(check: Check) -> None:
    shown = check.run()
    assert isinstance(shown, str)
    assert len(shown) > 20


def test_errata_page_is_current() -> None:
    assert errata_page.is_current(), "run python -m proofs --write-errata"


def test_page_is_deterministic_and_names_every_entry() -> None:
    page = errata_page.page()
    assert page == errata_page.page()
    for module in errata_modules():
        assert errata_page.markdown(module.CLAIM) in page
        assert errata_page.markdown(module.MENDED) in page


@pytest.mark.parametrize("module", errata_modules(), ids=lambda m: m.__name__)
def test_erratum_has_the_uniform_shape(module) -> None:
    for name in ("SOURCE", "PLACE", "CLAIM", "MENDED"):
        assert getattr(module, name).strip()


@pytest.mark.parametrize("module", modules(lemmas), ids=lambda m: m.__name__)
def test_lemma_has_the_uniform_shape(module) -> None:
    for name in ("SOURCE", "PLACE", "STATEMENT", "HYPOTHESES", "PROVED", "LEFT"):
        assert getattr(module, name).strip()


@pytest.mark.parametrize("part", [f"A{k}" for k in range(1, 10)])
def test_every_point_of_the_paper_has_a_witness(part: str) -> None:
    names = [module.__name__ for module in errata_modules()]
    assert any(f"hardmax_{part.lower()}_" in name for name in names)


def test_checks_refuse_what_is_false_or_undecided() -> None:
    import sympy

    x = sympy.Symbol("x", real=True)
    for claim in (
        lambda: require(False, "no"),
        lambda: require(x > 0, "undecided"),
        lambda: require_equal(x, x + 1, "no"),
        lambda: relu(x),
    ):
        with pytest.raises(Refuted):
            claim()


def test_a_failing_check_makes_the_command_fail(capsys: pytest.CaptureFixture[str]) -> None:
    def fails() -> str:
        raise Refuted("the witness does not hold")

    good = Check("lemma", "good", "-", "-", lambda: "shown")
    bad = Check("erratum", "bad", "-", "-", fails)
    assert command.table([good], 0) == 0
    assert command.table([good, bad], 0) == 1
    assert "FAILED" in capsys.readouterr().out


def test_missing_coqc_is_reported_not_failed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command.shutil, "which", lambda name: None)
    assert command.table([Check("machine", "rocq", "-", "-", command.rocq)], 0) == 0
    assert command.INSTALL in capsys.readouterr().out


def test_witnesses_do_not_rely_on_assert() -> None:
    code = "from proofs.checking import require\nrequire(1 == 2, 'no')"
    done = subprocess.run(
        [sys.executable, "-O", "-c", code], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode != 0
    assert "Refuted" in done.stderr


@pytest.mark.parametrize("module", [checking, vectors], ids=lambda m: m.__name__)
def test_examples_in_docstrings(module) -> None:
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def test_proofs_do_not_import_the_package() -> None:
    for file in (ROOT / "proofs").glob("**/*.py"):
        if "rocq" not in file.parts:
            text = file.read_text(encoding="utf-8")
            assert "import hardmax" not in text
            assert "from hardmax" not in text


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="mutants run in forked processes")
def test_every_mutant_is_refuted_or_argued() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "proofs.mutants"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SURVIVES" not in done.stdout
