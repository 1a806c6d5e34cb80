"""Each status of the library by its cause, and the words of its messages."""
import pickle
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import refuses, stored

import nystream
from nystream import _errors, _lib

SOURCES = Path(__file__).parents[2] / "src"
# Words of the command line. "--%s" has the name of an option in a message, and is spelled then.
VERBS = ("import|fit|plan|eval|export|transform|graph|plot|report|info|update|rm|merge|select|"
         "truncate|compact|verify")
LEFT = re.compile(rf"--(?!%s)[a-z]|\bnystream (?:{VERBS})\b")


@pytest.mark.parametrize("said, expected", [
    ("give --memory 269M, or fewer landmarks", 'give memory="269M", or fewer landmarks'),
    ("give --restart to replace it", "give restart=True to replace it"),
    ("leave out --no-pilot", "leave out pilot=False"),
    ("or do less (see 'nystream plan')", "or do less (see plan())"),
    ("the options it had (nystream graph)", "the options it had (graph())"),
    ("or --new-columns drop, which", 'or new_columns="drop", which'),
    ("--landmarks 9000 is more than", "landmarks=9000 is more than"),
    ("--approx has no 'x'; it is", "approx= has no 'x'; it is"),
    ("with --map kpca alone", 'with map="kpca" alone'),
    ("--gamma 1e-3 is", "gamma=1e-3 is"),
    ("--size 20x30: pixels", 'size="20x30": pixels'),
    ("--row-normalize does", "row_normalize=True does"),
    ("--neighbors T gives", "neighbors=T gives"),
    ("unknown option --foo-bar", "unknown option foo_bar"),
    ("give --label-column 'ward' if it", "give label_column='ward' if it"),
    ("--labels and --label-column both say", "labels= and label_column= both say"),
    ("kept; 'nystream info' lists which rows", "kept; store.report lists which rows"),
    ("'nystream export --part graph' writes the", "export() writes the"),
    ("resume with: nystream fit 'a b.nys' map --landmarks 9",
     "resume with: store.result(NAME).resume()"),
    ("make one with 'nystream graph s.nys NAME'", "make one with graph()"),
    ("since; --restart makes it again with them", "since; restart=True makes it again with them"),
    ("all rows of X (in memory) are equal", "all rows of X are equal"),
    ("all rows of '/data/rows.nys' are equal", "all rows of '/data/rows.nys' are equal"),
])
def test_words(said, expected):
    assert _errors.spell_for_python(said) == expected


def fails(kind, builtin, call):
    failure = refuses(kind, "", call)
    assert isinstance(failure, (nystream.NystreamError, builtin))
    assert isinstance(failure, builtin)
    assert failure.kind == nystream._lib.lib.ny_status_kind(failure.status).decode()
    again = pickle.loads(pickle.dumps(failure))
    assert type(again) is type(failure) and str(again) == str(failure)
    assert again.__dict__ == failure.__dict__
    return failure


def test_usage(store, result):
    for name in "kernel", "landmark", "gamma_grid", "progress", "clusters":
        error = fails(nystream.UsageError, ValueError, lambda n=name: store.fit("a", **{n: 3}))
        assert error.option == name
    with pytest.raises(IndexError):
        store["map"]
    for call in store.fit, store.graph, store.result, store.remove:
        refuses(TypeError, "by a name, not by ndarray", call, np.zeros((3, 2)))
    error = fails(nystream.UsageError, ValueError, lambda: store.fit("a", row_normalize="odd"))
    assert error.option == "row_normalize" and error.status == 2
    fails(nystream.UsageError, ValueError, lambda: store.fit("map", landmarks=60))
    fails(nystream.UsageError, ValueError, lambda: store.result("no"))
    fails(nystream.UsageError, ValueError, lambda: result.part("clusters"))


def test_data(store):
    error = fails(nystream.DataError, ValueError,
                  lambda: store.append(np.full((4, 6), np.inf), labels=np.zeros(4)))
    assert error.status == 3
    fails(nystream.DataError, ValueError,
          lambda: store.append(np.ones((4, 5)), labels=np.zeros(4)))


