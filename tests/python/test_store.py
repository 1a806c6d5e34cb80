"""Stores and results: rows in, parts out, plans, updates, pickles, processes."""
import gc
import multiprocessing
import os
import pickle
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse
from conftest import refuses, stored

import nystream
from nystream import _view

slow = pytest.mark.slow


@slow
@pytest.mark.parametrize("clusters", [3, 7])
def test_silhouettes_are_those_of_scikit_learn(tmp_path, clusters):
    metrics = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(5)
    X = random.normal(size=(1500, 4)) + 3 * random.integers(0, 3, 1500)[:, None]
    X[:9] = X[0]  # equal rows
    store = stored(tmp_path / "blobs.nys", X)
    result = store.fit("axes", map="pca", components=3)
    figures = result.evaluate(clusters=clusters)
    Y, found = result.embedding[:].astype(float), result.clusters[:]
    assert figures["silhouette_rows"] == 1500 and figures["silhouette_standard_error"] == 0
    assert abs(figures["silhouette"] - metrics.silhouette_score(Y, found)) < 1e-7
    tried = result.evaluate(measures="clusters", clusters_to=4)
    assert tried["clusters_tried"] == [2, 3, 4]
    assert tried["silhouette"] == max(tried["silhouettes"])
    assert figures["cluster_sizes"] == np.bincount(found.astype(int),
                                                   minlength=clusters).tolist()
    centres = np.array([Y[found == k].mean(axis=0) for k in range(clusters)])
    within = ((Y - centres[found]) ** 2).sum()
    share = 1 - within / ((Y - Y.mean(axis=0)) ** 2).sum()
    assert abs(figures["variance_between"] - share) < 1e-6
    some = result.evaluate(clusters=clusters, sample=300)
    assert some["silhouette_rows"] == 300 and 0 < some["silhouette_standard_error"] < 0.03
    difference = some["silhouette"] - figures["silhouette"]
    assert abs(difference) < 4 * some["silhouette_standard_error"]


def test_rows_come_back(store, rows):
    assert store.shape == (2000, 6) and len(store) == 2000 and store.dtype == np.float64
    assert np.array_equal(store[:], rows) and np.array_equal(np.asarray(store.points), rows)
    assert np.array_equal(store[10:20], rows[10:20])
    assert np.array_equal(store[[3, -1, 4]], rows[[3, -1, 4]])
    assert np.array_equal(store[5], rows[5]) and store[5, 2] == rows[5, 2]
    assert np.array_equal(store[10:3:-2, 1:3], rows[10:3:-2, 1:3])
    assert np.array_equal(store[rows[:, 0] > 8], rows[rows[:, 0] > 8])
    assert store[7:7].shape == (0, 6)
    assert np.array_equal(store.labels[:5], [0, 1, 2, 0, 1])


@pytest.mark.parametrize("key, words", [
    (2000, "rows 0 to 1999"), ([0, -2001], "rows 0 to 1999"), (1.5, "chosen by an integer"),
    (np.ones(3, bool), "mask")])
def test_a_wrong_index_is_an_index_error(store, key, words):
    with pytest.raises(IndexError, match=words):
        store[key]


def test_parts_of_a_result(result, rows):
    embedding = result.embedding
    assert embedding.shape == (2000, 3) and embedding.dtype == np.float32 and embedding.ndim == 2
    assert embedding.size == 6000 and len(embedding) == 2000
    assert repr(embedding) == "<embedding: 2000 × 3, float32>"
    whole = np.asarray(embedding)
    assert np.array_equal(embedding[100:300], whole[100:300])
    assert np.asarray(embedding, dtype=np.float64).dtype == np.float64
    refuses(ValueError, "on disk", embedding.__array__, copy=False)
    assert result.eigenvalues.shape == (3,) and np.all(np.diff(result.eigenvalues) <= 0)
    # The squared length of a column of kernel PCA is its eigenvalue.
    assert np.allclose((whole.astype(float) ** 2).sum(0), result.eigenvalues, rtol=1e-4)
    assert len(set(result.landmarks)) == 50 and result.landmarks.dtype == np.uint64
    assert result.residuals.shape == (2000,)
    assert 0 < result.trace_error < 1 and result.report.options.kernel == "rbf"
    assert result.status == "done" and result.store.results == ["map"]


