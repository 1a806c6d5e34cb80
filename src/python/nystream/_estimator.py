"""The base of the estimators: parameters, rows of all kinds into a store, a fit, new rows placed.

An estimator fits rows that are in memory, or in temporary files, and keeps the model alone; with
`store=PATH` they are in a store, and the same call goes on where it was stopped. Maps of a graph
have no model: their estimators keep the rows and the graph, and are pickled with them.
"""
from __future__ import annotations

import contextlib
import inspect
import numbers
import operator
import os
from typing import (Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple, Type, TypeVar)

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state, validation
from sklearn.utils.validation import check_array, check_is_fitted

from nystream import _data, _lib
from nystream._arrow import is_arrow
from nystream._columns import columns_of, listed
from nystream._context import Context, warn
from nystream._embed import (GRAPH_MAPS, Held, as_lent, import_files, lies_in_memory,
                             refused_with_least)
from nystream._errors import DataError, renamed, usage_error
from nystream._sources import CsrRows, are_imported, is_dask, opened
from nystream._view import Part, check_prepared_once
from nystream.report import component_errors, values_prepared
from nystream.result import Result
from nystream.store import Store

TYPES = [np.float64, np.float32, np.uint8, np.int16]
FLOATS = [np.float64, np.float32]
WHOLE_METHODS = ("randomized", "gaussian")  # and here by all points
PARAMETERS = {"landmarks": "n_landmarks", "components": "n_components", "select": "selection",
              "neighbors": "n_neighbors", "seed": "random_state", "threads": "n_jobs",
              "clusters": "n_clusters", "time": "t", "landmarks_file": "landmarks",
              "landmarks_points": "landmarks"}
COUNTS = ("n_components", "n_clusters", "n_neighbors", "n_landmarks", "n_init")
POLY = {"polynomial": "poly"}  # names of scikit-learn
CHOSEN = 1000  # landmarks where n_landmarks is None
NEIGHBORS = "nearest_neighbors"
KERNELS = tuple(POLY.get(name, name).replace("-", "_")
                for name in str(_lib.OPTIONS["kernel"].argument).split("|")
                if name != "precomputed")
AFFINITIES = (*KERNELS, NEIGHBORS)
RUN: Dict[str, Any] = {"memory": None, "n_jobs": None, "random_state": None, "tmpdir": None,
                       "verbose": False}
STORED: Dict[str, Any] = {**RUN, "store": None, "name": None}
LANDMARKS: Dict[str, Any] = {"n_landmarks": None, "accuracy": None, "selection": None,
                             "landmarks": None}
Estimator = TypeVar("Estimator")
STORE, MEMORY, NOWHERE = "store", "memory", "nowhere"  # places of an embedding
FILES = ("anndata", "dask", "h5py", "zarr")  # modules whose objects are not in memory
NAN_CURE = ("fill such values, as sklearn.impute does, or leave their rows out: "
            "Store.append(nan='drop') does that, and nan='keep' of nystream.embed() and of "
            "Model.transform() places such rows at NaN")
LARGEST = float(np.finfo(np.float32).max)


def needs_rows(figures: Mapping[str, Any]) -> bool:
    """Return whether a fit with these options, or of this report, places new rows by all rows."""
    return (figures.get("map", GRAPH_MAPS[0]) in GRAPH_MAPS
            or figures.get("approx") in WHOLE_METHODS)


def as_float(name: str, value: Any, wanted: str = "a number") -> float:
    """Return a parameter as a float; UsageError, by its name, where it is no number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise usage_error(f"{name}= is {wanted}, not {value!r}", name) from None


def _default(option: _lib.Option) -> Any:
    """Return the default of a kernel's parameter, None of one that the rows decide."""
    text = str(option.fallback)
    if text == "auto":
        return None
    return int(text) if text.isdigit() else float(text)


# The parameters of all kernels come from the library's table: a later kernel brings its own.
KERNEL: Dict[str, Any] = {
    **{option.name: _default(option) for option in _lib.OPTIONS.values()
       if option.kernels and option.fallback}, "kernel_params": None}


