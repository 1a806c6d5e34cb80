"""python3 -m nystream import STORE FILE…: rows of Parquet and Arrow files, which pyarrow reads.

Batches of rows go into the store one after another, all or none. Other files, and all else, are for
the command `nystream`, whose options of import these are.
"""
from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional

from nystream import _lib
from nystream._columns import take_labels
from nystream._errors import NystreamError, usage_error
from nystream.store import Store

SUFFIXES = (".parquet", ".arrow", ".feather")  # pyarrow calls the formats so, too
TAKEN = ("append", "codec", "dtype", "expect-rows", "label-column", "layout", "memory", "nan",
         "rows", "seed", "shuffle", "threads", "values")


def _batches(files: List[str], label_column: Optional[str]) -> Iterator[Any]:
    """Give the batches of all files, or pairs (rows, labels)."""
    from pyarrow import dataset  # type: ignore[import]

    for file in files:
        for batch in dataset.dataset(file, format=Path(file).suffix[1:]).to_batches():
            yield batch if label_column is None else take_labels(batch, label_column)


def _parse(arguments: List[str]) -> Dict[str, Any]:
    """Return STORE, FILE… and the options that are given, as Python spells them."""
    parser = argparse.ArgumentParser("python3 -m nystream import", allow_abbrev=False,
                                     argument_default=argparse.SUPPRESS, epilog="Options are those "
                                     "of `nystream help import --all`.")
    parser.add_argument("store", metavar="STORE")
    parser.add_argument("files", metavar="FILE", nargs="+", help=", ".join(SUFFIXES))
    for name in TAKEN:
        switch = _lib.OPTIONS[name].argument is None
        parser.add_argument(f"--{name}", action="store_true" if switch else "store")
    return vars(parser.parse_args(arguments))


def main() -> int:
    """Run the command, and return its exit code."""
    if sys.argv[1:2] != ["import"]:
        print(__doc__, file=sys.stderr)
        return 2
    options = _parse(sys.argv[2:])
    store, files = Store(options.pop("store")), options.pop("files")
    others = [file for file in files if Path(file).suffix not in SUFFIXES]
    try:
        if others:
            raise usage_error(f"{others[0]} is none of {', '.join(SUFFIXES)}; see nystream import")
        if not options.pop("append", False) and store._has_rows():
            raise usage_error(f"{store.path} has rows already; --append adds to them", "append")
        report = store.append(_batches(files, options.pop("label_column", None)), **options)
        print(f"nystream: {report.rows:,} rows of {report.d:,} columns imported", file=sys.stderr)
    except (NystreamError, OSError, ValueError, ImportError) as error:
        print(f"nystream: {error}", file=sys.stderr)
        return getattr(error, "status", 4 if isinstance(error, (OSError, ImportError)) else 3)
    return 0


if __name__ == "__main__":
    sys.exit(main())