def test_axes_of_linear_maps_turn_rows_into_coordinates(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 7)) @ rng.normal(size=(7, 7)) + 3
    few = scipy.sparse.random(900, 40, 0.1, "csr", random_state=0)
    wide = rng.normal(size=(60, 200))
    dense, sparse, wider = (nystream.open(tmp_path / f"{name}.nys") for name in "dsw")
    for store, rows in ((dense, X), (sparse, few), (wider, wide)):
        store.append(rows)
    for store, rows, options in (
            (dense, X, {"map": "pca", "approx": "exact"}),
            (dense, X, {"map": "pca", "landmarks": 7}),
            (dense, X / X.std(0), {"map": "pca", "scale": "standard", "approx": "exact"}),
            (dense, X, {"map": "svd", "kernel": "linear", "approx": "nystrom", "landmarks": 4}),
            (sparse, few.toarray(), {"map": "pca", "approx": "exact"}),
            (sparse, few.toarray(), {"map": "kpca", "kernel": "linear", "landmarks": 30}),
            (wider, wide, {"map": "kpca", "kernel": "linear", "approx": "exact"})):
        result = store.fit("map", components=3, precision="f64", restart=True, **options)
        Y = rows @ result.axes - result.embedding[:]
        assert result.axes.shape == (rows.shape[1], 3) and result.axes.dtype == np.float64
        assert np.abs(Y - Y.mean(axis=0)).max() < 1e-9 * np.abs(result.embedding[:]).max(), options
        if options.get("approx") == "exact":
            assert np.allclose(result.axes.T @ result.axes, np.eye(3), atol=1e-9)
        mean = result.store[:].mean(axis=0) if options["map"] == "pca" else 0
        assert result.mean.shape == (rows.shape[1],)
        assert np.allclose(result.mean, mean, rtol=1e-12, atol=1e-12), options
    chosen = wider.fit("few", map="pca", approx="exact", features="variance:50", components=3)
    assert set(np.flatnonzero(chosen.axes.any(axis=1))) == set(chosen.features)
    for options in ({"kernel": "rbf"}, {"map": "laplacian", "kernel": "cosine"}):
        with pytest.raises(nystream.UsageError):
            dense.fit("other", components=2, landmarks=20, restart=True, **options).axes


def test_a_graph_and_a_dictionary(store):
    graph = store.graph("near", neighbors=4, connect=True)
    assert graph.neighbors.shape == (2000, 4) and graph.distances.shape == (2000, 4)
    store.select("few", landmarks=20)
    of_few = store.fit("of-few", landmarks_from="few", select="given")
    assert np.array_equal(of_few.landmarks, store.result("few").landmarks)
    store.remove("of-few")
    assert store.results == ["few", "near"]


def test_landmarks_are_given_as_arrays(store, rows):
    numbers = np.arange(0, 2000, 100)
    by_number = store.fit("numbers", landmarks_file=numbers)
    by_point = store.fit("points", landmarks_points=rows[numbers])
    assert np.array_equal(by_number.landmarks, numbers)
    assert np.array_equal(by_number.embedding[:], by_point.embedding[:])
    assert np.array_equal(by_number.landmark_points, rows[numbers])
    centres = (rows[:20] + rows[20:40]) / 2
    fitted = store.fit("centres", landmarks_points=centres[:, ::-1][:, ::-1])
    assert np.array_equal(fitted.landmark_points, centres) and fitted.report["select"] == "given"
    with pytest.raises(nystream.UsageError):
        fitted.landmarks
    store.fit("centres", landmarks_points=centres)  # is done already
    with pytest.raises(nystream.UsageError, match="landmarks.points: table"):
        store.fit("centres", landmarks_points=centres + 1)
    store.append(rows[:50], labels=np.zeros(50))
    assert len(fitted.update().embedding) == 2050
    sparse = scipy.sparse.csr_matrix(np.where(centres > 0, centres, 0))
    assert store.fit("sparse", landmarks_points=sparse).landmark_points.shape == (20, 6)