def takes(first: Optional[str] = None,
          **defaults: Any) -> Callable[[Type[Estimator]], Type[Estimator]]:
    """Give a class an __init__ that keeps these parameters; `first` may come without its name."""
    Parameter = inspect.Parameter
    signature = inspect.Signature([Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)] + [
        Parameter(name, Parameter.POSITIONAL_OR_KEYWORD if name == first
                  else Parameter.KEYWORD_ONLY, default=default)
        for name, default in defaults.items()])

    def __init__(self: Any, *given: Any, **named: Any) -> None:
        bound = signature.bind(self, *given, **named)
        bound.apply_defaults()
        for name in defaults:
            setattr(self, name, bound.arguments[name])

    def decorate(cls: Type[Estimator]) -> Type[Estimator]:
        setattr(__init__, "__signature__", signature)
        setattr(cls, "__init__", __init__)
        return cls

    return decorate


def kernel_options(estimator: Any, kernel: str) -> Dict[str, Any]:
    """Return the options of a kernel, by parameters of the estimator and its kernel_params."""
    if kernel not in (*KERNELS, "polynomial"):
        raise usage_error(f"kernel= is one of {'|'.join(KERNELS)}, not {kernel!r}"
                          + (": the rows themselves are needed" if kernel == "precomputed" else ""),
                          "kernel")
    name = "polynomial" if kernel == "poly" else kernel.replace("_", "-")
    options: Dict[str, Any] = {"kernel": name}
    for option in _lib.OPTIONS.values():
        if name in option.kernels and hasattr(estimator, option.name):
            options[option.name] = getattr(estimator, option.name)
    options.update(getattr(estimator, "kernel_params", None) or {})
    gamma = options.get("gamma", estimator.gamma)
    wanted = "a number, or None or 'auto' (the data choose)"
    if isinstance(gamma, str) and gamma != "auto":
        raise usage_error(f"gamma= is {wanted}, not {gamma!r}", "gamma")
    if "gamma" in options and (gamma is None or isinstance(gamma, str)):
        del options["gamma"]
    return {key: value if isinstance(value, (str, numbers.Integral))
            else as_float(key, value, wanted if key == "gamma" else "a number")
            for key, value in options.items()}


def has_width(kernel: str) -> bool:
    """Return whether a kernel, as the library calls it, has a gamma."""
    return kernel in _lib.OPTIONS["gamma"].kernels


def most_landmarks(estimator: Any, n: int) -> int:
    """Return n_landmarks of an estimator of n rows, of which there are no more."""
    wanted = estimator.n_landmarks
    return min(CHOSEN if wanted is None else int(wanted), n)


def has_rows(estimator: Any) -> bool:
    """Return whether the landmarks of an estimator are rows of X, which have numbers."""
    given = estimator.landmarks
    return given is None or (not _data.is_sparse(given) and np.ndim(given) == 1)


def landmark_options(estimator: Any, most: Optional[int]) -> Dict[str, Any]:
    """Return the options of landmarks: those that are given, or at most so many that are chosen."""
    given = estimator.landmarks
    accuracy = getattr(estimator, "accuracy", None)
    if given is not None and accuracy is not None:
        raise usage_error("accuracy= finds the number of landmarks; leave landmarks= out",
                          "accuracy")
    if given is None:
        if accuracy is not None and estimator.n_landmarks is None:
            most = None
        return {"accuracy": accuracy, "landmarks": most, "select": estimator.selection}
    return {"landmarks_file" if has_rows(estimator) else "landmarks_points": given}


def refuse_landmarks(estimator: Any, choice: str) -> None:
    """UsageError, in the library's words, where landmarks are given and this choice has none."""
    if estimator.landmarks is not None:
        raise usage_error(f"landmarks_points= does not act with {choice}, which takes all rows; "
                          "leave it out", "landmarks_points")


def affinity_options(estimator: Any, n: int) -> Dict[str, Any]:
    """Return the options of the affinity of a Laplacian."""
    if estimator.affinity not in (*AFFINITIES, "polynomial"):
        raise ValueError(f"affinity= is one of {'|'.join(AFFINITIES)}, not {estimator.affinity!r}; "
                         "an affinity of your own is Store.graph(edges=…)")
    if estimator.affinity == NEIGHBORS:
        refuse_landmarks(estimator, f"affinity={NEIGHBORS!r}")
        return {"map": "eigenmaps", "connect": True, "edge_weights": "binary",
                "neighbors": min(estimator.n_neighbors, n - 1)}
    return {"map": "laplacian", **landmark_options(estimator, most_landmarks(estimator, n)),
            **kernel_options(estimator, estimator.affinity)}


