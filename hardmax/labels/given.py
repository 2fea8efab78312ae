"""Labels and ids as users give them: any text or number in Python, always a text in files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from typing import Any, cast

from ..errors import InputError
from ..exact.numbers import exact_text
from ..words import kind


def read_labels(labels: Iterable[Any]) -> tuple[list[Any], list[str | None]]:
    """Labels as plain Python values, and their names.

    NumPy's and PyTorch's scalars become the int, float, bool or str that they hold. None is no
    label. Raises InputError for anything else than text and numbers.

    >>> import numpy as np
    >>> read_labels(np.array([0, 1]))
    ([0, 1], ['0', '1'])
    """
    if isinstance(labels, AbstractSet):
        raise InputError(f"the labels are {kind(labels)}, which has no order; give a list")
    if isinstance(labels, bytes | Mapping) or not isinstance(labels, Iterable):
        raise InputError(f"the labels are {kind(labels)}; give a list, one label for each sequence")
    listed = getattr(labels, "tolist", None)  # of NumPy, PyTorch, pandas
    given: list[Any] = listed() if listed is not None else list(labels)
    if not isinstance(given, list):
        raise InputError("the labels are a single value; give one label for each sequence")
    given, names = _named(given)
    check_text(names, "the label")
    return given, names


def _named(given: list[Any]) -> tuple[list[Any], list[str | None]]:
    """Labels as plain Python values, and their names, which may be no text."""
    kinds = set(map(type, given)) - {type(None)}
    if not kinds <= {str, int, float, bool}:
        given = [_plain(label, j) for j, label in enumerate(given)]
        kinds = set(map(type, given)) - {type(None)}
    if kinds <= {str}:
        return given, cast("list[str | None]", given)
    if float in kinds and any(label != label for label in given):
        raise InputError("a label is NaN; write None where a sequence has no label")
    if len(kinds) == 1:  # equal labels are one object: fast for many
        names = {label: name_of(label) for label in set(given)}
        return given, list(map(names.__getitem__, given))
    return given, list(map(name_of, given))


def read_ids(ids: Iterable[Any]) -> list[str | None]:
    """Ids as texts: an integer stands for its digits, None is no id; InputError for others.

    >>> read_ids(["first", 2, None])
    ['first', '2', None]
    """
    if isinstance(ids, str | bytes | Mapping | AbstractSet) or not isinstance(ids, Iterable):
        raise InputError(f"the ids are {kind(ids)}; give a list, one id for each sequence")
    given = [*map(plain, ids)]
    if not set(map(type, given)) <= {str, int, type(None)}:
        for j, each in enumerate(given):
            if isinstance(each, bool) or not isinstance(each, str | int | None):
                raise InputError(
                    f"the id of sequence {j + 1} is {kind(each)}, neither text nor an integer"
                )
    found = [each if each is None or type(each) is str else name_of(each) for each in given]
    check_text(found, "the id")
    return found


def check_text(texts: Sequence[str | None], what: str) -> None:
    """Refuse a text that UTF-8 can't write: Python can hold half a character.

    ``what`` is "the label" or "the id"; the InputError names the sequence.
    """
    try:
        "".join(text for text in texts if text).encode()
    except UnicodeEncodeError:
        j = next(j for j, text in enumerate(texts) if text and _halved(text))
        raise InputError(
            f"{what} of sequence {j + 1}, {texts[j]!r}, holds half a surrogate pair, which is "
            f"no text"
        ) from None


def _halved(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


def name_of(label: Any) -> str | None:
    """The text that files hold for a label, a plain Python value."""
    if label is None:
        return None
    return exact_text(Fraction(label)) if type(label) is int else str(label)


def plain(label: Any) -> Any:
    """The Python value that a NumPy or PyTorch scalar holds; anything else as it is."""
    item = getattr(label, "item", None)
    return item() if item is not None and getattr(label, "ndim", 1) == 0 else label


def _plain(label: Any, j: int) -> Any:
    found = plain(label)
    if found is None or isinstance(found, str | int | float):
        return found
    advice = "; labels have one axis, (N,)" if isinstance(found, list | tuple) else ""
    raise InputError(
        f"the label of sequence {j + 1} is {kind(found)}, neither text nor a number{advice}"
    )
