"""Tables of pandas, polars and numpy, none of which is needed."""

from __future__ import annotations

import csv
import io
import sys
from typing import Any, Iterable, Mapping, Sequence

from ._errors import PointError


def is_frame(table: Any) -> bool:
    """True for a DataFrame of pandas or polars."""
    for name in ("pandas", "polars"):
        module = sys.modules.get(name)
        if module is not None and isinstance(table, module.DataFrame):
            return True
    return False


def is_series(row: Any) -> bool:
    """True for a row of pandas."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(row, pandas.Series)


def is_array(table: Any) -> bool:
    """True for an array of numpy."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(table, numpy.ndarray)


def float_array(array: Any) -> Any:
    """The array in f64, as it is where it is so already."""
    import numpy

    if array.dtype.kind not in "fiub":
        raise PointError(f"the array holds {array.dtype}; expected numbers, a category as its level index")
    if array.ndim != 2:
        raise PointError(f"the array has {array.ndim} dimensions; expected 2, a row for each point")
    return numpy.asarray(array, dtype=numpy.float64)


def records(table: Any) -> list[Mapping[str, Any]]:
    """The rows of a table as dicts."""
    if is_frame(table):
        if hasattr(table, "to_dicts"):
            return table.to_dicts()
        return table.to_dict("records")
    if isinstance(table, (str, bytes)) or not isinstance(table, Iterable):
        raise PointError(f"found a {type(table).__name__}; expected a list of dicts, a DataFrame or an array")
    return [record(row) for row in table]


def record(row: Any) -> Mapping[str, Any]:
    """A row as a dict."""
    return row.to_dict() if is_series(row) else row


def csv_bytes(table: Any) -> bytes:
    """A table of experiments as the text of a history file."""
    if isinstance(table, bytes):
        return table
    if is_frame(table) and hasattr(table, "write_csv"):
        return table.write_csv().encode()
    if is_frame(table):
        return table.to_csv(index=False).encode()
    rows = records(table)
    names: dict[str, None] = {}
    for row in rows:
        if not isinstance(row, Mapping):
            raise PointError(f"found a {type(row).__name__}; expected a dict for each experiment")
        names.update(dict.fromkeys(row))
    return csv_text(list(names), ([_cell(row.get(name)) for name in names] for row in rows)).encode()


def csv_text(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    if not names:
        return ""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    """A missing value is an empty cell; numpy's scalars print like Python's."""
    if value is None or value != value:
        return ""
    return value.item() if hasattr(value, "item") else value
