"""Models: the numbers that place new rows, without the data that they were fitted on."""
from __future__ import annotations

import ctypes as C
import os
from typing import Any, Dict, List, Optional

import numpy as np

from nystream import _data
from nystream._columns import Columns
from nystream._context import Context, column_names, free_with
from nystream._lib import NUMBERS, CTable, lib
from nystream._sources import PathLike
from nystream._view import check_prepared_once
from nystream.report import COMPONENT_ERRORS, TRACE_ERROR, Report, values_prepared


class Model:
    """A fitted map of d columns to p components: about m · (d + p) numbers of m landmarks.

    Made by `Result.model()`, `Sums.solve()`, `Model.load(file)` and `Model.from_bytes(image)`. It
    is pickled as its bytes, never with the data.

    Attributes
    ----------
    solution : Report or None
        Report of the fit, where `Sums.solve()` has made the model; a file does not keep it, but
        `report` has its eigenvalues and their errors.
    column_names : list of str, or None
        Names of the columns that it places, where `Result.model()` or `Sums.solve()` has made the
        model and the rows have some. A pickle keeps them; a .nym file, and bytes, do not.
    """

    solution: Optional[Report] = None
    column_names: Optional[List[str]] = None
    _sparse = False  # these are names of sparse rows, which may lack some

    def __init__(self, context: Context, function: Any, *arguments: Any) -> None:
        """Keep the model that a function of the library makes."""
        self._context, pointer = context, C.c_void_p()
        context.run(function, C.byref(pointer), context.pointer, *arguments)
        context.holds, self._pointer = True, pointer
        self._release = free_with(self, lib.ny_model_free, pointer, context)
        self.column_names = column_names(context, lib.ny_model_column_names, pointer)
        self._sparse = self.report["format"] == "sparse"

    @classmethod
    def load(cls, file: PathLike) -> "Model":
        """Read a .nym file, which save() or `nystream export --part model` wrote."""
        return cls(Context(), lib.ny_model_load_file, os.fsencode(file))

    @classmethod
    def from_bytes(cls, image: bytes) -> "Model":
        """Make a model of the bytes that to_bytes() gave."""
        return cls(Context(), lib.ny_model_load, image, len(image))

    def to_bytes(self) -> bytes:
        """Return the model as bytes, the contents of a .nym file."""
        return self._context.image(lib.ny_model_image, self._pointer)

    def save(self, file: PathLike) -> None:
        """Write a .nym file; one of that name is replaced when all of it is on the disk."""
        is_pipe = os.path.exists(file) and not os.path.isfile(file)
        target = file if is_pipe else os.path.realpath(file)  # so that a link stays one
        self._context.run(lib.ny_model_save_file, self._pointer, os.fsencode(target))

    def __getstate__(self) -> Dict[str, Any]:
        return {"image": self.to_bytes(), "context": self._context, "solution": self.solution,
                "column_names": self.column_names}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        image, context = state["image"], state.get("context") or Context()
        self.__init__(context, lib.ny_model_load, image, len(image))  # type: ignore[misc]
        self.solution = state.get("solution")
        self.column_names = state.get("column_names") or self.column_names

    @property
    def report(self) -> Report:
        """Kernel and its parameters, landmarks, d, components, precision, dtype, preparation.

        Also map, eigenvalues, component_errors and component_errors_se (to six decimals),
        trace_error, and certificate; all but the map are None or empty where the fit had no
        errors, and in files of before 1.2.0.
        """
        return Report(self._context.report(lib.ny_model_report, self._pointer, long=False))

    component_errors: Any = COMPONENT_ERRORS
    trace_error: Optional[float] = TRACE_ERROR

    @property
    def dimensions(self) -> int:
        """Columns of the rows that it places."""
        return int(lib.ny_model_dimensions(self._pointer))

    @property
    def components(self) -> int:
        """Columns of the embedding."""
        return int(lib.ny_model_components(self._pointer))

    def __repr__(self) -> str:
        report = self.report
        return (f"<model of {report.landmarks} landmarks, {report.d} columns to "
                f"{report.components} components, {report.bytes} bytes>")

    def transform(self, X: Any, nan: str = "error") -> Any:
        """Place new rows.

        Parameters
        ----------
        X : rows of any kind that Store.append takes, of shape (rows, columns)
            Columns that have names, in a frame or an AnnData, are put in the order of column_names.
            Further ones are left out. A missing one is 0 in sparse rows of a model of such, and a
            DataError in others.
        nan : {"error", "keep"}
            keep: a row with NaN or infinity gets NaN for a place; error: a DataError names it.

        Returns
        -------
        array of shape (rows, components)
            float64 where the model was fitted with precision="f64", else float32. Where more than
            16 rows come and the landmarks leave out more than half of their trace, a
            NystreamWarning says so: they may be on another scale.
        """
        report = self.report
        check_prepared_once(X, values_prepared(report))
        double = report["precision"] == "f64"
        found = Columns(self.column_names, "the model", self._sparse).batches(X)
        with self._context.once():
            return _data.place(found, self.components, np.float64 if double else np.float32,
                               self._place, nan)

    def _place(self, table: CTable, places: Any) -> None:
        self._context.run(lib.ny_model_place, self._pointer, C.byref(table),
                          NUMBERS[places.dtype.name], places.ctypes.data, 0)
