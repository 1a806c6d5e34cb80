"""Names of rows and of columns: into a store with its rows, and back."""
import numpy as np
import pytest

import nystream

quick = pytest.mark.quick
CELLS, GENES = [f"cell {i}" for i in range(50)], ["a", "b", "\u03b2-actin"]


@pytest.fixture
def named(tmp_path):
    """Return a store whose rows and columns have names, from a frame of pandas."""
    pandas = pytest.importorskip("pandas")
    store = nystream.open(tmp_path / "named.nys")
    values = np.random.default_rng(1).normal(size=(50, 3))
    store.append(pandas.DataFrame(values, index=CELLS, columns=GENES))
    return store


@quick
def test_names_of_a_frame(named):
    assert list(named.row_names[:]) == CELLS and list(named.column_names) == GENES
    assert named.row_names.shape == (50,) and named.row_names.dtype == object
    assert named.row_names[7] == "cell 7" and list(named.row_names[[49, 0, 1]]) == \
        ["cell 49", "cell 0", "cell 1"]
    assert list(named.row_names[-1:10:-20]) == ["cell 49", "cell 29"]
    assert np.concatenate(list(named.row_names.batches(7))).tolist() == CELLS
    assert named.report["row_names"] and named.report["first_column_names"] == GENES


@quick
def test_rows_and_columns_that_come_later(named):
    pandas = pytest.importorskip("pandas")
    more = np.ones((2, 3))
    named.append(pandas.DataFrame(more, index=["x", "y"], columns=GENES))
    named.append(more)
    assert list(named.row_names[49:]) == ["cell 49", "x", "y", "", ""]
    with pytest.raises(nystream.DataError, match="column 1 .from 0. is called 'c'"):
        named.append(pandas.DataFrame(more, index=["x", "y"], columns=["a", "c", GENES[2]]))
    with pytest.raises(nystream.DataError, match="name of row 1 .from 0. has a line end"):
        named.append(pandas.DataFrame(more, index=["x", "y\nz"], columns=GENES))
    assert len(named) == 54


@quick
def test_results_have_the_names_of_their_rows(named):
    result = named.fit("flat", map="pca", approx="exact", kernel="linear", components=2)
    assert list(result.row_names[3:5]) == ["cell 3", "cell 4"]
    with pytest.raises(nystream.UsageError, match="not all in it"):
        result._view._read_names("ids", 48, 3)


@quick
def test_a_store_without_names(store):
    with pytest.raises(nystream.UsageError, match="rows of .* have no names"):
        store.row_names
    with pytest.raises(nystream.UsageError, match="columns of .* have no names"):
        store.column_names
    assert store.report["row_names"] is False and store.report["first_row_names"] is None


def test_anndata_in_memory_and_in_a_file(tmp_path):
    anndata, pandas = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    values = np.random.default_rng(1).poisson(1.0, size=(50, 3)).astype("f4")
    whole = anndata.AnnData(values, pandas.DataFrame(index=CELLS), pandas.DataFrame(index=GENES))
    whole.write_h5ad(tmp_path / "x.h5ad")
    for name, rows in ("memory", whole), ("file", tmp_path / "x.h5ad"), \
            ("backed", anndata.read_h5ad(tmp_path / "x.h5ad", backed="r")):
        store = nystream.open(tmp_path / f"{name}.nys")
        store.append(rows)
        assert list(store.row_names[:]) == CELLS and list(store.column_names) == GENES


@quick
def test_a_column_of_a_file_names_its_rows(tmp_path):
    (tmp_path / "t.csv").write_text("name,a,b,class\nx1,1,2,u\ny,3,4,v\n")
    store = nystream.open(tmp_path / "s.nys")
    store.append_files(tmp_path / "t.csv", id_column="name", label_column="class")
    store.append_files(tmp_path / "t.csv", id_column=1, label_column=4)
    assert list(store.row_names[:]) == ["x1", "y", "x1", "y"]
    assert list(store.column_names) == ["a", "b"]
    assert store[:].tolist() == [[1, 2], [3, 4]] * 2
    with pytest.raises(ValueError, match="id_column= says how to read a file"):
        store.append([[1, 2]], id_column=1)
