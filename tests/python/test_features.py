"""Columns that are chosen: features=, as arrays and as rules, and scanpy's choice of genes."""
import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from conftest import stored

import nystream
from genes import variable

COARSE = {"map": "pca", "approx": "nystrom", "landmarks": 20}  # it is the choice that matters


def test_columns_are_given_as_an_array(store, rows):
    columns = np.array([4, 1, 2])
    result = store.fit("few", features=columns, **COARSE)
    assert np.array_equal(result.features, [1, 2, 4]) and result.features.dtype == np.uint64
    assert result.report["features_kept"] == 3
    mask = np.isin(np.arange(6), columns)
    assert np.array_equal(store.fit("mask", features=mask, **COARSE).embedding[:],
                          result.embedding[:])
    alone = stored(store.path.parent / "alone.nys", rows[:, [1, 2, 4]])
    wanted = alone.fit("few", **COARSE).embedding[:]
    sign = np.sign((result.embedding[:] * wanted).sum(axis=0))
    assert np.allclose(result.embedding[:] * sign, wanted, atol=1e-4 * np.abs(wanted).max())
    changed = rows[:10].copy()
    changed[:, [0, 3, 5]] = 99
    assert np.array_equal(result.transform(changed), result.transform(rows[:10]))


def test_columns_are_given_by_their_names(tmp_path, rows, pandas):
    frame = pandas.DataFrame(rows, columns=[f"gene {at}" for at in range(6)])
    store = stored(tmp_path / "named.nys", frame)
    wanted = store.fit("numbers", features=[1, 4], **COARSE).embedding[:]
    for number, names in enumerate((["gene 4", "gene 1"], ("gene 1", "gene 4"),
                                    frame.columns[[1, 4]], np.array(["gene 1", "gene 4"]))):
        result = store.fit(f"names{number}", features=names, **COARSE)
        assert np.array_equal(result.embedding[:], wanted)
        assert np.array_equal(result.features, [1, 4])
        assert np.array_equal(nystream.embed(frame, features=names, **COARSE), wanted)
    assert store.plan(features=["gene 1"], **COARSE).memory_min_bytes > 0
    with pytest.raises(nystream.UsageError, match="has 1 of 2 names that no column has: 'gene 9'"):
        store.fit("none", features=["gene 1", "gene 9"], **COARSE)
    with pytest.raises(ValueError, match="numbers of columns"):
        nystream.plan(frame.to_numpy(), features=["gene 1"], **COARSE)


def test_a_rule_is_a_text(store, rows):
    result = store.fit("most", features="variance:2", **COARSE)
    assert np.array_equal(result.features, np.sort(np.argsort(-rows.var(axis=0))[:2]))
    assert result.report["features"] == "variance:2"
    store.append(rows[:100] * 3, labels=np.zeros(100))
    assert np.array_equal(result.update("full").features, store.result("most").features)
    with pytest.raises(nystream.UsageError, match="has no features"):
        store.fit("all", **COARSE).features


@pytest.mark.parametrize("features", [
    [0.5, 1], [[1, 2]], [6], [-1], 2, ["a", "b"], [2, 2], "variable:7", "variable:2",
    np.zeros(6, bool), [True, False, True], np.ones(7, bool), np.ones((6, 1), bool)], ids=range(13))
def test_columns_that_are_none(store, features):
    with pytest.raises(ValueError):
        store.fit("none", features=features, **COARSE)
    with pytest.raises(ValueError):
        nystream.embed(store[:], features=features, **COARSE)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pbmc3k", "pbmc_covid"])
def test_variable_genes_are_those_of_scanpy(tmp_path, name, h5py):
    path = Path(os.environ.get("NYSTREAM_DATA") or "/nowhere") / name / f"{name}.h5ad"
    if not path.exists():
        pytest.skip(f"NYSTREAM_DATA has no {name}")
    with h5py.File(path) as file:
        X = file["X"]
        counts = scipy.sparse.csr_matrix((X["data"][:], X["indices"][:], X["indptr"][:]),
                                         shape=tuple(X.attrs["shape"])).astype(np.float64)
    store = nystream.open(tmp_path / "cells.nys")
    store.append(counts.astype(np.float32), rows="total:10000", values="log1p")
    for count in (500, 2000, 5000):
        result = store.fit(f"of-{count}", features=f"variable:{count}", **COARSE)
        assert np.array_equal(result.features, variable(counts, 1e4, count))