# ---- rows, and a fit of them ------------------------------------------------------------------


def count_threads(n_jobs: Optional[int]) -> Optional[int]:
    """Return the threads that scikit-learn's n_jobs means; None: the library's default."""
    if n_jobs is None:
        return None
    if not isinstance(n_jobs, numbers.Real):
        raise usage_error(f"n_jobs={n_jobs!r} is not a whole number", "n_jobs")
    if n_jobs == 0:
        raise usage_error("n_jobs=0 is not a number of threads; give 1 or more, or -1 for one per "
                          "CPU", "n_jobs")
    cpus = len(os.sched_getaffinity(0))
    return max(1, n_jobs if n_jobs > 0 else cpus + 1 + n_jobs)


def is_streamed(X: Any) -> bool:
    """Return whether X is read in slices and not checked by scikit-learn: files and the like."""
    if isinstance(X, np.memmap) or type(X).__module__.split(".")[0] in FILES:
        return True
    return (hasattr(X, "shape") and hasattr(X, "__getitem__") and not hasattr(X, "__array__")
            and not _data.is_sparse(X))


def _names_beside(X: Any) -> Optional[List[str]]:
    """Return names of the columns of X where scikit-learn does not look for them."""
    if isinstance(X, Store):
        return X._columns().names
    if hasattr(X, "var_names") or is_dask(X):
        return _data.column_names(X)
    return columns_of(X, "").names if is_arrow(X) and not hasattr(X, "iloc") else None


def check_columns(estimator: Any, X: Any, names: Optional[List[str]], reset: bool) -> None:
    """Compare the names and the number of the columns of X with those of the fit, or keep them.

    scikit-learn finds the names in frames; `names` are those of other rows, or None.
    """
    known = getattr(estimator, "feature_names_in_", None)
    if names is not None and known is not None and not reset:
        if names != list(known):
            others = sorted({*names} ^ {*known})
            raise ValueError("The feature names of X should be those of the fit, in the same order"
                             + (f"; only one of both has {listed(others)}" if others else ""))
        return
    if hasattr(validation, "validate_data"):
        validation.validate_data(estimator, X, reset=reset, skip_check_array=True)
    else:  # before 1.6
        estimator._check_feature_names(X, reset=reset)
        estimator._check_n_features(X, reset=reset)
    if reset and names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)


def require_equal(store: Store, X: Any) -> None:
    """ValueError where the rows of a store are not those of X."""
    first = 0
    for batch in _data.batches(X)[1]:
        for rows in batch.pieces():
            rows = rows.toarray() if _data.is_sparse(rows) else rows
            there = store[first:first + len(rows)] if store.shape[1] == batch.columns else None
            if there is None or there.dtype != rows.dtype or not np.array_equal(there, rows):
                raise ValueError(f"{store.path} holds other rows than X; give another store=, or "
                                 "remove it")
            first += len(rows)
    if first != len(store):
        raise ValueError(f"{store.path} holds {len(store)} rows, but X has {first}; give another "
                         "store=, or remove it")


class SparseRows(CsrRows):
    """Rows of a sparse store."""

    _imported: Any = None  # the store of one call that has them

    def __init__(self, store: Store, entries: int) -> None:
        self._store, self.nnz = store, entries
        self.shape, self.dtype = store.shape, store.dtype

    def __getitem__(self, rows: slice) -> Any:
        return self._store._read_csr(rows, self.nnz)