def test_files(tmp_path):
    missing = tmp_path / "none.nys"
    error = fails(nystream.MissingFileError, OSError, lambda: nystream.open(missing).shape)
    assert error.file == str(missing)
    (tmp_path / "x.csv").write_text("1,2\n3,x\n")
    error = fails(nystream.DataError, ValueError,
                  lambda: nystream.open(missing).append_files(tmp_path / "x.csv"))
    assert error.file == str(tmp_path / "x.csv") and error.line == 2


def test_damaged(tmp_path):
    fails(nystream.StoreError, nystream.NystreamError,
          lambda: nystream.Model.from_bytes(b"nothing of the kind" * 9))


def test_busy(store, tmp_path, rows):
    def read():
        yield rows[:5], np.zeros(5)
        fails(nystream.BusyError, BlockingIOError,
              lambda: nystream.open(store.path).append(rows, labels=np.zeros(2000)))

    store.append(read())
    assert store.shape == (2005, 6)


def test_numerics(tmp_path):
    store = stored(tmp_path / "s.nys", np.eye(50)[:, :3])
    fails(nystream.NumericError, ArithmeticError,
          lambda: store.fit("a", map="laplacian", kernel="linear"))


def test_budget(store):
    options = {"landmarks": 500, "select": "uniform"}
    error = fails(nystream.BudgetError, MemoryError,
                  lambda: store.fit("a", memory="25M", **options))
    assert error.needed > 25 << 20
    assert store.fit("a", memory=error.needed, **options).status == "done"
    late = fails(nystream.BudgetError, MemoryError,
                 lambda: store.fit("b", time_limit=1e-9, **options))
    assert late.needed is None
    assert store.fit("b", time_limit="1h", **options).status == "done"


def test_a_budget_without_room_for_the_rows_is_told_what_the_fit_needs(tmp_path):
    rows = np.random.default_rng(0).integers(-99, 99, (5000, 180)).astype(np.int16)
    np.save(tmp_path / "rows.npy", rows)
    file = tmp_path / "rows.npy"
    for fit in (lambda memory: nystream.KernelPCA(4, memory=memory, random_state=0).fit(rows),
                lambda memory: nystream.embed(file, memory=memory, components=4, seed=0)):
        error = fails(nystream.BudgetError, MemoryError, lambda fit=fit: fit("10M"))
        assert error.needed > 32 << 20
        fit(error.needed)


def test_every_status_has_a_class():
    for status, kind in _errors.CLASSES.items():
        assert issubclass(kind, nystream.NystreamError)
        assert _lib.lib.ny_status_kind(status) != b"unknown"


def test_estimators_name_the_parameter_that_was_typed():
    X = np.random.default_rng(0).normal(size=(60, 3))
    for affinity in ("bogus", "precomputed", lambda a, b: a @ b.T):
        for estimator in (nystream.SpectralEmbedding, nystream.SpectralClustering):
            with pytest.raises(ValueError, match=r"affinity= is one of rbf\|linear"):
                estimator(affinity=affinity).fit(X)


def test_whole_floats_are_budgets():
    X = np.random.default_rng(0).normal(size=(60, 3))
    assert nystream.embed(X, memory=2e9).shape == (60, 2)
    assert nystream.KernelPCA(memory=np.float64(2e9)).fit(X).report_.memory_budget_bytes == 2e9
    for memory in (2.5, float("nan"), float("inf"), "two"):
        with pytest.raises(nystream.UsageError, match="memory= is a size such as 512M"):
            nystream.embed(X, memory=memory)


