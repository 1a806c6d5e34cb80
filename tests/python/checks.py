"""scikit-learn's checks of estimators, as its versions name and call them."""
import inspect
import os
import warnings

import pytest

estimator_checks = pytest.importorskip("sklearn.utils.estimator_checks")
MORE = [name for name in (
    "check_set_output_transform", "check_set_output_transform_pandas",
    "check_transformer_get_feature_names_out", "check_transformer_get_feature_names_out_pandas",
    "check_dataframe_column_names_consistency") if hasattr(estimator_checks, name)]


def all_checks(estimators, failures=()):
    """Parametrize a test by estimators and checks, some of which are expected to fail."""
    make = estimator_checks.parametrize_with_checks
    if "expected_failed_checks" not in inspect.signature(make).parameters:
        return make(estimators)
    return make(estimators, expected_failed_checks=lambda estimator: dict(failures))


def run(check, *arguments):
    """Run a check, which may warn of what is wrong with its rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        check(*arguments)


def ending(rows, marker):
    """Give rows; where there is no marker yet, its worker ends."""
    if marker is not None and not os.path.exists(marker):
        open(marker, "x").close()
        os._exit(1)
    return rows
