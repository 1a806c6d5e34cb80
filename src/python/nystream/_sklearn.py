"""Checks of columns as scikit-learn makes them, of any version and of rows that are no frame."""
from __future__ import annotations

from typing import Any, List, Optional

import numpy as np
from sklearn.utils import validation

from nystream._columns import listed


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
