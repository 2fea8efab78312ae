"""The examples: built, certified, and judged by both programs; and a wrong model of each."""

from pathlib import Path

import pytest

import hardmax
from hardmax.certify import certify
from hardmax.construct.build import STRATEGIES
from hardmax.formats.certificate_file import write_certificate

from . import judges, pairs

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SMALL = sorted(path.name for path in EXAMPLES.glob("*.json"))
LARGE = sorted(path.name for path in EXAMPLES.glob("*.json.gz"))
# the checker takes a minute for each of these with strategy learn: many tokens in many blocks
LONG = {("zen.json", "learn"), *((name, "learn") for name in LARGE)}


def judge(name, strategy, folder):
    if (name, strategy) in LONG:
        pytest.skip("too long")
    data = hardmax.load(EXAMPLES / name)
    if data.given_outputs is not None and strategy in ("cover", "fold", "learn"):
        with pytest.raises(hardmax.InputError, match="needs labels"):
            hardmax.build(data, strategy)
        return
    hardmax.build(data, strategy).save(folder / "model.npz")
    found = certify(hardmax.Transformer.load(folder / "model.npz"), data)
    assert found.proved
    write_certificate(found, folder / "certificate.json")
    raw = (EXAMPLES / name).read_bytes()
    files = (folder / "model.npz").read_bytes(), raw, (folder / "certificate.json").read_bytes()
    assert judges.ask_checker(*files) == (0, "proved")
    codes = []
    with judges.Package() as package:
        true = pairs.Model.read(files[0])
        collapsed = true.copy()
        collapsed.arrays["rho"][-1] = collapsed.arrays["alpha"][-1] = 0  # every output is 0
        for wrong in (true.take([0]), true.take(reversed(range(len(true)))), collapsed):
            codes.append(package(wrong.raw(), raw)[0])
            assert judges.ask_checker(wrong.raw(), raw)[0] == codes[-1]
            assert (
                judges.ask_checker(wrong.raw(), *files[1:])[0] == 1
            )  # the certificate is another's
    assert 1 in codes


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", SMALL)
def test_examples(name, strategy, tmp_path):
    judge(name, strategy, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", LARGE)
def test_large_examples(name, strategy, tmp_path):
    judge(name, strategy, tmp_path)
