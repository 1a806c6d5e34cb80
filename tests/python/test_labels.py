"""Labels of every kind that append() takes: numbers, and words, which become classes."""
import warnings
from pathlib import Path

import numpy as np
import pytest
from conftest import need_hdf5_reader, refuses, stored

import nystream
from nystream import _batch

WORDS = ["cat", "dog", "cat", None, "emu", "dog"]
NONE = np.nan


@pytest.fixture
def empty(tmp_path):
    """Return a store without rows."""
    return nystream.open(tmp_path / "labels.nys")


def rows(count=6):
    return np.random.default_rng(1).normal(size=(count, 3))


def kept(store):
    """Return the words of all rows, None where one has no label."""
    names = store.class_names
    return [None if label != label else names[int(label)] for label in store.labels[:]]


KINDS = {
    "list": lambda pandas: WORDS,
    "array of str": lambda pandas: np.array(["" if word is None else word for word in WORDS]),
    "array of objects": lambda pandas: np.array(WORDS, dtype=object),
    "array of bytes": lambda pandas: np.array([(word or "NA").encode() for word in WORDS]),
    "NaN for what is missing": lambda pandas: np.array([word or NONE for word in WORDS]),
    "Series": lambda pandas: pandas.Series(WORDS, index=range(10, 16)),
    "Series of string": lambda pandas: pandas.Series(WORDS, dtype="string"),
    "Categorical": lambda pandas: pandas.Categorical(WORDS, ["cat", "dog", "emu"]),
    "column of categories": lambda pandas: pandas.Series(WORDS, dtype="category"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pieces", [False, True])
def test_words(empty, kind, pieces, monkeypatch):
    labels = KINDS[kind](pytest.importorskip("pandas"))
    monkeypatch.setattr(_batch, "SLICE_BYTES", 2 * 3 * 8)
    X = [rows(), rows()[:, ::-1]][pieces]  # in one piece, and two rows at a time
    empty.append(X, labels=labels)
    assert list(empty.class_names) == ["cat", "dog", "emu"]
    assert np.array_equal(empty.labels[:], [0, 1, 0, NONE, 2, 1], equal_nan=True)


def test_categories_keep_their_order(empty, pandas):
    empty.append(rows(), labels=pandas.Categorical(WORDS, ["yak", "emu", "dog", "cat"]))
    assert list(empty.class_names) == ["yak", "emu", "dog", "cat"] and kept(empty) == WORDS


def test_words_keep_their_numbers_over_appends(empty):
    empty.append(rows(), labels=WORDS)
    empty.append(rows(3), labels=["yak", "emu", "cat"])
    empty.append(iter([(rows(2), ["ape", "dog"]), (rows(1), [None]), (rows(1), ["yak"])]))
    empty.append(rows(1))
    assert list(empty.class_names) == ["cat", "dog", "emu", "yak", "ape"]
    assert kept(empty)[6:] == ["yak", "emu", "cat", "ape", "dog", None, "yak", None]


def test_the_same_classes_as_those_of_a_table(empty, tmp_path):
    X = rows()
    lines = [",".join([*map(repr, row.tolist()), word or ""]) for row, word in zip(X, WORDS)]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    empty.append_files(tmp_path / "rows.csv", label_column=4)
    empty.append(X.astype("f4"), labels=WORDS[::-1])
    assert kept(empty) == WORDS + WORDS[::-1]
    assert list(empty.class_names) == ["cat", "dog", "emu"]


def test_words_that_are_numbers_are_numbers(empty):
    empty.append(rows(3), labels=["7", None, "1"])
    assert np.array_equal(empty.labels[:], [7, NONE, 1], equal_nan=True)
    with pytest.raises(nystream.UsageError):
        empty.class_names
    refuses(nystream.DataError, "", empty.append, rows(), labels=WORDS)


@pytest.mark.parametrize("kind", [list, np.array, lambda words: np.array(words, object)])
def test_words_that_only_python_takes_for_numbers(empty, tmp_path, kind):
    words = ["0_1", "1", "0_0", "\N{ARABIC-INDIC DIGIT ONE}", "1_0", "10"]
    empty.append(rows(), labels=kind(words))
    assert list(empty.class_names) == words and kept(empty) == words
    frame = pytest.importorskip("pandas").DataFrame({"group": words[:3]})
    with pytest.raises(ValueError, match="column 'group' of X holds '0_1', which is not a"):
        nystream.open(tmp_path / "rows.nys").append(frame)


def test_anndata(empty, anndata, pandas):
    obs = pandas.DataFrame({"kind": pandas.Categorical(WORDS), "sex": list("fmfmfm")},
                           index=[f"cell {i}" for i in range(6)])
    cells = anndata.AnnData(rows().astype("f4"), obs)
    empty.append(cells, labels=cells.obs["kind"])
    assert kept(empty) == WORDS
    empty.append(cells, labels=cells.obs["sex"])
    assert kept(empty)[6:] == list("fmfmfm")


@pytest.mark.parametrize("kind", ["AnnData", "frame", "h5ad", "h5ad by option", "csv"])
def test_a_column_by_its_name(empty, tmp_path, kind, anndata, pandas):
    obs = pandas.DataFrame({"kind": pandas.Categorical(WORDS)},
                           index=[f"cell {i}" for i in range(6)])
    cells = anndata.AnnData(rows().astype("f4"), obs)
    frame, X, options = cells.to_df().assign(kind=obs["kind"].astype(object)), cells, {}
    if kind == "frame":
        X = frame
    elif kind == "csv":
        X = tmp_path / "x.csv"
        frame.to_csv(X, index=False)
    elif "h5ad" in kind:
        X = tmp_path / "x.h5ad"
        cells.write_h5ad(X)
    options = {"label_column" if "option" in kind else "labels": "kind"}
    if "option" in kind:
        need_hdf5_reader()
    empty.append(X, **options)
    assert kept(empty) == WORDS and np.allclose(empty[:], rows().astype("f4"))
    wrong = {name: "kinf" for name in options}
    refuses(nystream.UsageError, "", empty.append, X, **wrong)
    with pytest.raises(nystream.UsageError, match="X is ndarray, whose columns have no names"):
        empty.append(rows(), labels="kind")


def test_columns_of_obs_of_any_type(empty, tmp_path, monkeypatch, anndata, pandas, h5py):
    monkeypatch.setenv("NYSTREAM_HDF5", "/nowhere")
    obs = pandas.DataFrame({
        "ordered": pandas.Categorical(WORDS, ["yak", "emu", "dog", "cat"]),
        "words": ["a", "b", "a", "c", "b", "a"], "whole": np.arange(6),
        "real": np.linspace(0, 1, 6),
        "flag": np.arange(6) % 2 == 0, "some": pandas.array([1, None, 3, 4, 5, 6], dtype="Int64"),
    }, index=[f"cell {i}" for i in range(6)])
    anndata.AnnData(rows(), obs).write_h5ad(tmp_path / "x.h5ad")
    with h5py.File(tmp_path / "x.h5ad", "a") as file:  # anndata before 0.8 wrote categories so
        column = file["obs/ordered"]
        file["obs/__categories/old"] = column["categories"][:]
        file["obs/old"] = column["codes"][:]
        file["obs/old"].attrs["categories"] = file["obs/__categories/old"].ref
    for name in (*obs, "old"):
        there, here = (nystream.open(tmp_path / f"{name} {kind}.nys") for kind in ("there", "here"))
        here.append(rows(), labels=obs["ordered" if name == "old" else name])
        there.append(tmp_path / "x.h5ad", labels=name)
        assert np.array_equal(there.labels[:], here.labels[:], equal_nan=True)
        assert there.report.imports[0]["label_column"] == name
        assert there.report.classes == here.report.classes
    assert list(there.class_names) == ["yak", "emu", "dog", "cat"]


def test_a_column_beside_some_of_one_name(empty):
    frame = pytest.importorskip("pandas").DataFrame(rows(), columns=["x", "x", "y"])
    empty.append(frame.assign(kind=WORDS), labels="kind")
    assert kept(empty) == WORDS and np.array_equal(empty[:], rows())
    with pytest.raises(nystream.UsageError, match="labels='x' names 2 columns of X; give"):
        empty.append(frame, labels="x")


@pytest.mark.parametrize("labels", [
    ["a"] * 5, [["a", "b"]] * 6, [{}] * 6, ["x" * 2000] * 6, np.zeros(5), np.zeros((6, 1)),
    [2 ** 53 + 1, 2 ** 53, 1, 2, 3, 4]], ids=range(7))
def test_wrong_labels(empty, labels):
    refuses(ValueError, "", empty.append, rows(), labels=labels)
    assert not empty.path.exists()


def test_batches_of_two_kinds(empty):
    with pytest.raises(ValueError, match="are numbers, but those of earlier batches are words"):
        empty.append(iter([(rows(), WORDS), (rows(1), [3])]))
    assert not empty.path.exists()


def test_no_labels_at_all(empty):
    empty.append(rows())
    with pytest.raises(nystream.UsageError):
        empty.class_names


def test_columns_may_have_names_of_what_other_rows_have(empty, pandas):
    frame = pandas.DataFrame(rows(), columns=["obs", "chunks", "nnz"])
    frame["word"] = WORDS
    report = empty.append(frame, labels="word")
    assert (report.n, report.d) == (6, 3) and kept(empty) == WORDS
    assert np.array_equal(empty[:], rows())
    assert nystream.embed(frame.drop(columns="word"), map="pca", approx="exact").shape == (6, 2)


def test_classes_are_counted_up_to_a_limit(tmp_path):
    for classes in 4096, 4097:
        labels = np.arange(9000.0) % classes
        labels[::1000] = np.nan
        labels[labels == 0] = -0.0
        store = stored(tmp_path / f"{classes}.nys", np.zeros((9000, 1)), labels=labels)
        assert store.report.classes == (4096 if classes == 4096 else None)
        store.append(np.zeros((1, 1)), labels=[0.0])
        assert store.report.classes == (4096 if classes == 4096 else None)


def test_labels_in_a_file_of_their_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, kinds = rows(), np.array([2.0, 0, 1, 1, 0, 2])
    np.save("beats.npy", X)
    np.save("kinds.npy", kinds)
    Path("words.txt").write_text("".join(f"{word}\n" for word in "abcabc"))
    for number, (given, labels) in enumerate((
            ("beats.npy", "kinds.npy"), (Path("beats.npy"), Path("kinds.npy")),
            (["beats.npy"], str(tmp_path / "kinds.npy")), ("beats.npy", kinds))):
        store = stored(f"{number}.nys", given, labels=labels)
        assert np.array_equal(store.labels[:], kinds) and np.array_equal(store[:], X)
    store.append("beats.npy", labels=kinds[::-1])
    assert np.array_equal(store.labels[6:], kinds[::-1])
    words = stored("words.nys", "beats.npy", labels="words.txt")
    assert kept(words) == list("abcabc")


def test_a_column_is_meant_where_no_file_has_the_name(empty, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("beats.npy", rows())
    Path("table.csv").write_text("a,b,kind\n1,2,elm\n3,4,oak\n")
    Path("table.svm").write_text("1 1:2 2:3\n0 2:5\n")
    for file in "beats.npy", "table.svm":
        told = refuses(nystream.UsageError, "", empty.append, file, labels="kind")
        assert told.option == "labels"
    assert not empty.path.exists()
    empty.append("table.csv", labels="kind")
    assert kept(empty) == ["elm", "oak"] and empty.shape == (2, 2)


@pytest.mark.parametrize("kind", ["frame", "AnnData", "h5ad", "pairs"])
def test_a_series_in_another_order_than_the_rows(empty, tmp_path, kind, pandas):
    names = [f"cell {i}" for i in range(6)]
    frame = pandas.DataFrame(rows(), names, list("xyz"))
    series = pandas.Series(WORDS, names)
    X, whose = frame, "X.index"
    if kind != "frame" and kind != "pairs":
        X, whose = pytest.importorskip("anndata").AnnData(frame), "adata.obs_names"
    if kind == "h5ad":
        X.write_h5ad(tmp_path / "x.h5ad")
        X = tmp_path / "x.h5ad"

    def append(labels):
        empty.append(*([iter([(X, labels)])] if kind == "pairs" else [X, labels]))

    told = refuses(nystream.UsageError, rf"give labels.loc\[{whose}\], or", append, series[::-1])
    assert told.option == "labels" and not empty.path.exists()
    append(series[::-1].loc[names])
    append(series[::-1].to_numpy())
    append(pandas.Series(WORDS))  # its index is that of no rows
    append(pandas.Series(WORDS, [*names[:-1], "another"]))
    assert kept(empty) == WORDS + WORDS[::-1] + WORDS + WORDS


def test_a_frame_is_not_labels(empty):
    frame = pytest.importorskip("pandas").DataFrame({"kind": WORDS, "sex": list("fmfmfm")})
    refuses(nystream.UsageError, "is a frame", empty.append, rows(), labels=frame)
    assert not empty.path.exists()


@pytest.mark.parametrize("kind", ("frame", "pieces", "anndata", "h5ad", "csv"))
def test_later_rows_have_labels_in_the_column_of_before(empty, tmp_path, kind, monkeypatch, pandas):
    frame = pandas.DataFrame(rows(), columns=list("xyz")[:rows().shape[1]]).assign(kind=WORDS)
    given, file = frame, tmp_path / "x.csv"
    if kind in ("anndata", "h5ad"):
        given = pytest.importorskip("anndata").AnnData(rows(), frame[["kind"]].rename(index=str))
        given.var_names = frame.columns[:-1]
        if kind == "h5ad":
            monkeypatch.setenv("NYSTREAM_HDF5", "/nowhere")  # a wheel has no such program
            given.write_h5ad(tmp_path / "x.h5ad")
            given = tmp_path / "x.h5ad"
    elif kind == "csv":
        frame.to_csv(file, index=False)
        given = file
    empty.append(given, labels="kind")
    assert empty.report.imports[0]["label_column"] == "kind"
    wanted, more = kept(empty), given
    if kind == "pieces":
        empty.append([frame[:3], frame[3:]])  # pieces bring their own
        assert kept(empty)[6:] == [None] * 6
        empty.truncate(6)
    elif kind != "csv":
        frame.to_csv(file, index=False)
        more = file  # also another form of the same rows
    for again in given, more:
        empty.append(again)
        assert kept(empty)[-6:] == wanted and len(empty.class_names) == 3
    if kind != "csv":
        empty.append(given, labels=["emu"] * 6)
        assert kept(empty)[-6:] == ["emu"] * 6
    if kind == "frame":
        result = empty.fit("map", map="pca", components=2)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            placed = result.transform(frame)  # its labels are no columns that are missed
        assert np.allclose(placed, result.embedding[:6], atol=1e-5)
        empty.append(frame.drop(columns="kind"))
        assert kept(empty)[-6:] == [None] * 6
