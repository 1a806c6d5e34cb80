"""Sums of parts: one model of rows that were never together, as bytes, merged, and refused."""
import functools
import gc
import multiprocessing
import os
import pickle
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse
from conftest import refuses, stored

import nystream
from nystream import Sums, sums as sums_module

slow = pytest.mark.slow
GAMMA = 0.05


@pytest.fixture
def landmarks(rows):
    """40 points between rows, which are no rows."""
    return (rows[::50] + rows[1::50]) / 2


@pytest.fixture
def whole(store, landmarks):
    """One fit of all rows over them."""
    return store.fit("whole", landmarks_points=landmarks, gamma=GAMMA, components=3)


def sums_of(landmarks, *parts, **options):
    """Sums of some parts of rows."""
    made = Sums(landmarks, gamma=GAMMA, components=3, **options)
    for part in parts:
        made.add(part)
    return made


def agree(model, result, rows, most=1e-6):
    """Compare a model of sums with a fit of all rows: places, eigenvalues, certificate."""
    ours, theirs = model.transform(rows), result.model().transform(rows)
    assert np.abs(ours - theirs).max() <= most * np.abs(theirs).max()
    assert np.allclose(model.solution.eigenvalues, result.eigenvalues, rtol=most)
    assert abs(model.solution.trace_error - result.trace_error) <= most


def test_parts_are_one_fit_of_all_rows(rows, landmarks, whole):
    parts = [sums_of(landmarks, rows[:1], rows[1:700]), sums_of(landmarks, rows[700:1600]),
             sums_of(landmarks, rows[1600:])]
    images = [part.to_bytes() for part in parts]
    merged = functools.reduce(lambda a, b: a.merge(b), map(Sums.from_bytes, images))
    assert (merged.rows, merged.parts, merged.report.landmarks) == (2000, 4, 40)
    assert repr(merged) == "<sums of 2000 rows in 4 parts, over 40 landmarks>"
    agree(merged.solve(), whole, rows)
    assert merged.solve() is merged.solve() and merged.solve().solution.n == 2000
    parts[2] += parts[0]
    parts[2] += parts[1]
    agree(parts[2].solve(), whole, rows)


def test_rows_after_a_solution_are_in_the_next(rows, landmarks, whole):
    sums = sums_of(landmarks, rows[:900])
    first = sums.solve()
    assert first.solution.n == 900 and pickle.loads(pickle.dumps(first)).solution.n == 900
    sums.add(rows[900:])
    agree(sums.solve(), whole, rows)
    assert first.solution.n == 900
    assert nystream.Model.from_bytes(first.to_bytes()).solution is None
    sums.merge(sums_of(landmarks, rows[:9]))
    assert sums.solve().solution.n == 2009
    result = whole.store.fit("other", landmarks_points=landmarks, gamma=GAMMA, components=3,
                             until="sums")
    assert sums.add_result(result.store, "other").solve().solution.n == 4009


def test_rows_of_another_width_are_told_from_the_landmarks(rows, landmarks):
    sums = sums_of(landmarks)
    for given in (sums, sums_of(landmarks, rows[:9]), Sums.from_bytes(sums_of(landmarks, rows[:9])
                                                                      .to_bytes())):
        before = given.rows
        for X, columns in ((rows[:, :3], 3), (scipy.sparse.csr_matrix(np.c_[rows, rows]), 12)):
            refuses(nystream.DataError, f"^X has {columns} columns, but the landmarks 6$",
                    given.add, X)
        assert given.rows == before


def test_rows_of_any_kind(rows, landmarks, whole, tmp_path):
    np.save(tmp_path / "rows.npy", rows)
    pandas = pytest.importorskip("pandas")
    for given in (rows.tolist(), rows[:, ::-1][:, ::-1], tmp_path / "rows.npy",
                  pandas.DataFrame(rows), (rows[at:at + 300] for at in range(0, 2000, 300)),
                  [rows[:0], rows][1], iter([rows[:0], rows])):
        agree(sums_of(landmarks, given).solve(), whole, rows)
    assert sums_of(landmarks, rows[:0], iter([])).rows == 0