def test_a_plan_says_what_a_fit_needs(store):
    plan = store.plan(landmarks=100)
    assert plan.fits and plan.seconds > 0 and plan.memory > 1 << 20
    small = store.plan(landmarks=2000, memory=20 << 20)
    assert not small.fits and small.memory > 20 << 20
    assert store.plan(landmarks=2000).fits  # the budget of one call was of that call
    assert "fits" in plan._repr_html_() and "does not fit" in small._repr_html_()
    assert type(pickle.loads(pickle.dumps(plan))) is nystream.Plan


def test_threads_and_memory_are_of_the_call_or_of_the_store(tmp_path, rows):
    store = nystream.open(tmp_path / "s.nys", memory="1G", threads=1)
    store.append(rows)
    assert store._context.memory_bytes == 1 << 30
    assert store.fit("one", landmarks=20).report.threads == 1
    assert store.fit("two", landmarks=20, threads=2, memory="900M").report.threads == 2
    assert store.fit("three", landmarks=20).report.threads == 1
    assert store._context.memory_bytes == 1 << 30


def test_an_update_is_seen_in_the_result_itself(store, result, rows):
    result.evaluate(clusters=3, measures="clusters")
    clusters, part = result.clusters[:], result.embedding
    store.append(rows[:100] + 0.01, labels=np.zeros(100))
    places = result.predict(rows[:100] + 0.01)
    assert len(part) == 2000
    assert result.update("frozen") is result
    assert len(result.embedding) == len(part) == 2100 and result.report.n == 2100
    assert np.array_equal(result.clusters[:], np.concatenate([clusters, places]))
    assert np.array_equal(result.predict(rows[:100] + 0.01), places)
    assert result.report.mode == "frozen" and result.resume() is result
    store.append(rows[:50] + 0.02, labels=np.zeros(50))
    assert store.result("map").update().embedding.shape == (2150, 3)


def test_a_result_is_judged_and_drawn(result, tmp_path):
    figures = result.evaluate(clusters=3, measures="clusters")
    assert figures.clusters == 3 and figures.accuracy > 0.9
    assert result.report["clustering"]["ari"] == figures.ari
    assert result.report["clustering"]["cluster_sizes"] == figures.cluster_sizes
    assert set(result.clusters[:]) == {0, 1, 2}
    assert (result.predict(result.store.points[:]) == result.clusters[:]).all()
    picture = result.plot(size="300x200")
    assert picture._repr_png_()[:8] == b"\x89PNG\r\n\x1a\n" and picture._repr_svg_() is None
    assert repr(picture).startswith("<Picture: png, ")
    drawn = result.plot(tmp_path / "picture.svg", axes=(2, 1))
    assert drawn.file == tmp_path / "picture.svg"
    assert drawn._repr_svg_().startswith("<?xml") and (tmp_path / "picture.svg").exists()
    page = result.html()
    assert page.text.lower().startswith("<!doctype html") and "srcdoc=" in page._repr_html_()
    assert "data:image/png" in result._repr_html_()
    assert f"alt='Coordinates 1 and 2 of {result.name}'" in result._repr_html_()
    assert f"<li>{result.report.certificate[0]}</li>" in result._repr_html_()


def test_export_and_files(store, result, tmp_path, rows):
    result.export("embedding", tmp_path / "y.npy")
    assert np.array_equal(np.load(tmp_path / "y.npy"), result.embedding[:])
    np.save(tmp_path / "x.npy", rows[:9])
    result.transform_file(tmp_path / "x.npy", tmp_path / "z.npy")
    assert np.array_equal(np.load(tmp_path / "z.npy"), result.embedding[:9])
    other = nystream.open(tmp_path / "other.nys")
    np.save(tmp_path / "x2.npy", rows[9:20])
    report = other.append_files(str(tmp_path / "x*.npy"))
    assert report.n == 20 and np.array_equal(other[:], rows[:20])
    assert other.append_files(tmp_path / "x.npy").n == 29


