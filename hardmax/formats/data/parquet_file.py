"""Data sets in Parquet: one row a sequence with lists of lists, or in long form one row a token."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import IO, Any

import numpy as np

from ...dataset import Dataset, Reading
from ...dataset.arrays import check_finite
from ...dataset.long_form import column_values, exact_tokens, read_table
from ...errors import InputError, MissingExtraError
from ...exact.array import ExactArray
from ...exact.numbers import MAX_EXPONENT, as_fraction, exact_text
from ..files import unpacked_limit
from ..written import NumberReader, parse
from .json_file import FORMAT
from .label_sets import read_label_sets, sets_json

_SETS, _FORMAT = b"hardmax.labels", b"hardmax.format"
_ROWS = 1 << 14  # read at a time
_TOO_LARGE = f"NaN, an infinity or a number of 2^{MAX_EXPONENT} or more"


def _arrow() -> tuple[Any, Any, Any]:
    """pyarrow, pyarrow.compute and pyarrow.parquet, imported when first used."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("Parquet needs pyarrow: pip install 'hardmax[parquet]'") from None
    return pyarrow, pyarrow.compute, pyarrow.parquet


def read(content: bytes, numbers: str, source: Mapping[str, Any]) -> Dataset:
    """Data set from the bytes of a Parquet file.

    Floats and integers mean exactly the numbers they hold, decimals and texts what is written.
    """
    arrow, _, parquet = _arrow()
    try:
        table = _table(content, arrow, parquet)
        table.validate(full=True)
    except (arrow.ArrowException, OSError, OverflowError, UnicodeError) as problem:
        message = (str(problem).splitlines() or [""])[0]
        raise InputError(f"broken Parquet: {type(problem).__name__} {message}"[:200]) from None
    reader = NumberReader(numbers)

    def number(value: object) -> Fraction:
        return reader.text(str(value)) if isinstance(value, str | Decimal) else as_fraction(value)

    shape = _nested if "tokens" in table.column_names else read_table
    tokens, offsets, labels, ids = shape(table, number)
    check_finite(tokens.values, offsets, 2.0**MAX_EXPONENT, _TOO_LARGE)
    written = (table.schema.metadata or {}).get(_SETS)
    sets = None if written is None else read_label_sets(parse(written), reader, tokens.shape[1])
    return Dataset.from_arrays(tokens, offsets, labels, sets, ids=ids, source=source)


def _table(content: bytes, arrow: Any, parquet: Any) -> Any:
    """The table in a file, read in parts: few bytes may say much, but not without a limit."""
    file, limit = parquet.ParquetFile(io.BytesIO(content)), unpacked_limit(len(content), 1 << 28)
    parts, size = [], 0
    for part in file.iter_batches(batch_size=_ROWS):
        size += part.nbytes
        if size > limit:
            raise InputError(f"the file unpacks to more than {limit} bytes")
        parts.append(part)
    return arrow.Table.from_batches(parts, file.schema_arrow)


def _nested(
    table: Any, number: Callable[[object], Fraction]
) -> tuple[ExactArray, np.ndarray, list[Any] | None, list[str | None] | None]:
    """Tokens, offsets, labels and ids of a table with one row a sequence."""
    names = table.column_names
    if not {*names} <= {"tokens", "label", "id"} or len({*names}) < len(names):
        found = ", ".join(names[:6])[:80]
        raise InputError(f"a table with one row a sequence has tokens, label, id; found {found!r}")
    lengths, inner = _opened(table["tokens"], "a sequence")
    widths, values = _opened(inner, "a token")
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    dimension = int(widths[0]) if len(widths) else 0
    if (widths != dimension).any():
        i = int(np.argmax(widths != dimension))
        j = int(np.searchsorted(offsets, i, side="right")) - 1
        raise InputError(
            f"sequence {j + 1}, token {i - int(offsets[j]) + 1} has {widths[i]} coordinates, "
            f"expected {dimension}"
        )
    if not dimension:
        raise InputError("tokens need at least one coordinate")
    flat = column_values(values)
    tokens = exact_tokens([flat[k::dimension] for k in range(dimension)], offsets, number)
    labels = table["label"].to_pylist() if "label" in names else None
    ids = None
    if "id" in names:
        ids = [None if name is None else str(name) for name in table["id"].to_pylist()]
    return tokens, offsets, labels, ids


def _opened(column: Any, what: str) -> tuple[np.ndarray, Any]:
    """Lengths of the lists of a column, and what they hold, one after another."""
    _, compute, _ = _arrow()
    if not str(column.type).startswith(("list<", "large_list<", "fixed_size_list<")):
        raise InputError(f"'tokens' holds {column.type}, expected lists of lists of numbers")
    if column.null_count:
        row = compute.is_null(column).to_pylist().index(True) + 1
        raise InputError(f"{what} is missing: entry {row} of 'tokens'")
    lengths = compute.list_value_length(column).to_numpy().astype(np.int64)
    return lengths, compute.list_flatten(column)


def count_rows(path: str | IO[bytes]) -> int | None:
    """The number of sequences of a file with one row a sequence, from its end; None for others.

    The file is open, or is given by name.
    """
    _, _, parquet = _arrow()
    found = parquet.ParquetFile(path)
    rows: int | None = found.metadata.num_rows if "tokens" in found.schema_arrow.names else None
    return rows


def write(path: Path, data: Dataset, sets: bool = True) -> None:
    """Write one row a sequence: tokens, label, id; floats where they are exact, otherwise texts.

    Without ``sets`` the label sets are left out.
    """
    arrow, _, parquet = _arrow()
    own, data = sets_json(data) if sets else {}, data.read_as(Reading())
    values, width = data.tokens.values, data.dimension
    if not len(data.tokens.exact) and (np.abs(values) < 2.0**MAX_EXPONENT).all():
        flat = arrow.array(values.reshape(-1))
    else:
        rows = (data.tokens.row(i) for i in range(len(data.tokens)))
        flat = arrow.array([exact_text(x) for row in rows for x in row])
    starts = np.arange(len(values) + 1) * width
    inner = arrow.LargeListArray.from_arrays(arrow.array(starts), flat)
    columns = {"tokens": arrow.LargeListArray.from_arrays(arrow.array(data.offsets), inner)}
    if any(label is not None for label in data.labels):
        whole = all(type(x) is int and abs(x) < 1 << 63 for x in data.labels if x is not None)
        labels = data.labels if whole else data.names
        columns["label"] = arrow.array(labels, arrow.int64() if whole else arrow.string())
    if any(name is not None for name in data.ids):
        columns["id"] = arrow.array(data.ids, arrow.string())
    said = {_FORMAT: FORMAT.encode()}
    if own:
        said[_SETS] = json.dumps(own, ensure_ascii=False).encode()
    parquet.write_table(arrow.table(columns).replace_schema_metadata(said), path)