def test_rows_are_converted_to_the_type_of_the_landmarks(rows, landmarks):
    for sums in (sums_of(landmarks, rows[:500].astype("float32"), rows[500:]),
                 sums_of(landmarks.astype("float32"), rows, dtype="f64")):
        assert sums.report.dtype == "f64" and sums.rows == 2000
    sums = sums_of(landmarks, rows[:500].astype("uint8"), rows[500:], dtype="float32")
    again = Sums.from_bytes(sums.to_bytes()).add(rows[:9])
    assert again.report.dtype == "f32" and again.rows == 2009
    points = np.unique(np.abs(10 * landmarks).astype("uint8"), axis=0)
    refuses(ValueError, "rows of float64 do not fit in sums of uint8", sums_of, points, rows)
    with pytest.raises(ValueError, match="rows of float64 do not fit in sums of uint8"):
        sums_of(landmarks, dtype="uint8")
    refuses(ValueError, "dtype='int64' is not a type of rows", Sums, landmarks, dtype="int64")


def test_sparse_rows(tmp_path):
    X = scipy.sparse.random(600, 40, 0.1, "csr", random_state=1)
    store = stored(tmp_path / "s.nys", X)
    options = {"kernel": "cosine", "components": 3}
    distinct = X[np.unique(X[:50].toarray(), axis=0, return_index=True)[1]]
    result = store.fit("m", landmarks_points=distinct, **options)
    sums = Sums(distinct, **options).add(X[:200].tocoo()).add(iter([X[200:300], X[300:]]))
    agree(sums.solve(), result, X, 1e-5)
    agree(pickle.loads(pickle.dumps(sums)).solve(), result, X, 1e-5)


@pytest.mark.parametrize("options", [
    {"map": "diffusion", "averages": "landmarks"}, {"map": "laplacian", "averages": "landmarks"},
    {"map": "svd", "kernel": "laplacian"}, {"approx": "column", "averages": "landmarks"},
    {"approx": "orthonystrom", "averages": "landmarks"}, {"approx": "orthonystrom", "map": "svd"},
    {"precision": "f64", "kernel": "polynomial", "degree": 2, "coef0": 1.0}],
    ids=lambda options: "-".join(map(str, options.values())))
def test_maps_and_kernels(store, rows, landmarks, options):
    result = store.fit("one", landmarks_points=landmarks, gamma=GAMMA, components=3, **options)
    sums = sums_of(landmarks, rows[:800], **options).merge(
        sums_of(landmarks, rows[800:], **options))
    model = sums.solve()
    ours, theirs = model.transform(rows), result.embedding[:]
    assert ours.dtype == theirs.dtype
    assert np.abs(ours - theirs).max() <= 1e-5 * np.abs(theirs).max()


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32"])
def test_rows_of_each_type(tmp_path, rows, dtype):
    X = np.abs(40 * rows).astype(dtype)
    landmarks = np.unique(X[::50], axis=0)
    options = {"gamma": 2e-4, "components": 3}
    store = stored(tmp_path / "typed.nys", X)
    result = store.fit("one", landmarks_points=landmarks, **options)
    sums = Sums(landmarks, **options).add(X[:1]).add(X[1:700]).add(X[700:])
    assert sums.report.dtype == result.store.report.dtype
    agree(sums.solve(), result, X)


def test_pieces_of_what_is_large(monkeypatch, rows, landmarks, whole):
    monkeypatch.setattr(sums_module, "BATCH_BYTES", 300 * 6 * 8)
    sums = sums_of(landmarks, rows)
    assert sums.parts == 7
    agree(sums.solve(), whole, rows)
    sums = sums_of(landmarks, (rows[at:at + 100] for at in range(0, 2000, 100)))
    assert sums.parts == 7 and sums.rows == 2000
    X = scipy.sparse.random(600, 40, 0.1, "csr", random_state=1)
    assert 2 <= Sums(np.eye(40)[:20], kernel="cosine").add(X).parts <= 4


def test_what_fails_in_between_adds_nothing(monkeypatch, rows, landmarks):
    monkeypatch.setattr(sums_module, "BATCH_BYTES", 300 * 6 * 8)
    bad = rows.copy()
    bad[1700, 2] = np.nan
    for sums in (sums_of(landmarks), sums_of(landmarks, rows[:10])):
        before = sums.rows and sums.to_bytes()
        refuses(nystream.DataError, "NaN", sums.add, bad)
        assert (sums.rows and sums.to_bytes()) == before
        sums.add(rows)
        assert sums.rows == 2000 + (10 if before else 0)