class RowsEstimator(BaseEstimator):  # type: ignore[misc]
    """Base of the estimators: rows that are checked, budget and threads, the seed."""

    memory: Any = None
    n_jobs: Optional[int] = None
    random_state: Any = None
    tmpdir: Any = None
    verbose: Any = False
    _least_rows = 2
    _prepared: Optional[str] = None  # how the store of the fit prepares values
    _may_be_none: Tuple[str, ...] = ("n_landmarks",)
    _parameters = PARAMETERS
    _returned = ["float64", "float32"]  # types of rows that coordinates have, too

    def _more_tags(self) -> Dict[str, Any]:  # scikit-learn asks for it before 1.6
        return {"preserves_dtype": self._returned}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        if tags.transformer_tags is not None:
            tags.transformer_tags.preserves_dtype = self._returned
        return tags

    def _check_rows(self, X: Any, reset: bool) -> Any:
        """Check X as scikit-learn does; what is streamed only by its names and its shape.

        A fit resets what is known of X, and checks the parameters first. Rows of files that the
        library alone reads are kept as long as they are needed.
        """
        if reset:
            self._check_counts()
        imported: Optional[Held] = None
        if are_imported(X):
            X = imported = import_files(X, self._context(), self.tmpdir)
        given = X = opened(X)
        if not reset:
            check_prepared_once(X, self._prepared)
        if isinstance(X, Store):
            entries = X.report["nnz"]
            X = X.points if entries is None else SparseRows(X, entries)
        X = _data.unwrap(X)
        X = X if hasattr(X, "shape") else np.asarray(X)
        streamed = isinstance(X, Part) or is_streamed(X)
        if streamed:
            _data.check_shape(tuple(X.shape))
        if len(X.shape) == 2:
            check_columns(self, X, _names_beside(given), reset)
        if not streamed:
            X = self._check_values(X, reset)
        if imported is not None:
            X._imported = imported
        return X

    def _check_counts(self) -> None:
        """UsageError for a number of things that is none, by the name of the parameter."""
        for name in set(COUNTS) & self.get_params(deep=False).keys():
            value = getattr(self, name)
            if value is None and name in self._may_be_none:
                continue
            try:
                count = operator.index(value)
            except TypeError:
                raise usage_error(f"{name}={value!r} is not a whole number", name) from None
            if count < 1:
                raise usage_error(f"{name}={value} must be at least 1", name)

    def _check_values(self, X: Any, reset: bool) -> Any:
        """Return rows in memory as an array or a matrix whose values can be fitted."""
        _data.check_values(X)
        try:
            X = check_array(X, accept_sparse="csr", dtype=TYPES if reset else FLOATS,
                            estimator=self, input_name="X",
                            ensure_min_samples=self._least_rows if reset else 1)
        except ValueError as error:
            if str(error).startswith("Input X contains NaN"):
                raise ValueError(f"Input X contains NaN; {NAN_CURE}") from None
            raise
        if X.dtype == np.float64 and X.size and max(X.max(), -X.min()) > LARGEST:
            raise ValueError("Input X contains infinity or a value too large for "
                             "dtype('float32').")
        return X

    def _context(self) -> Context:
        return Context(self.memory, count_threads(self.n_jobs), self.verbose or None)

    def _seed(self) -> int:
        state = self.random_state
        if isinstance(state, numbers.Integral):
            return int(state)
        return int(check_random_state(state).randint(2 ** 31 - 1))


