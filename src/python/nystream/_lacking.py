"""Answers to parameters that an estimator does not have, such as those of scikit-learn's class."""
from __future__ import annotations

import inspect
import textwrap
from typing import Any, Dict, Optional, Sequence, Tuple

from nystream._errors import nearest

WIDTH = 79  # columns of a line of the message

_INVERSE = ("PCA and TruncatedSVD have inverse_transform(); for other maps and kernels, a "
            "regression from coordinates to rows will do")
# A parameter that is not here has advice, for the estimators that have the parameter in front of
# the advice, or for all ("").
_INSTEAD: Dict[str, Tuple[str, str]] = {
    # other spellings of the width of the Gaussian kernel
    "sigma": ("gamma", "give gamma=1/(2 sigma²), for exp(-gamma |x-y|²)"),
    "epsilon": ("gamma", "give gamma=1/epsilon, for exp(-gamma |x-y|²)"),
    "length_scale": ("gamma", "give gamma=1/(2 length_scale²), for exp(-gamma |x-y|²)"),
    # parameters of scikit-learn's classes
    "affinity": ("kernel", "give kernel="),
    "kernel": ("affinity", "give affinity="),
    "kernel_params": ("coef0", "give gamma=, degree= and coef0="),
    "eigen_solver": ("approx", "give approx=, such as 'exact' or 'randomized'"),
    "svd_solver": ("", "the shape of X decides on the solver"),
    "n_iter": ("tol", "give tol=, the error at which its passes end"),
    "algorithm": ("tol", "its passes end at the error tol="),
    "p": ("metric", "metric='euclidean' is p=2; there is no other p"),
    "assign_labels": ("n_clusters", "labels are those of k-means"),
    "n_components": ("n_clusters", "the rows are embedded by n_clusters - 1 components"),
    "n_landmarks": ("landmarks", "n_components= is their number"),
    "copy": ("", "X is never changed"),
    "copy_X": ("", "X is never changed"),
    "scale": ("", "put sklearn.preprocessing.StandardScaler in front of it"),
    "whiten": ("", "put sklearn.preprocessing.StandardScaler behind it"),
    "fit_inverse_transform": ("", _INVERSE),
    "alpha": ("approx", _INVERSE),
}


def _advice(name: str, known: Sequence[str], synonyms: Dict[str, str]) -> Optional[str]:
    """Return what to give or to do instead of a parameter; None where nothing stands for it."""
    needs, advice = _INSTEAD.get(name, ("", ""))
    if advice and (not needs or needs in known):
        return advice
    meant = synonyms.get(name)
    meant = meant if meant in known else nearest(name, known)
    return meant and f"did you mean {meant}=?"


def no_parameter(estimator: Any, name: str, synonyms: Dict[str, str]) -> TypeError:
    """Make the error for a parameter that a class of estimators does not have.

    It says what stands for the parameter, and lists those of the class where nothing does.
    """
    known = [one for one in inspect.signature(estimator.__init__).parameters if one != "self"]
    begin = f"{estimator.__name__} has no {name}="
    advice = _advice(name, known, synonyms)
    if advice:
        return TypeError(f"{begin}; {advice}")
    listed = f"its parameters are {', '.join(known[:-1])} and {known[-1]}"
    return TypeError(textwrap.fill(f"{begin}; {listed}", WIDTH))
