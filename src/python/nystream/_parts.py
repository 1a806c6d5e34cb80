"""The methods of a result beside its fit: files and pictures of it, and its graph."""
from __future__ import annotations

import base64
import ctypes as C
import html
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Iterator, Optional, Tuple

import numpy as np

from nystream import _lib
from nystream._append import PathLike
from nystream._batch import Batch, matrix_of_lists
from nystream._lib import lib
from nystream._options import Options
from nystream.report import Page, Picture, Report, show_result

if TYPE_CHECKING:
    from nystream.store import Store


class ResultParts:
    """The methods that a result has for what it writes and for its graph; store.Result is one."""

    store: "Store"
    name: str
    report: Report
    status: Any
    neighbors: Any
    distances: Any
    _batches: Callable[[Any], Iterator[Batch]]

    def _run(self, function: Any, *arguments: Any) -> None:
        """Make a call that may take long, with the context, the store and the name in front."""
        context = self.store._context
        context.run(function, context.pointer, self.store._path, self.name.encode(), *arguments)

    def _report(self, function: Any, *arguments: Any) -> Report:
        """Make such a call, and return its report."""
        return self.store._report(function, self.name.encode(), *arguments)

    # ---- files and pictures --------------------------------------------------------------------

    def transform_file(self, input: PathLike, output: PathLike, **options: Any) -> None:
        """Place the rows of a file, and write them to a .npy or .csv file, in one pass."""
        with Options(self.store._context, _lib.READ, options) as pointer:
            self._run(lib.ny_transform, os.fsencode(input), os.fsencode(output), pointer)

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
        what = os.fsencode(part), os.fsencode(output)
        if skip_damaged:
            self._run(lib.ny_export_undamaged, *what, None)
        else:
            self._run(lib.ny_export, *what)

    def plot(self, output: Optional[PathLike] = None, **options: Any) -> Picture:
        """Draw the embedding, as a picture that a notebook shows.

        Parameters
        ----------
        output : path, optional
            Also keep it, as .png, .svg or .pdf.
        **options
            axes=(1, 2), color="label", size="800x600", … as `nystream help plot --all` has them
        """
        with tempfile.TemporaryDirectory() as folder, \
                Options(self.store._context, _lib.PLOT, options) as pointer:
            file = Path(folder, "picture.png") if output is None else Path(output)
            self._run(lib.ny_plot, os.fsencode(file), pointer)
            return Picture(file.read_bytes(), file.suffix, None if output is None else file)

    def html(self, output: Optional[PathLike] = None, **options: Any) -> Page:
        """Write the page of the result, which needs no network; a notebook shows it."""
        names = (C.c_char_p * 1)(self.name.encode())
        context = self.store._context
        with tempfile.TemporaryDirectory() as folder, \
                Options(context, _lib.REPORT, options) as pointer:
            file = Path(folder, "page.html") if output is None else Path(output)
            context.run(lib.ny_write_report, context.pointer, self.store._path, names, 1,
                        os.fsencode(file), pointer)
            return Page(file.read_text(encoding="utf-8"), None if output is None else file)

    def __repr__(self) -> str:
        return f"<result {self.name!r} of {self.store.path}: {show_result(self.report)}>"

    def _repr_html_(self) -> str:
        picture = ""
        if self.status == "done" and self.report["kind"] == "fit":
            data = base64.b64encode(self.plot(size="800x600").data).decode()
            words = html.escape(f"Coordinates 1 and 2 of {self.name}", quote=True)
            picture = f"<img width='400' alt='{words}' src='data:image/png;base64,{data}'>"
        told = "".join(f"<li>{html.escape(sentence)}</li>"
                       for sentence in self.report.get("certificate") or ())
        return (f"<p>{html.escape(repr(self))}</p>{picture}<ul>{told}</ul>"
                f"{self.report._repr_html_()}")

    # ---- the graph -----------------------------------------------------------------------------

    def path(self, start: int, end: int) -> Tuple[Any, Any]:
        """Find a shortest path between two rows of a graph.

        Returns
        -------
        rows : int64 array, from start to end
        lengths : float64 array, of the path up to each of them

        Raises
        ------
        DataError
            There is no path.
        """
        options = {"from": start, "to": end}
        with Options(self.store._context, _lib.PATH, options) as pointer:
            report = self._report(lib.ny_path, pointer)
        return np.array(report["rows"]), np.array(report["lengths"], float)

    def graph_matrix(self, both: Optional[bool] = None) -> Any:
        """Return the graph as a sparse matrix of lengths.

        Parameters
        ----------
        both : bool, optional
            False: the lists of neighbours. A row's first entry is its own, of length 0, then come
            its neighbours, nearest first, as scanpy and precomputed_knn of umap take them; those
            that mutual= leaves out are among them, and bridges of connect= are not. True: all
            edges of the graph, in both directions, columns ascending. None: False, and True of a
            graph whose edges came from elsewhere.

        Returns
        -------
        scipy.sparse.csr_matrix of shape (rows, rows), float32

        Raises
        ------
        UsageError
            The result has no graph of its own, or both is False and no lists of neighbours.
        """
        from scipy.sparse import load_npz

        facts = self.report.get("graph") or self.report
        if facts.get("edge_values") if both is None else both:
            with tempfile.TemporaryDirectory() as folder:
                self.export("graph", f"{folder}/graph.npz")
                return load_npz(f"{folder}/graph.npz")
        neighbors, lengths = self.neighbors[:].view(np.int64), self.distances[:]
        n = len(neighbors)
        columns = np.column_stack([np.arange(n), neighbors])
        values = np.column_stack([np.zeros(n, np.float32), lengths])
        return matrix_of_lists(columns, values, n)

    def kneighbors(self, X: Any, n_neighbors: Optional[int] = None,
                   recall: Optional[float] = None) -> Tuple[Any, Any]:
        """Find the nearest rows of a graph of each new row, by the metric of the graph.

        Parameters
        ----------
        X : rows of any kind that Store.append takes, of shape (rows, columns)
            A row that is one of the graph finds itself, at distance 0, where all are found.
        n_neighbors : int, optional
            None: as many as the graph has.
        recall : float, optional
            The share of the true neighbours to find, up to 1, which is all of them. Less takes less
            time for dense rows of more than a few columns, and is measured on some of the new rows.
            None: 1, or the recall that was asked of the graph.

        Returns
        -------
        distances : float64 array of shape (rows, n_neighbors), rising in a row
        indices : int64 array of shape (rows, n_neighbors), row numbers of the store

        Raises
        ------
        UsageError
            The result has no graph of its own, or one of fewer rows than n_neighbors; or recall is
            not above 0 and up to 1.
        """
        graph = self.report.get("graph") or self.report
        count = (graph.get("neighbors") or 1) if n_neighbors is None else max(0, int(n_neighbors))
        distances, indices = [np.empty((0, count))], [np.empty((0, count), np.int64)]
        for batch in self._batches(X):
            distances.append(np.empty((batch.rows, count)))
            indices.append(np.empty((batch.rows, count), np.int64))
            if batch.rows:
                table = batch.table("X")
                room = _lib.CNeighborsRoom(
                    count, indices[-1].ctypes.data, distances[-1].ctypes.data,
                    0.0 if recall is None else recall or -1.0)
                self._run(lib.ny_neighbors_of, C.byref(table), C.byref(room))
        return np.concatenate(distances), np.concatenate(indices)
