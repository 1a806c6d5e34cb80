"""How far off a result is."""
from __future__ import annotations

from typing import Any, Optional

from nystream.report import Report, component_errors


class ErrorParts:
    """The errors that a result or a model tells."""

    report: Report

    @property
    def component_errors(self) -> Any:
        """Error ‖Au − λu‖/λ of each eigenpair, an array (pairs,), A being of all rows.

        It is about the angle, in radians, to the eigenvectors that belong to eigenvalues near λ.
        A fit with landmarks estimates it, with the standard error `report.component_errors_se`.
        NaN, or None for all of them: not known.
        """
        return component_errors(self.report)

    @property
    def trace_error(self) -> Optional[float]:
        """Share of the trace of K that the approximation leaves out; None where not known."""
        error: Optional[float] = self.report["trace_error"]
        return error
