"""Slips of those who are new to nystream, or come from scikit-learn: what is said of each."""
import warnings

import numpy as np
import pytest
import scipy.sparse

import nystream

pytestmark = pytest.mark.quick

AGAIN = "these rows are the same as rows"


def said_of(call):
    """Return the warnings of a call, as texts."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(one.message) for one in caught]


# ---- rows that are appended twice ---------------------------------------------------------------


@pytest.mark.parametrize("make", [lambda X, path: X, lambda X, path: scipy.sparse.csr_matrix(X),
                                  lambda X, path: iter([X[:900], X[900:]]), lambda X, path: path],
                         ids=["array", "sparse", "pieces", "file"])
def test_same_rows_twice(tmp_path, rows, make):
    """An append of the rows that the one before has added warns, and the warning has the cure."""
    X = np.where(rows > 3, rows, 0).astype(np.float32)
    path = tmp_path / "rows.npy"
    np.save(path, X)
    store = nystream.open(tmp_path / "points.nys")
    assert not said_of(lambda: store.append(make(X, path)))
    told = said_of(lambda: store.append(make(X, path)))
    assert len(told) == 1 and told[0].startswith(f"{AGAIN} 0 to 1999 of ")
    assert told[0].endswith("if they were not meant to come twice, store.truncate(2000) takes them "
                            "out again")
    store.truncate(2000)
    X[-1, -1] += 1
    np.save(path, X)
    assert not said_of(lambda: store.append(make(X, path)))