def test_a_result_that_finds_no_room_says_how_many_bytes_it_has(result, monkeypatch):
    store, huge = result.store, 1 << 50
    shape = nystream._view.Shape(huge, 3, np.dtype("float32"))
    batch = SimpleNamespace(rows=huge)
    monkeypatch.setattr(nystream.Store, "__len__", lambda self: huge)
    fails(nystream.BudgetError, MemoryError, lambda: store._fit_into(
        "a", True, components=3, precision="f32"))
    fails(nystream.BudgetError, MemoryError, lambda: nystream._data.place(
        [batch], 3, np.float32, None))
    part = result.embedding
    monkeypatch.setattr(nystream._view.View, "shape", lambda self, name: shape)
    error = fails(nystream.BudgetError, MemoryError, lambda: part[:])
    assert isinstance(error, MemoryError) and error.needed is None


def test_masked_values_are_never_used():
    X = np.ma.masked_array(np.random.default_rng(0).normal(size=(60, 3)), mask=False)
    X[3, 2] = np.ma.masked
    for call in (nystream.embed, nystream.KernelPCA().fit, nystream.PCA().fit_transform):
        refuses(ValueError, "masked values; fill them", call, X)
    assert nystream.KernelPCA().fit_transform(X[10:]).shape == (50, 2)


def test_a_column_of_words_is_named(pandas):
    X = pandas.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])
    X["digits"] = "7.5"  # numbers, although they are text
    whole = nystream.embed(X)
    X["who"] = "Ann"
    for call in (nystream.embed, nystream.KernelPCA().fit):
        refuses(ValueError, "column 'who' of X holds 'Ann', which is not a", call, X)
    assert np.array_equal(nystream.embed(X.drop(columns=["who"])), whole)


def test_options_of_files_are_answered_for_rows_in_memory(store, rows):
    for name in ("ids", "id_column", "label_column", "drop_columns", "columns"):
        assert refuses(nystream.UsageError, "", store.append, rows, **{name: "a"}).option == name
    told = refuses(nystream.UsageError, "", nystream.embed, rows, label_column="a")
    assert told.option == "label_column"


def test_a_report_says_each_reason_once(result):
    report = result.evaluate(measures="clusters", clusters=3)
    assert "not asked for" not in repr(report) and "purity " in repr(report)
    assert "not asked for" in report.reasons.knn_error
    assert not any("--" in reason for reason in report.reasons.values())
    few = nystream.Report({"nmi": None, "ari": None, "reasons": {"nmi": "one", "ari": "one"}})
    assert repr(few) == "no nmi, ari: one"


def test_a_misspelt_name_is_no_attribute():
    with pytest.raises(AttributeError, match="no attribute 'xyz'$"):
        nystream.xyz
    assert nystream.estimators.KernelPCA is nystream.KernelPCA


def test_rows_in_memory_are_called_so():
    refuses(nystream.DataError, "^all 50 rows of X are equal", nystream.embed, np.ones((50, 3)))
    with pytest.raises(nystream.DataError, match="^all 50 rows of X are equal"):
        nystream.KernelPCA(n_landmarks=9).fit(np.ones((50, 3)))


def test_arrays_are_no_words(result):
    with pytest.raises(nystream.UsageError, match=r"title= is a word or a number, not ndarray of "
                       r"shape \(2000,\)") as told:
        result.plot(title=np.arange(2000.0))
    assert len(str(told.value)) < 200
    with pytest.raises(nystream.UsageError, match="color= is a word or a number, not ndarray"):
        result.plot(color=np.arange(7))


def test_no_message_of_the_library_speaks_of_the_command_line():
    """Each text in the sources that names an option has other words in Python."""
    left = []
    for file in sorted(SOURCES.glob("*/*.c")):
        if file.parent.name in ("cli", "report") or file.name == "option_table.c":
            continue
        code = re.sub(r"/\*.*?\*/", "", file.read_text(), flags=re.S)
        for text in re.findall(r'"((?:[^"\\\n]|\\.)*)"', re.sub(r'"\s*\n\s*"', "", code)):
            spelled = _errors.spell_for_python(text)
            if LEFT.search(spelled):
                left.append((file.name, spelled))
    assert not left