def test_sums_are_freed_with_their_last_reference(monkeypatch, rows, landmarks):
    lib, alive = nystream._lib.lib, []
    free, new, load = lib.ny_sums_free, lib.ny_sums_new, lib.ny_sums_load

    def spy(function, step):
        def call(*arguments):
            alive.append(step)
            return function(*arguments)
        return call

    monkeypatch.setattr(lib, "ny_sums_free", spy(free, -1))
    monkeypatch.setattr(lib, "ny_sums_new", spy(new, 1))
    monkeypatch.setattr(lib, "ny_sums_load", spy(load, 1))
    monkeypatch.setattr(sums_module, "BATCH_BYTES", 300 * 6 * 8)
    sums = sums_of(landmarks, rows[:10])
    for _ in range(3):
        refuses(nystream.DataError, "", sums.add, np.where(np.arange(6) == 3, np.inf, rows))
        assert sum(alive) == 1
    sums.solve()
    del sums
    gc.collect()
    assert sum(alive) == 0 and len(alive) == 8


@slow
def test_results_of_stores(tmp_path, rows, landmarks, whole):
    options = {"landmarks_points": landmarks, "gamma": GAMMA, "components": 3}
    stores = [nystream.open(tmp_path / f"{k}.nys") for k in range(3)]
    for k, store in enumerate(stores):
        store.append(rows[k::3])
        result = store.fit("map", until="sums", **options)
        assert result.status == "summed" and result.report.stage == "solve"
    sums = Sums().add_result(stores[0], "map").add_result(stores[1].path, "map")
    sums.add_result(str(stores[2].path), "map")
    assert sums.rows == 2000 and sums.parts == 3
    model = sums.solve()
    agree(model, whole, rows)
    with pytest.raises(nystream.UsageError, match="has another gamma= than"):
        Sums(landmarks, components=3, gamma=0.5).add_result(stores[0], "map")
    refuses(nystream.UsageError, "", sums.add_result, stores[0], "map")
    sums.add(rows[:9])  # with the options of the results
    assert sums.rows == 2009
    model.save(tmp_path / "whole.nym")
    for given in (model, tmp_path / "whole.nym", str(tmp_path / "whole.nym")):
        placed = stores[0].fit("placed", model=given)  # the second time it is done already
        assert np.array_equal(placed.embedding[:], model.transform(rows[::3]))
    assert placed.report.n == 667 and placed.status == "done"
    refuses(nystream.UsageError, "", stores[0].fit, "placed", model=sums.solve())
    resumed = stores[1].result("map").resume()  # which goes on to a model of its own rows
    assert resumed.status == "done" and resumed.report.n == 667
    refuses(nystream.FileError, "", stores[0].fit, "x", model=tmp_path / "none.nym")


def test_parts_that_cannot_be_added(rows, landmarks):
    sums = sums_of(landmarks, rows[:500])
    before = sums.to_bytes()
    for other, words in (
            (sums_of(landmarks + 0.1, rows[500:]), "different landmarks"),
            (sums_of(landmarks[:30], rows[500:]), "different numbers of landmarks"),
            (Sums(landmarks, gamma=0.1, components=3).add(rows), "different values of gamma"),
            (Sums(landmarks, gamma=GAMMA).add(rows), "values of components="),
            (sums_of(landmarks, rows[:500]), "the sums of the same 500 rows")):
        refuses(nystream.UsageError, "", sums.merge, other)
    with pytest.raises(nystream.DataError, match="values of type f32, but the first part has f64"):
        sums.merge(sums_of(landmarks, rows, dtype="float32"))
    for X, words in ((np.ones((3, 5)), "6 columns|5 columns"), (np.full((3, 6), np.nan), "NaN"),
                     (np.ones(6), "2D")):
        refuses(ValueError, words, sums.add, X)
    assert Sums.from_bytes(before).merge(Sums(landmarks, gamma=GAMMA, components=3).add(
        rows[:500], part="another")).rows == 1000
    of_sparse = sums_of(landmarks, scipy.sparse.csr_matrix(rows[:9]))
    with pytest.raises(nystream.DataError, match="has sparse rows, but the first part has dense"):
        sums.merge(of_sparse)
    assert of_sparse.add(rows).rows == 2009
    assert sums.to_bytes() == before
    assert sums.merge(sums_of(landmarks)).to_bytes() == before  # it has no rows
    for _ in range(2):  # equal rows one after the other are different rows
        sums.add(rows[:1])
    assert sums.add(scipy.sparse.csr_matrix(rows[:1])).rows == 503


