"""What is remembered of a model or of data stays true, because nothing in them can be changed."""

from fractions import Fraction as F

import numpy as np
import pytest

import hardmax as hm
from hardmax.exact.array import ExactArray
from hardmax.labels import Point
from hardmax.model.parameters import NAMES, Parameters


def certified_pair():
    data = hm.Dataset([[("1/3", 0), (1, 1)], [(0, 2)], [(5, 2)]], ["a", "b", "a"])
    model = hm.build(data)
    assert hm.certify(model, data).proved
    return model, data


def test_overrides_and_floats_cannot_be_assigned():
    model, data = certified_pair()
    arrays = [*model.parameters.arrays.values(), data.tokens]
    for array in arrays:
        with pytest.raises(TypeError):
            array.exact[0] = F(7)
        with pytest.raises(ValueError, match="read-only"):
            array.values[...] = 7
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.values.setflags(write=True)
    with pytest.raises(ValueError, match="WRITEABLE"):
        data.offsets.setflags(write=True)
    with pytest.raises(TypeError):
        data.sets["a"] = Point((9, 9))
    with pytest.raises(TypeError):
        data.given_sets["a"] = Point((9, 9))
    assert hm.certify(model, data).proved


def shared(how, values):
    """An array with these values, and one through which they can be changed."""
    base = np.array(values, dtype=np.float64)
    if how == "itself":
        return base, base
    if how == "view":
        return base[...], base
    if how == "read-only view":
        view = base[...]
        view.setflags(write=False)
        return view, base
    if how == "memory":
        return np.asarray(memoryview(base).toreadonly()), base
    wide = np.zeros((*base.shape, 2))
    wide[..., 0] = base
    return wide[..., 0], wide[..., 0]


@pytest.mark.parametrize("how", ["itself", "view", "read-only view", "memory", "strided"])
def test_who_keeps_an_array_changes_nothing(how):
    model, data = certified_pair()
    kept, overrides = [], []

    def again(array):
        values, base = shared(how, array.values)
        exact = dict(array.exact)
        kept.append(base)
        overrides.append(exact)
        return ExactArray(values, exact)

    parameters = Parameters(**{name: again(model.parameters.arrays[name]) for name in NAMES})
    other = hm.Transformer(parameters)
    offsets = np.array(data.offsets)
    same = hm.Dataset.from_arrays(again(data.tokens), offsets, list(data.labels), data.sets)
    for _ in range(2):
        assert hm.certify(other, same).proved
        assert list(other.blocks) == list(model.blocks)
        assert list(same.sequences) == list(data.sequences)
        for base, exact in zip(kept, overrides, strict=True):
            base[...] = 7
            exact.clear()
        offsets[1:] += 1


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_an_array_that_was_read_is_its_own(kind):
    source = np.array([[1, 2], [3, 4]], dtype=kind)
    for given in (source, source[::-1][::-1], source.T.T):
        array = ExactArray.from_numpy(given)
        before = array.row(0), array.span, array.largest, array.scaled()[0].tolist()
        source += 1
        assert (array.row(0), array.span, array.largest, array.scaled()[0].tolist()) == before
        source -= 1
    with pytest.raises(ValueError, match="read-only"):
        array.scaled()[0][0, 0] = 5


def test_quotients_cannot_be_changed():
    numerators = np.array([1, 2, 5])
    array = ExactArray.of_quotients(numerators, 10)
    numerators[:] = 3
    assert list(array.numbers()) == [F(1, 10), F(1, 5), F(1, 2)]
    with pytest.raises(TypeError):
        array.exact[0] = F(3)


def test_two_sets_whose_names_are_one_text():
    for keys in ((1, "1"), ("1", 1), (None, "None")):
        sets = dict(zip(keys, (Point((0,)), Point((1,))), strict=True))
        with pytest.raises(hm.InputError) as problem:
            hm.Dataset([[(0,)]], ["1"], sets)
        assert str(problem.value).count("\n") == 0
        assert repr(str(keys[0])) in str(problem.value) or "text" in str(problem.value)