class StoreEstimator(RowsEstimator):
    """Base of those that fit a store: `_fit` fits the options that `_options` gives."""

    store: Any = None
    name: Optional[str] = None
    _reads_rows = False  # attributes are made of the embedding
    _rows: Any = None
    _options: Callable[[int, int], Dict[str, Any]]  # takes numbers of rows, columns

    # ---- the fit -------------------------------------------------------------------------------

    def _fit(self, X: Any, rows_to: str = STORE) -> Result:
        """Fit X, keep the figures and what places new rows, and return the result.

        The embedding of rows that no store keeps may come as `_rows`, where it goes to MEMORY.
        """
        rows = self._check_rows(X, reset=True)
        self.seed_ = self._seed()
        self._held: Optional[Held] = None
        self._rows = None
        with renamed(self._parameters):
            store = self._store_of(X, rows)
            if self.random_state is None and self._held is None:
                self.seed_ = self._seed_of(store)
            n, d = store.shape
            if n < 2:
                raise DataError("X has one row: nothing to fit; at least two rows are needed")
            options = self._options(n, d)
            result = self._make(store, options, rows_to)
        self._prepared = values_prepared(store.report) if self._held is None else None
        self._keep(result)
        self._warn_of_graph(options)
        return result

    def _warn_of_graph(self, options: Dict[str, Any]) -> None:
        """Warn of more neighbours than a row has, and of distances between joined components."""
        least = options.get("neighbors")
        wanted = getattr(self, "n_neighbors", least)
        if least is not None and least < wanted:
            warn(f"n_neighbors={wanted} is more than the {least} other rows there are, and is "
                 "lowered to that")
        graph = self.report_["graph"] if options.get("connect") else {}
        if graph.get("bridges"):
            warn(f"the graph of neighbours has {graph['bridges'] + 1} components, which are joined "
                 f"by bridges, the longest of length {graph['bridge_longest']:.3g}; raise "
                 "n_neighbors= if they belong together, or fit each of them by itself")

    def _make(self, store: Store, options: Dict[str, Any], rows_to: str) -> Result:
        """Return the result of the rows in the store that these options ask for."""
        precision = "f64" if store.dtype == np.float64 else "f32"
        options = {"seed": self.seed_, "precision": precision, **options}
        if rows_to == STORE or not self._held or self._reads_rows or needs_rows(options):
            return store.fit(self._name(), **options)
        result, self._rows = store._fit_into(self._name(), rows_to == MEMORY, **options)
        return result

    def _name(self) -> str:
        """Return the name of the result in the store."""
        if not isinstance(self.name or "", str):
            raise usage_error(f"name={self.name!r} is not a str, as names of results are", "name")
        return self.name or type(self).__name__

    def _seed_of(self, store: Store) -> int:
        """Return the seed of the result that is there, finished or not: the fit goes on with it."""
        if self._name() not in store.results:
            return int(self.seed_)
        options = store.result(self._name()).report.get("options") or {}
        return int(options.get("seed", self.seed_))

    def _store_of(self, X: Any, rows: Any) -> Store:
        """Return the store that X is, that is named, or one of this call, with the rows in it."""
        if isinstance(X, Store):  # whose own budget, threads and progress hold unless given here
            given, threads = X._context, count_threads(self.n_jobs)
            if self.memory is None and threads is None and not self.verbose:
                return X
            return Store._of(X.path, Context(
                given.memory if self.memory is None else self.memory,
                given.threads if threads is None else threads, self.verbose or given.progress))
        imported: Optional[Held] = getattr(rows, "_imported", None)
        if imported is not None and self.store is None:
            self._held = imported
            return imported
        context = self._context()
        options: Optional[Dict[str, Any]] = None
        if self.store is None:
            if isinstance(rows.shape[0], numbers.Integral):  # Dask does not always know it
                options = self._options(*rows.shape)
            in_place = lies_in_memory(rows) and options is not None and not needs_rows(options)
            rows = as_lent(rows) if in_place else rows
            self._held = Held(context, self.tmpdir, in_place)
            store: Store = self._held
        else:
            store = Store._of(self.store, context)
            if store._has_rows():
                require_equal(store, rows)
                return store
        if options is not None:
            is_f64 = getattr(rows, "dtype", None) == np.float64
            options = {"precision": "f64" if is_f64 else "f32", **options}
        with refused_with_least(rows, context, options):
            names = getattr(self, "feature_names_in_", None)
            known = names is None or _data.column_names(rows) is not None
            store.append(rows, **({} if known else {"column_names": names}))
        return store

    def _keep(self, result: Result) -> None:
        """Keep what the attributes and transform() need of the result."""
        self.report_ = result.report
        self._n_features_out = int(self.report_["components"])
        self.eigenvalues_ = result.eigenvalues
        self.component_errors_ = component_errors(self.report_)
        self.gamma_, self.trace_error_ = map(self.report_.get, ("gamma", "trace_error"))
        if not needs_rows(self.report_):
            self._placer: Any = result.model()
        else:
            self._placer = result

    @contextlib.contextmanager
    def _fitting(self) -> Iterator[None]:
        """Let go of rows that no store has at the end of a fit, unless they place new ones."""
        is_kept = False
        try:
            yield
            is_kept = isinstance(self._placer, Result)
        finally:
            held = self.__dict__.pop("_held", None)
            if held is not None and not is_kept:
                held.forget()

    def fit(self, X: Any, y: Any = None) -> Any:
        """Fit rows: an array, matrix, dataset, Store or file (.npy, .npz, .h5ad, .csv …)."""
        with self._fitting():
            self._fit(X, NOWHERE)
        return self

    def _embed(self, X: Any) -> Any:
        """Fit, and return the embedding; of a store a part that is read when it is indexed."""
        with self._fitting():
            result = self._fit(X, MEMORY)
            if self._rows is not None:
                embedding, self._rows = self._rows, None
            elif isinstance(X, Store):
                embedding = result.embedding
            else:
                embedding = result.embedding[:]
        return embedding

    def _place(self, X: Any) -> Any:
        check_is_fitted(self, "report_")
        return self._placer.transform(self._check_rows(X, reset=False))
