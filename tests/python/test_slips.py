"""Slips of those who are new to nystream, or come from scikit-learn: what is said of each."""
import errno
import warnings

import numpy as np
import pytest
from conftest import refuses

import nystream


def said_of(call):
    """Return the warnings of a call, as texts."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(one.message) for one in caught]


# ---- rows that are appended twice ---------------------------------------------------------------


def test_same_names_twice(tmp_path):
    """An append of rows whose names are there already warns, and the warning has the cure."""
    path = tmp_path / "cells.csv"
    path.write_text("cell,a\n" + "".join(f"c{i},{i}\n" for i in range(50)))
    store = nystream.open(tmp_path / "points.nys")
    assert not said_of(lambda: store.append_files(path, id_column="cell"))
    (told,) = said_of(lambda: store.append_files(path, id_column="cell"))
    assert told.startswith("50 of the 50 rows to append have names that rows of ")


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
    """A file that is not there is one error in all calls."""
    path = tmp_path / f"leters{suffix}"
    error = refuses(FileNotFoundError, "", read, result, path)
    assert type(error) is nystream.MissingFileError and isinstance(error, nystream.FileError)
    assert str(error) == f"cannot open {path}: No such file or directory"
    assert (error.file, error.errno, error.status) == (str(path), errno.ENOENT, 4)


def test_missing_folder(result, tmp_path):
    """A folder that is not there is such an error; a file in its place is another one."""
    with pytest.raises(nystream.MissingFileError):
        result.export(tmp_path / "none" / "map.npy")
    with pytest.raises(nystream.FileError) as caught:
        nystream.embed(tmp_path / "rows.nys" / "points" / "data.mdb" / "rows.npy")
    assert type(caught.value) is nystream.FileError and "Not a directory" in str(caught.value)


# ---- names of parameters ------------------------------------------------------------------------


def test_whitened_components_of_a_pipeline(rows):
    """The pipeline that stands for whiten= gives components of unit variance."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    white = make_pipeline(nystream.PCA(3), StandardScaler()).fit_transform(rows)
    assert np.allclose(np.cov(white.T, ddof=0), np.eye(3), atol=1e-4)


@pytest.mark.parametrize("files", [False, True], ids=["memory", "file"])
@pytest.mark.parametrize("name", ["label", "lables"])
def test_option_of_another_name(store, rows, tmp_path, name, files):
    """An option that append() does not have is answered by its name, whatever its value is."""
    np.savetxt(tmp_path / "rows.csv", rows)
    X = tmp_path / "rows.csv" if files else rows
    for value in (np.zeros(2000), "class", 3):
        assert refuses(nystream.UsageError, "", store.append, X, **{name: value}).option == name


def test_mode_of_an_update(result):
    """The error of a mode names the parameter that update() has."""
    for mode in ("ful", "partial", 3):
        assert refuses(nystream.UsageError, "", result.update, mode).option == "mode"


# ---- rows of another shape ----------------------------------------------------------------------


def test_rows_of_another_width(result):
    """The error tells how many columns the rows have, and how many the model was fitted on."""
    wide, one = np.zeros((5, 179)), np.zeros((5, 1))
    for place in (result.transform, result.model().transform):
        caught = refuses(nystream.DataError, "", place, wide)
        assert str(caught) == "X has 179 columns of points, but the model was fitted on 6"
        with pytest.raises(nystream.DataError):
            place(one)


@pytest.mark.parametrize("read", [
    lambda result, path: result.store.append(path),
    lambda result, path: result.transform(path),
    lambda result, path: nystream.embed(path),
    lambda result, path: nystream.PCA(2).fit(path)],
    ids=["append", "transform", "embed", "estimator"])
@pytest.mark.parametrize("shape", [(8,), (4, 2, 3)])
def test_file_of_another_dimension(tmp_path, result, read, shape):
    """The error of a file without rows names it."""
    np.save(tmp_path / "values.npy", np.ones(shape))
    np.savez(tmp_path / "values.npz", np.ones(shape))
    for path in (tmp_path / "values.npy", tmp_path / "values.npz"):
        caught = refuses(nystream.DataError, "", read, result, path)
        assert str(caught).startswith(f"{path} has an array of shape {shape}")


# ---- reports ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8"])
@pytest.mark.parametrize("mapped", [False, True], ids=["array", "file"])
def test_bytes_read_in_place(tmp_path, rows, dtype, mapped):
    """Rows that are read where they are count as the bytes that they have, in each pass."""
    X = np.abs(rows).astype(dtype)
    np.save(tmp_path / "rows.npy", X)
    fitted = nystream.KernelPCA(2, n_landmarks=50, random_state=0)
    report = fitted.fit(tmp_path / "rows.npy" if mapped else X).report_
    assert report.rows_read >= 2000 and report.bytes_read == report.rows_read * 6 * X.itemsize


def test_options_that_are_off(result):
    """A report that is printed lists what a fit was asked for, and no switch that was off."""
    assert result.report.options.certify == "no"
    assert "certify" not in repr(result.report) and "landmarks 50" in repr(result.report)
    again = result.store.fit("again", landmarks=20, certify=True)
    assert "certify yes" in repr(again.report)


@pytest.mark.parametrize("estimator", [
    nystream.Isomap(n_neighbors=60, random_state=0),
    nystream.SpectralEmbedding(affinity="nearest_neighbors", n_neighbors=60, random_state=0),
    nystream.KNeighborsTransformer(n_neighbors=60, mode="connectivity", random_state=0)],
    ids=lambda estimator: type(estimator).__name__)
def test_more_neighbors_than_rows(rows, estimator):
    """A number of neighbours that is lowered is told once; one that all rows have is not."""
    told = [text for text in said_of(lambda: estimator.fit(rows[:50])) if "lowered" in text]
    assert told == ["n_neighbors=60 is more than the 49 other rows there are, and is lowered to "
                    "that"]
    assert not [text for text in said_of(lambda: estimator.fit(rows[:200]))
                if "lowered" in text]