@pytest.mark.parametrize("map", ["isomap", "eigenmaps"])
def test_a_map_of_a_graph_places_rows(store, rows, map):
    result = store.fit("g", map=map, neighbors=8, connect=True)
    placed = result.transform(rows[:20] + 1e-4)
    assert placed.shape == (20, 2) and placed.dtype == result.embedding.dtype
    there = result.embedding[:20]
    assert np.linalg.norm(placed - there) < 0.3 * np.linalg.norm(there)


def test_embed_in_one_call(rows, tmp_path):
    places = nystream.embed(rows, components=3, landmarks=50, tmpdir=tmp_path)
    store = stored(tmp_path / "s.nys", rows)
    assert np.array_equal(places, store.fit("m", components=3, landmarks=50).embedding[:])
    assert os.listdir(tmp_path) == ["s.nys"]
    refuses(nystream.UsageError, "", nystream.embed, rows, kernel="none of them", tmpdir=tmp_path)
    assert os.listdir(tmp_path) == ["s.nys"]
    assert nystream.embed(rows, landmarks=20, precision="f64").dtype == np.float64


def test_pickles_hold_no_rows(store, result, rows):
    text = pickle.dumps((store, result, result.embedding))
    assert len(text) < 20_000
    store2, result2, part = pickle.loads(text)
    assert np.array_equal(store2[:3], rows[:3])
    assert np.array_equal(result2.embedding[:], part[:])
    assert result2.report == result.report and result2.report.map == "kpca"


def embed_in_child(part, model, store, rows, queue):
    queue.put((part[5], model.transform(rows[:5]), store[3],
               store.fit("child", landmarks=20).trace_error))


@slow
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes_read_and_fit(store, result, rows, method):
    model = result.model()
    store[0], result.embedding[0], model.transform(rows[:1])
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    child = context.Process(target=embed_in_child, args=(
        result.embedding, model, store, rows, queue))
    child.start()
    place, placed, row, error = queue.get(timeout=60)
    child.join()
    assert np.array_equal(place, result.embedding[5]) and np.array_equal(row, rows[3])
    assert np.array_equal(placed, model.transform(rows[:5]))
    assert store.result("child").trace_error == error
    assert np.array_equal(result.embedding[5], place)


def test_reports_are_dictionaries_with_attributes(result):
    report = result.report
    assert report.landmarks == report["landmarks"] == 50 and report.stages.select > 0
    assert "trace_error" in dir(report) and "gamma" in report._repr_html_()
    rows = r"<th scope='row'[^>]*>(\w+)</th><td[^>]*>([^<]*)</td>"
    told = dict(re.findall(rows, report._repr_html_()))
    assert told["n"] == "2,000" and told["seed"] == "0" and told["online"] == "no"
    assert re.fullmatch(r"[\d.]+ [KM]iB", told["bytes_read"]) and told["seconds"].endswith(" s")
    assert re.fullmatch(r"[\d.]+ [MG]iB", told["memory_budget_bytes"])
    with pytest.raises(AttributeError, match="has no landmark; it has .*landmarks"):
        report.landmark
    assert nystream.report.show_bytes(5 << 20) == "5.0 MiB"
    assert nystream.report.show_bytes(3 << 40) == "3.0 TiB"
    spelled = [nystream.report.show_seconds(s) for s in (0.0438, 59.96, 186.2, 3599.6, 7530)]
    assert spelled == ["0.0438 s", "1 min 00 s", "3 min 06 s", "1 h 00 min", "2 h 05 min"]


def test_a_store_is_read_while_it_is_written(store, result, rows):
    seen, stop = [], threading.Event()

    def read():
        while not stop.is_set():
            seen.append(np.array_equal(result.embedding[10:20], expected))

    expected = result.embedding[10:20]
    reader = threading.Thread(target=read)
    reader.start()
    store.fit("second", landmarks=200)
    stop.set()
    reader.join()
    assert seen and all(seen)