def test_sums_that_are_none(rows, landmarks):
    empty = sums_of(landmarks)
    assert repr(empty) == "<sums without rows>" and (empty.rows, empty.parts) == (0, 0)
    for call in (empty.solve, empty.to_bytes):
        refuses(nystream.UsageError, "no rows yet", call)
    refuses(nystream.UsageError, "", Sums().add, rows)
    refuses(nystream.UsageError, "landmarks=", Sums, gamma=1.0)
    refuses(nystream.UsageError, "gamma= as a number", Sums(landmarks).add, rows)
    refuses(nystream.UsageError, "kernel=", Sums, landmarks, kernel="rfb")
    refuses(nystream.UsageError, "neighbors= does not act", Sums, landmarks, neighbors=3)
    refuses(ValueError, "2D", Sums, 40, gamma=GAMMA)
    refuses(nystream.UsageError, "components", sums_of(landmarks, rows[:2]).solve)
    for image in (b"", b"x" * 100, sums_of(landmarks, rows[:9]).to_bytes()[:-1]):
        refuses(nystream.StoreError, "", Sums.from_bytes, image)


def test_pickles(rows, landmarks, whole):
    empty = pickle.loads(pickle.dumps(sums_of(landmarks, threads=1)))
    assert empty._context.threads == 1
    half = pickle.loads(pickle.dumps(empty.add(rows[:900])))
    solved = half.add(rows[900:]).solve()
    again = pickle.loads(pickle.dumps(half))
    assert np.array_equal(again.solve().transform(rows), solved.transform(rows))
    assert again.solve().solution == solved.solution
    agree(again.solve(), whole, rows)
    assert len(half.to_bytes()) < 8 * 40 * 40 + 40 * 6 * 16 + 8192


def test_landmarks_that_the_caller_changes_are_not_those_of_the_sums(rows, landmarks, whole):
    mine = landmarks.copy()
    empty = sums_of(mine)
    mine[:] = 0
    agree(pickle.loads(pickle.dumps(empty)).add(rows).solve(), whole, rows)


def _add_in_child(sums, rows, queue):
    queue.put((sums.add(rows).to_bytes(), sums.solve().solution.n))


@slow
def test_a_process_that_was_forked(rows, landmarks, whole):
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    for sums, rest in ((sums_of(landmarks), rows), (sums_of(landmarks, rows[:500]), rows[500:])):
        before = sums.rows
        child = context.Process(target=_add_in_child, args=(sums, rest, queue))
        child.start()
        image, n = queue.get(timeout=60)
        child.join()
        assert n == 2000 and sums.rows == before
        agree(Sums.from_bytes(image).solve(), whole, rows)


@slow
def test_threads_of_their_own(rows, landmarks, whole):
    parts = [sums_of(landmarks, threads=1) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(Sums.add, parts, [rows[k::4] for k in range(4)]))
    agree(functools.reduce(Sums.merge, parts).solve(), whole, rows)


@slow
def test_what_another_thread_adds_meanwhile_is_in_the_next_solution(monkeypatch, rows, landmarks):
    sums, solve = sums_of(landmarks, rows[:1000]), Sums._solve
    adding = threading.Thread(target=sums.add, args=(rows[1000:],))

    def add_meanwhile(*arguments):
        model = solve(*arguments)
        adding.start()
        adding.join(0.5)
        return model

    with monkeypatch.context() as patch:
        patch.setattr(Sums, "_solve", add_meanwhile)
        assert sums.solve().solution.n == 1000
    adding.join()
    assert sums.solve().solution.n == sums.rows == 2000


@slow
def test_an_add_that_fails_takes_back_no_rows_of_another_thread(monkeypatch, rows, landmarks):
    monkeypatch.setattr(sums_module, "BATCH_BYTES", 300 * 6 * 8)
    sums = sums_of(landmarks, rows[:10])
    adding = threading.Thread(target=sums.add, args=(rows[:100],))

    def pieces():
        for at in range(100, 1300, 300):
            yield rows[at:at + 300]
        adding.start()
        adding.join(0.5)
        raise ZeroDivisionError

    refuses(ZeroDivisionError, "", sums.add, pieces())
    adding.join()
    assert sums.rows == 110


def test_ctrl_c_at_the_end_of_a_piece(monkeypatch, rows, landmarks):
    monkeypatch.setattr(sums_module, "BATCH_BYTES", 300 * 6 * 8)
    put, seen = Sums._put, []

    def press_after_three(sums, batch, part):
        put(sums, batch, part)
        seen.append(batch.rows)
        if len(seen) == 3:
            raise KeyboardInterrupt("the call had already finished")

    monkeypatch.setattr(Sums, "_put", press_after_three)
    sums = sums_of(landmarks, rows[:10])
    refuses(KeyboardInterrupt, "^stopped; no row was added$", sums.add, rows)
    assert len(seen) == 3 and sums.rows == 10


