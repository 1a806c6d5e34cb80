"""Files that a result writes: its parts, and the places of rows of other files."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Optional

from nystream import _lib
from nystream._append import PathLike
from nystream._lib import lib
from nystream._options import Options

if TYPE_CHECKING:
    from nystream.store import Store


class FileParts:
    """The methods that a result has for files; store.Result is one."""

    store: "Store"
    name: str

    def transform_file(self, input: PathLike, output: PathLike, **options: Any) -> None:
        """Place the rows of a file, and write them to a .npy or .csv file, in one pass."""
        context = self.store._context
        with Options(context, _lib.READ, options) as pointer:
            context.run(lib.ny_transform, context.pointer, self.store._path, self.name.encode(),
                        os.fsencode(input), os.fsencode(output), pointer)

    def export(self, part: PathLike = "embedding", output: Optional[PathLike] = None,
               skip_damaged: bool = False) -> None:
        """Write a part to a .npy, .csv, .csv.gz or .tsv file, or the model to a .nym file.

        The graph is a .npz, .mtx, .txt, .csv or .tsv file. With skip_damaged, rows that cannot be
        read are NaN in the file, with a warning, and all others are as they were. Of a store in
        shards, all processes that MPI has started together make this call, and one writes the file.

        Parameters
        ----------
        part : str
            Name of a part, as `nystream help export` lists them: "embedding", "eigenvalues",
            "clusters", "model", …. A file alone, as in `export("map.npy")`, gets the embedding.
        output : path
            The file.
        skip_damaged : bool
            See above.
        """
        if output is None:
            part, output = "embedding", part
        context = self.store._context
        what = (context.pointer, self.store._path, self.name.encode(), os.fsencode(part),
                os.fsencode(output))
        if skip_damaged:
            context.run(lib.ny_export_undamaged, *what, None)
        else:
            context.run(lib.ny_export, *what)
