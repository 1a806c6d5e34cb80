"""Slips of those who are new to nystream, or come from scikit-learn: what is said of each."""
import errno
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


# ---- files that are not there -------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".h5ad", ".csv"])
@pytest.mark.parametrize("read", [
    lambda result, path: result.store.append(path),
    lambda result, path: result.store.append_files(path),
    lambda result, path: result.transform(path),
    lambda result, path: nystream.embed(path),
    lambda result, path: nystream.PCA(2).fit(path)],
    ids=["append", "append_files", "transform", "embed", "estimator"])
def test_missing_file(tmp_path, result, suffix, read):
    """A file that is not there is one error in all calls, with the name of one that is."""
    (tmp_path / f"letters{suffix}").write_text("1,2\n")
    (tmp_path / f"leter{suffix}").mkdir()
    path = tmp_path / f"leters{suffix}"
    with pytest.raises(FileNotFoundError) as caught:
        read(result, path)
    error = caught.value
    assert type(error) is nystream.MissingFileError and isinstance(error, nystream.FileError)
    assert str(error) == (f"cannot open {path}: No such file or directory; did you mean "
                          f"'letters{suffix}'?")
    assert (error.file, error.errno, error.status) == (str(path), errno.ENOENT, 4)


@pytest.mark.parametrize("use", [lambda path: nystream.open(path).fit("map"),
                                 lambda path: nystream.open(path).shape,
                                 lambda path: nystream.PCA(2).fit(nystream.open(path))])
def test_missing_store(store, use):
    """A store that is not there is such an error, too."""
    path = store.path.with_name("row.nys")
    with pytest.raises(nystream.MissingFileError) as caught:
        use(path)
    assert str(caught.value) == f"there is no store {path}; did you mean 'rows.nys'?"


def test_missing_folder(result, tmp_path):
    """A folder that is not there is such an error; a file in its place is another one."""
    with pytest.raises(nystream.MissingFileError, match="does not exist; create it first"):
        result.export(tmp_path / "none" / "map.npy")
    with pytest.raises(nystream.FileError) as caught:
        nystream.embed(tmp_path / "rows.nys" / "points" / "data.mdb" / "rows.npy")
    assert type(caught.value) is nystream.FileError and "Not a directory" in str(caught.value)