@slow
@pytest.mark.parametrize("pieces", [1, 8])
def test_ctrl_c_adds_nothing(monkeypatch, pieces):
    X = np.random.default_rng(0).normal(size=(400_000, 8))
    monkeypatch.setattr(sums_module, "BATCH_BYTES", X.nbytes // pieces)

    def press_at_accumulate(progress):
        if progress.stage == "accumulate" and not pressed:
            pressed.append(progress)
            os.kill(os.getpid(), signal.SIGINT)

    pressed = []
    sums = Sums(X[:200], gamma=0.1, threads=1, progress=press_at_accumulate)
    refuses(KeyboardInterrupt, "stopped.*; no row was added", sums.add, X)
    assert pressed and sums.rows == 0
    assert sums.add(X[:100]).rows == 100


@pytest.mark.parametrize("launcher", ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"])
def test_processes_of_a_launcher_have_rows_of_their_own(monkeypatch, tmp_path, launcher):
    monkeypatch.setenv(launcher, "4")
    X = np.random.default_rng(0).normal(size=(300, 4))
    sums = Sums(X[:20], gamma=0.1, components=3).add(X)
    assert sums.solve().transform(X).shape == (300, 3)
    assert nystream.embed(X, landmarks=20).shape == (300, 2)
    store = stored(tmp_path / "own.nys", X)
    assert store.fit("map", landmarks=20).embedding.shape == (300, 2)
    assert store.graph("near", neighbors=3).neighbors.shape == (300, 3)
    with pytest.raises(nystream.UsageError):
        store.fit("shared", landmarks=20, peers=f"folder:2:{tmp_path}/meet")


@slow
@pytest.mark.parametrize("options", [{}, {"map": "pca", "approx": "exact"}])
def test_columns_in_another_order_are_found_by_their_names(rows, options, pandas):
    frame = pandas.DataFrame(rows, columns=list("abcdef"))
    turned, other = frame[list("fbdace")], frame.rename(columns={"c": "x"})

    def sums(*parts, landmarks=frame[::50]):
        made = Sums(None if options else landmarks, components=3,
                    gamma=None if options else GAMMA, **options)
        for part in parts:
            made.add(part)
        return Sums.from_bytes(made.to_bytes())  # whose names are those of the bytes

    def nameless(*parts):
        return sums(*parts, landmarks=rows[::50])

    # Sums over landmarks have the order of these; of the others the first rows decide. Sums without
    # names get those of the next.
    want = sums(frame[:900], frame[900:]).solve()
    for model in (sums(turned[:900], frame[900:]).solve(),
                  sums(frame[:900]).merge(sums(turned[900:])).solve(),
                  sums(turned[:900]).merge(sums(frame[900:])).solve(),
                  sums(frame[:300]).merge(sums(turned[300:900], turned[900:])).solve(),
                  sums(turned[:900]).add(frame[900:]).solve(),
                  nameless(rows[:900]).merge(sums(frame[900:])).solve()):
        assert sorted(model.column_names) == list("abcdef")
        # batches are cut in other places, and products of a batch are f32
        assert np.allclose(model.solution.eigenvalues, want.solution.eigenvalues, rtol=1e-7)
        for same in (model, pickle.loads(pickle.dumps(model)),
                     nystream.Model.from_bytes(model.to_bytes())):
            for X in (frame, turned):
                assert np.allclose(np.abs(same.transform(X)), np.abs(want.transform(frame)),
                                   atol=1e-4)
            refuses(nystream.DataError, "no column 'c'", same.transform, other)
    begun = sums(frame[:900])
    with pytest.raises(nystream.DataError, match="called 'x'|no column 'c'"):
        begun.merge(Sums(None if options else other[::50], components=3,
                         gamma=None if options else GAMMA, **options).add(other))
    refuses(nystream.DataError, "no column 'c'", begun.add, other)
    assert begun.rows == 900


@slow
def test_results_of_stores_with_other_orders_are_added(rows, tmp_path, pandas):
    frame = pandas.DataFrame(rows, columns=list("abcdef"))
    options = {"map": "pca", "approx": "exact", "components": 3}
    paths = [tmp_path / "a.nys", tmp_path / "b.nys"]
    for path, part in zip(paths, (frame[:900], frame.loc[900:, list("fbdace")])):
        store = stored(path, part)
        store.fit("sum", until="sums", **options)
    made = Sums().add_result(paths[0], "sum").add_result(paths[1], "sum").solve()
    want = Sums(**options).add(frame).solve()
    assert made.column_names == list("abcdef")
    assert np.allclose(made.solution.eigenvalues, want.solution.eigenvalues)
    assert np.allclose(made.transform(frame[list("cadbef")]), made.transform(frame))
