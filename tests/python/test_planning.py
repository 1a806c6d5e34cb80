"""Plans of rows that are in no store yet."""
import numpy as np
import pytest
import scipy.sparse
from conftest import refuses

import nystream

FIGURES = ("passes", "flops", "memory_min_bytes", "disk_bytes", "fits")


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64"])
def test_rows_are_planned_as_in_a_store(tmp_path, dtype):
    X = np.random.default_rng(1).integers(0, 99, (4000, 20)).astype(dtype)
    store = nystream.open(tmp_path / "rows.nys", memory="500M")
    store.append(X)
    for options in ({}, {"map": "laplacian", "landmarks": 300, "components": 7}):
        there = store.plan(**options)
        for found in (nystream.plan(X, memory="500M", **options),
                      nystream.plan(X.shape, dtype=dtype, memory="500M", **options)):
            assert [found[key] for key in FIGURES] == [there[key] for key in FIGURES]
            assert found.store_bytes == X.nbytes


def test_no_row_is_looked_at(tmp_path):
    class Endless:
        shape, dtype = (10**10, 100), np.float32

        def __getitem__(self, _rows):
            raise AssertionError("a row was read")

    plan = nystream.plan(Endless(), memory="2G")
    assert plan.store_bytes == 4 * 10**12 and not plan.fits
    assert nystream.plan((10**10, 100), memory="2G").memory == plan.memory
    np.save(tmp_path / "X.npy", np.zeros((50, 3), "int16"))
    assert nystream.plan(tmp_path / "X.npy", landmarks=9).store_bytes == 300


def test_sparse_rows_count_by_their_values():
    X = scipy.sparse.random(500, 4000, density=0.01, format="csr", random_state=1)
    assert nystream.plan(X, map="pca").store_bytes == X.nnz * 12
    assert nystream.plan(scipy.sparse.csr_matrix((9, 9)), map="pca").store_bytes == 12


def test_what_has_no_shape_is_refused():
    refuses(ValueError, "2D", nystream.plan, (5, 4, 3))
    refuses(ValueError, "2D", nystream.plan, iter([1, 2]))
    with pytest.raises(nystream.UsageError, match="unknown option perplexity"):
        nystream.plan((500, 4), perplexity=30)
    refuses(nystream.UsageError, "near", nystream.plan, (500, 4), map="isomap", graph="near")
    refuses(nystream.UsageError, "import", nystream.plan, (500, 4), features="variable:2")


def test_widths_of_a_sample(tmp_path):
    store = nystream.open(tmp_path / "rows.nys", memory="500M")
    store.append(np.random.default_rng(1).normal(size=(400, 3)))
    grid = store.plan(gamma_grid=True, landmarks=20).grid
    assert len(grid) > 2 and {"gamma", "sigma", "trace_error"} <= set(grid[0])
    assert [line["gamma"] for line in store.plan(gamma_grid=[0.5, 2]).grid] == [0.5, 2]
    assert "passes" in store.plan(gamma_grid=False, landmarks=20)
    refuses(nystream.UsageError, "Store.plan", nystream.plan, (500, 4), gamma_grid=True)
