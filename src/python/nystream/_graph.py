"""The graph of a result: paths in it, neighbours of new rows, and sparse matrices of it."""
from __future__ import annotations

import ctypes as C
import tempfile
from typing import TYPE_CHECKING, Any, Callable, Iterator, Optional, Tuple

import numpy as np

from nystream import _lib
from nystream._batch import Batch, matrix_of_lists
from nystream._files import FileParts
from nystream._lib import lib
from nystream._options import Options

if TYPE_CHECKING:
    from nystream.report import Report
    from nystream.store import Store


class GraphParts(FileParts):
    """The methods that a result has for its graph; store.Result is one."""

    store: "Store"
    name: str
    report: "Report"
    neighbors: Any
    distances: Any
    _batches: Callable[[Any], Iterator[Batch]]

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
            report = self.store._report(lib.ny_path, self.name.encode(), pointer)
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
                self._find(batch.table("X"), distances[-1], indices[-1], recall)
        return np.concatenate(distances), np.concatenate(indices)

    def _find(self, table: _lib.CTable, distances: Any, indices: Any,
              recall: Optional[float]) -> None:
        context = self.store._context
        room = _lib.CNeighborsRoom(distances.shape[1], indices.ctypes.data, distances.ctypes.data,
                                   0.0 if recall is None else recall or -1.0)
        context.run(lib.ny_neighbors_of, context.pointer, self.store._path, self.name.encode(),
                    C.byref(table), C.byref(room))
