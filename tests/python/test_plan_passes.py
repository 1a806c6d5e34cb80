"""Passes that plans of exact fits foretell from a sample of the rows, beside those they take."""
import logging
import statistics
import warnings

import numpy as np
import pytest
import scipy.sparse

import nystream

pytestmark = pytest.mark.slow
KINDS = ["decaying", "flat", "clustered", "deficient"]


def dense(kind, n, d, rng):
    """Rows of n × d whose singular values are of this kind; flat: three large ones and noise."""
    if kind == "flat":
        X = rng.standard_normal((n, d), dtype=np.float32)
        for size in (12, 8, 6):
            X += (size * (n * d) ** -0.25 * rng.standard_normal((n, 1))
                  * rng.standard_normal((1, d))).astype(np.float32)
        return X
    k = np.arange(1, 201)
    s = {"decaying": 1 / k,
         "clustered": np.select([k <= 4, k <= 24], [5, 2 + 1e-3 * np.sin(k)], 1.2 / np.sqrt(k)),
         "deficient": np.where(k <= 8, 1 / k, 0)}[kind]
    U, V = (np.linalg.qr(rng.standard_normal((rows, 200)))[0] for rows in (n, d))
    return ((U * s) @ V.T * np.sqrt(n)).astype(np.float32)


def sparse(kind, n, d, rng):
    """Rows of 30 values, a share of which is in columns of the row's type."""
    types = {"decaying": 40, "flat": 3, "clustered": 25, "deficient": 8}[kind]
    share = {"decaying": 24, "flat": 6, "clustered": 18, "deficient": 30}[kind]
    weights = 1.0 / np.arange(1, types + 1) ** (kind != "clustered")
    pools = [rng.choice(d, 30 if kind == "deficient" else 40, replace=False) for _ in range(types)]
    columns = [np.unique(np.r_[rng.choice(pools[t], share, replace=False),
                               rng.integers(0, d, 30 - share)])
               for t in rng.choice(types, n, p=weights / weights.sum())]
    starts = np.r_[0, np.cumsum([len(c) for c in columns])]
    columns = np.concatenate(columns)
    return scipy.sparse.csr_matrix((np.ones(len(columns), np.float32), columns, starts), (n, d))


def test_passes_of_twelve_spectra_are_foretold(tmp_path):
    ratios = []
    for number, kind in enumerate(KINDS):
        shapes = [(dense, 4000, 700), (dense, 2100, 2500),
                  (sparse, 5000, 900) if number % 2 else (sparse, 2200, 6000)]
        for make, n, d in shapes:
            store = nystream.open(tmp_path / f"{kind}-{make.__name__}-{n}")
            store.append(make(kind, n, d, np.random.default_rng(1)))
            how = {"map": "kpca" if make is dense else "svd", "kernel": "linear",
                   "approx": "exact", "components": 10}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                planned, fit = store.plan(**how), store.fit("a", **how)
            assert fit.report["way"] == "krylov"
            assert fit.report["side"] == ("rows" if n < d else "columns")
            ratio = planned.passes / fit.report["passes"]
            print(kind, make.__name__, n, d, planned.passes, "foretold,",
                  fit.report["passes"], "taken, ratio", round(ratio, 2))
            assert 1 / 3 <= ratio <= 3, (kind, make.__name__, n, d)
            ratios.append(max(ratio, 1 / ratio))
    assert statistics.median(ratios) <= 1.5


def test_a_fit_tells_that_components_do_not_settle(tmp_path, caplog):
    store = nystream.open(tmp_path / "s")
    store.append(np.random.default_rng(1).standard_normal((2100, 2100), dtype=np.float32))
    with caplog.at_level(logging.INFO):
        result = store.fit("a", map="kpca", kernel="linear", approx="exact", components=10,
                           tol=1e-7)
    assert result.report["converged"] == 10
    assert "after 20 products, the last of 10 components do not settle" in caplog.text
    assert "tol" in caplog.text and "max_passes" in caplog.text