def test_two_threads_share_a_store(store):
    def fit(name):
        return store.fit(name, landmarks=60, seed=5).embedding[:]

    with ThreadPoolExecutor(2) as pool:
        assert np.array_equal(*pool.map(fit, "ab"))


def test_verify_reports_damage(store, tmp_path):
    assert store.verify().ok
    data = tmp_path / "rows.nys" / "points" / "data.mdb"
    store.close()
    text = bytearray(data.read_bytes())
    for at in range(len(text) // 2, len(text) // 2 + 4096):
        text[at] ^= 0xff
    data.write_bytes(text)
    with pytest.raises(nystream.StoreError) as failure:
        nystream.open(store.path).verify()
    assert failure.value.status == 5 and not failure.value.report["ok"]
    assert failure.value.report["rows_damaged"] > 0


def test_what_is_left_of_a_damaged_part_is_exported(store, tmp_path):
    result = store.fit("wide", landmarks=200, components=150, precision="f64", seed=1)
    rows = result.embedding[:]
    store.close()
    data = store.path / "results" / "data.mdb"
    text = bytearray(data.read_bytes())
    text[text.index(rows[0].tobytes())] ^= 0xff
    data.write_bytes(text)
    again = nystream.open(store.path).result("wide")
    refuses(nystream.StoreError, "", again.export, "embedding", tmp_path / "a.npy")
    with pytest.warns(nystream.NystreamWarning, match="damaged|cannot be read"):
        again.export("embedding", tmp_path / "a.npy", skip_damaged=True)
    left = np.load(tmp_path / "a.npy")
    there = np.isfinite(left).all(axis=1)
    assert not there[0] and there[-1] and np.array_equal(left[there], rows[there])


def test_compact_gives_room_back(store):
    for number in range(4):
        store.fit(f"m{number}", landmarks=200, components=50, select="uniform")
    for name in store.results:
        store.remove(name)
    report = store.compact()
    assert report.bytes < report.bytes_before and store.shape == (2000, 6)


def test_truncate_takes_rows_back(store, rows):
    before = store.report
    points = np.asarray(store.points[:])
    store.fit("kept", landmarks=20)
    store.append(rows[:30] * np.float32(1000))
    store.fit("bad", landmarks=20)
    assert [entry["first"] for entry in store.report.imports] == [0, 2000]
    refuses(nystream.UsageError, "", store.truncate, 2000)
    refuses(nystream.UsageError, "", store.truncate, 9999)
    refuses(nystream.UsageError, "", store.truncate, -1)
    report = store.truncate(2000, drop_results=True)
    assert report.rows_removed == 30 and report.removed == ["bad"] and store.results == ["kept"]
    assert len(store) == 2000 and np.array_equal(store.points[:], points)
    after = store.report
    assert all(after[key] == before[key] for key in before
               if key not in ("store_bytes", "results", "result_status"))


def test_rows_without_labels_follow_rows_with_them(store, rows):
    store.append(rows[:7])
    assert store.shape == (2007, 6)
    assert np.isnan(store.labels[2000:]).all() and not np.isnan(store.labels[:2000]).any()


def test_a_failed_append_leaves_the_store(store, rows):
    bad = rows[:10].copy()
    bad[4, 1] = np.nan
    for given in (bad, iter([rows[:5], bad])):
        refuses(nystream.DataError, "NaN", store.append, given)
    with pytest.raises(nystream.DataError, match=r"row 4, column 1 .both from 0.: NaN"):
        store.append(bad, labels=np.zeros(10))
    with pytest.raises(nystream.DataError, match="NaN"):
        store.append(iter([(rows[:5], np.zeros(5)), (bad, np.zeros(10))]))
    assert store.shape == (2000, 6)
    assert store.append(bad, labels=np.zeros(10), nan="drop").rows == 9


@slow
def test_two_hundred_fits_do_not_grow(tmp_path, rows):
    def resident():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    def work(count):
        for _ in range(count):
            nystream.embed(rows[:300], landmarks=10, tmpdir=tmp_path)
        gc.collect()

    work(30)
    before = resident()
    work(200)
    assert resident() - before < 12 << 20


def test_a_closed_view_opens_again(store, rows):
    view = _view.View(os.fsencode(store.path), None)
    assert np.array_equal(view.read("points", 3, 2), rows[3:5])
    view.close()
    view.close()
    assert np.array_equal(view.read("points", 3, 2), rows[3:5])
    with nystream.open(store.path) as same:
        assert same.shape == (2000, 6)
    assert same.shape == (2000, 6)


def test_batches(result):
    """A part is read array by array, all rows once and in order."""
    whole, pieces = result.embedding[:], list(result.embedding.batches(700))
    assert [len(piece) for piece in pieces] == [700, 700, 600]
    assert np.array_equal(np.concatenate(pieces), whole)
    assert [len(piece) for piece in result.embedding.batches()] == [2000]
    assert np.array_equal(np.concatenate(list(result.part("landmarks").batches(30))),
                          result.landmarks)


def test_what_is_shown(store, result):
    """Plans are told in a line, reports by the figures that apply, a line each."""
    plan = repr(store.plan(landmarks=50))
    assert re.fullmatch(r"<plan: fits, needs at least [\d.]+ MiB, about [\d.e-]+ s, 2 passes "
                        r"plus (about \d for )?landmark selection, [\d.]+ KiB on disk>", plan)
    lines = repr(result.report).splitlines()
    told = dict(line.split(maxsplit=1) for line in lines)
    assert told["status"] == "done" and told["landmarks"] == "50"
    assert told["eigenvalues"].count(",") == 2 and "probe_error" not in told
    assert "50 in all" in repr(nystream.Report({"many": list(range(50))}))


def test_what_a_store_shows(tmp_path, store, result):
    assert repr(store) == f"<store {store.path}: 2,000 rows × 6 columns, f64, dense; results: map>"
    assert "2,000 rows × 6 columns" in store._repr_html_() and "<table>" in store._repr_html_()
    new = nystream.open(tmp_path / "new.nys")
    assert repr(new) == f"<store {new.path}: no rows>" and "no rows" in new._repr_html_()
    (tmp_path / "none.nys").mkdir()
    (tmp_path / "none.nys" / "file").touch()
    none = nystream.open(tmp_path / "none.nys")
    assert "no store" in repr(none) and "no store" in none._repr_html_()


@pytest.mark.parametrize("sparse", [False, True])
def test_places_of_rows_with_missing_values(result, rows, sparse):
    bad = rows.copy()
    bad[[0, 7, 1999], [1, 0, 5]] = np.nan, np.inf, -np.inf
    X = scipy.sparse.csr_matrix(bad) if sparse else bad
    expected = result.transform(rows)
    expected[[0, 7, 1999]] = np.nan
    for place in result.transform, result.model().transform:
        assert np.allclose(place(X, nan="keep"), expected, equal_nan=True)
        assert np.array_equal(place(rows[:9], nan="keep"), place(rows[:9]))
        assert np.isnan(place(X[:1], nan="keep")).all()
        refuses(nystream.DataError, "row 0, column 1 .both from 0.: NaN", place, X)
        refuses(nystream.UsageError, "nan='drop' is neither", place, X, nan="drop")


@slow
def test_a_store_that_is_not_there_yet_is_empty(tmp_path):
    store = nystream.open(tmp_path / "new.nys")
    assert not store.exists and len(store) == 0 and store.results == []
    store.append(np.eye(4))
    assert store.exists and len(store) == 4 and store.results == []


@slow
def test_an_append_that_expects_rows_adds_them_once(tmp_path):
    store = stored(tmp_path / "new.nys", np.eye(4), expect_rows=0)
    refuses(nystream.UsageError, "4 rows", store.append, np.eye(4), expect_rows=0)
    assert len(store) == 4
