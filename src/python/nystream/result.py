"""Results of a store: their parts, new rows placed by them, files and pictures, their graphs."""
from __future__ import annotations

import base64
import ctypes as C
import html
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterator, Optional, Tuple

import numpy as np

from nystream import _data, _lib
from nystream._batch import Batch, matrix_of_lists
from nystream._errors import renamed
from nystream._lib import lib
from nystream._options import options_for
from nystream._sources import PathLike
from nystream._view import Part, View, check_prepared_once
from nystream.report import (COMPONENT_ERRORS, TRACE_ERROR, Page, Picture, Report, show_result,
                             values_prepared)

if TYPE_CHECKING:
    from nystream.model import Model
    from nystream.store import Store


def spell_name(name: str) -> bytes:
    """Return the name of a result as the library has it; TypeError where it is something else."""
    if not isinstance(name, str):
        raise TypeError(f"a result is chosen by a name, not by {type(name).__name__}")
    return name.encode()


def _part(name: str, text: str) -> Any:
    """Return the property of a result that has a part, which is read when it is indexed."""
    return property(lambda result: result.part(name), doc=text)


def _array(name: str, text: str) -> Any:
    """Return the property of a result that has a part as an array."""
    return property(lambda result: result.part(name)[:], doc=text)


class Result:
    """A finished or unfinished result of a store: an embedding, landmarks, or a graph.

    Its parts are read when they are indexed: `result.embedding[:10]`. They are of the fit that
    `report` tells of: UsageError where that was made anew elsewhere since.
    """

    def __init__(self, store: "Store", name: str) -> None:
        self.store, self.name = store, name
        self.report = self._read_report()
        self._view = View(store._path, name, store._context if store._is_held else None)
        store._seen.add(self)

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.store._seen.add(self)

    def _read_report(self) -> Report:
        return self.store._report(lib.ny_result_report, spell_name(self.name))

    def _look_again(self) -> "Result":
        """See the result as it is now; parts that were taken from it do, too."""
        self._view.close()
        self.report = self._read_report()
        return self

    @property
    def status(self) -> str:
        """ "done", "running", "interrupted" or, where it ended with its sums, "summed"."""
        return str(self.report["status"])

    def part(self, name: str) -> Part:
        """Return a part by its name: those that `nystream export --part` writes, but the model."""
        self.report = self._view.look(self.report)
        return Part(self._view, name)

    embedding: Part = _part("embedding", "Coordinates, (rows, components).")
    eigenvectors: Part = _part("eigenvectors", "Eigenvectors, (rows, pairs).")
    eigenvalues: Any = _array("eigenvalues", """\
        Eigenvalues, an array (components,).

        There is one more of map="laplacian" and "diffusion": the first is that of the constant
        eigenvector, which is no column of the embedding.
        """)
    landmarks: Any = _array("landmarks", """\
        Row numbers of the landmarks, in order of selection, an array (landmarks,).

        UsageError where points were given, which are no rows: see landmark_points.
        """)
    landmark_points: Any = _array("landmark-points", """\
        The landmarks themselves, an array (landmarks, columns), float32 or float64.
        """)
    axes: Any = _array("axes", """\
        Axes of the map, an array (columns, components): what a column adds to a coordinate.

        A pca, and a svd or kpca of the linear kernel, has axes: with x a row after `scale` and, for
        pca, without the mean, its coordinates are x @ axes, up to a constant row.
        """)
    mean: Any = _array("mean", """\
        Numbers that a map with axes subtracts before `scale`, an array (columns,).

        They are the means of the columns for a pca, and 0 for others without a `scale` that
        centres.
        """)
    features: Any = _array("features", """\
        Numbers of the columns that features= has chosen, ascending, an array (columns kept,).

        UsageError where all columns count.
        """)
    residuals: Part = _part("residuals", """\
        Residuals: the part of each row that the landmarks leave out, (rows,).

        They are NaN for rows that update("frozen") has placed, which measures a sample of these
        alone: `report.drift_trace_error`. update("full") measures all rows.
        """)
    rows: Part = _part("rows", "Numbers of the rows that the embedding has.")
    neighbors: Part = _part(
        "neighbors", "Row numbers of the nearest neighbours of a graph, (rows, neighbors).")
    distances: Part = _part("distances", "Distances to them, (rows, neighbors).")
    clusters: Part = _part("clusters", """\
        Clusters that evaluate(clusters=K) has found, from 0, int64, (rows,).

        -1 is a row without a cluster: one without a place, which no landmark reaches.
        """)
    labels: Part = _part(
        "labels", "Labels of the rows of the embedding, float64, NaN where missing.")
    row_names: Part = _part("ids", "Names of the rows of the embedding, str.")

    component_errors: Any = COMPONENT_ERRORS
    trace_error: Optional[float] = TRACE_ERROR

    def model(self) -> "Model":
        """Return what places new rows without the store."""
        from nystream.model import Model

        context = self.store._context if self.store._is_held else self.store._context.like()
        return Model(context, lib.ny_model_open, self.store._path, self.name.encode())

    def update(self, mode: str = "full", **options: Any) -> "Result":
        """Take in the rows that were appended since.

        Parameters
        ----------
        mode : {"full", "frozen"}
            full: like a fit of all rows; frozen: the existing model places the new rows, and old
            rows keep their clusters.

        Returns
        -------
        Result
            This one, which has the new rows from then on.
        """
        with renamed({"update": "mode"}):
            self.store.fit(self.name, **{"update": mode, **options})
        return self

    def resume(self) -> "Result":
        """Go on with what was stopped, with the options that it was begun with; return this."""
        self._report(lib.ny_resume)
        return self._look_again()

    def evaluate(self, **options: Any) -> Report:
        """Judge the embedding, with or without labels.

        Parameters
        ----------
        **options
            clusters=K, clusters_to=K, measures=, … as `nystream help eval` has them.

        Returns
        -------
        Report
            Every figure, None where it does not apply, and reasons why: with clusters=K silhouette,
            silhouette_standard_error, variance_between, inertia and cluster_sizes, and with labels
            purity, accuracy, nmi, ari. The clusters are kept (see clusters), and their figures in
            `report["clustering"]`; all others are kept nowhere.
        """
        with options_for(self.store._context, _lib.EVALUATE, options) as pointer:
            report = self._report(lib.ny_evaluate, pointer)
        self._look_again()
        return report

    def transform(self, X: Any, nan: str = "error") -> Any:
        """Place new rows as Model.transform does, also where there is no model (maps of a graph).

        Returns
        -------
        array of shape (rows, components), of the type of the embedding
        """
        embedding = self._look_again().embedding
        found = self._batches(X)
        with self.store._context.once():
            return _data.place(found, embedding.shape[1], embedding.dtype, self._place, nan)

    def _batches(self, X: Any) -> Iterator[Batch]:
        """Read new rows."""
        check_prepared_once(X, values_prepared(self.store.report))
        return self.store._columns().batches(X)

    def _place(self, table: _lib.CTable, places: Any) -> None:
        room = _lib.CPlacesRoom(_lib.NUMBERS[places.dtype.name], places.ctypes.data,
                                places.shape[1])
        self._run(lib.ny_place_rows, C.byref(table), C.byref(room))

    def predict(self, X: Any) -> Any:
        """Find the clusters of new rows, of those that evaluate(clusters=K) has found.

        A row, of any kind that Store.append takes, is of the cluster whose centre, the mean of its
        rows, its place is nearest to. Returns an int64 array of shape (rows,).
        """
        rows = self._batches(X)
        with self.store._context.once():
            return _data.place(rows, 1, np.int64, lambda table, found: self._run(
                lib.ny_clusters_of, C.byref(table), found.ctypes.data))[:, 0]

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
        with options_for(self.store._context, _lib.READ, options) as pointer:
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
                options_for(self.store._context, _lib.PLOT, options) as pointer:
            file = Path(folder, "picture.png") if output is None else Path(output)
            self._run(lib.ny_plot, os.fsencode(file), pointer)
            return Picture(file.read_bytes(), file.suffix, None if output is None else file)

    def html(self, output: Optional[PathLike] = None, **options: Any) -> Page:
        """Write the page of the result, which needs no network; a notebook shows it."""
        names = (C.c_char_p * 1)(self.name.encode())
        context = self.store._context
        with tempfile.TemporaryDirectory() as folder, \
                options_for(context, _lib.REPORT, options) as pointer:
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
        with options_for(self.store._context, _lib.PATH, options) as pointer:
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
