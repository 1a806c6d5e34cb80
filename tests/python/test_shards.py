"""Stores in shards: rows and results of all shards are read as those of one store."""
import multiprocessing

import numpy as np
import pytest
import scipy.sparse
from conftest import stored

import nystream


@pytest.fixture()
def rows():
    random = np.random.default_rng(3)
    return random.integers(0, 200, (5_000, 6)).astype(np.uint8)


def in_shards(path, rows, cuts=(2_048, 4_096), **options):
    """Append parts of rows, the last one first."""
    store = nystream.open(path)
    parts = np.split(np.arange(rows.shape[0]), cuts)
    labels = options.pop("labels", None)
    for number, part in reversed(list(enumerate(parts))):
        store.append(rows[part], None if labels is None else labels[part],
                     shard=f"{number}/{len(parts)}", **options)
    return store


def test_rows_are_those_of_all_shards(tmp_path, rows):
    labels = np.arange(5_000) % 3
    with in_shards(tmp_path / "big", rows, labels=labels) as store:
        assert store.shape == (5_000, 6) and store.dtype == np.uint8 and len(store) == 5_000
        np.testing.assert_array_equal(store[2_000:4_200], rows[2_000:4_200])
        chosen = [4_999, 0, 2_048, 2_047, 4_096]
        np.testing.assert_array_equal(store[chosen], rows[chosen])
        np.testing.assert_array_equal(store.labels[:], labels)
        assert store.report.n == 5_000 and store.report["shards"]["count"] == 3
        assert store.verify()["ok"]
        assert store.results == []


def test_sparse_rows_are_those_of_all_shards(tmp_path):
    rows = scipy.sparse.random(900, 40, 0.03, "csr", np.float32, random_state=1)
    with in_shards(tmp_path / "big", rows, (100, 101, 600)) as store:
        assert (store.to_csr() != rows).nnz == 0
        assert (store.to_csr(90, 700) != rows[90:700]).nnz == 0
        np.testing.assert_array_equal(store[99:102], rows[99:102].toarray())


def test_results_of_all_shards_are_one(tmp_path, rows):
    whole = stored(tmp_path / "one", rows)
    model = whole.fit("fit", landmarks=20, gamma=1e-4, components=3).model()
    wanted = whole.fit("map", model=model).embedding[:]
    store = in_shards(tmp_path / "big", rows)
    for number in range(3):
        if number == 2:
            assert store.result("map").status == "interrupted"
            with pytest.raises(nystream.UsageError):
                store.result("map").embedding[:]
        nystream.open(tmp_path / "big" / f"shard-{number:05d}").fit("map", model=model)
    result = store.result("map")
    assert result.status == "done" and result.report.n == 5_000
    np.testing.assert_array_equal(result.embedding[:], wanted)
    np.testing.assert_array_equal(result.embedding[2_040:2_060], wanted[2_040:2_060])
    np.testing.assert_array_equal(result.rows[2_046:2_050], range(2_046, 2_050))
    np.testing.assert_array_equal(result.model().transform(rows[:9]), wanted[:9])
    store.remove("map")
    assert store.results == []


@pytest.mark.parametrize("options", [{"components": 9}, {"seed": 1}])
def test_a_shard_that_is_fitted_anew_is_not_read_as_before(tmp_path, rows, options):
    store = in_shards(tmp_path / "big", rows)
    model = nystream.open(store.path / "shard-00000").fit("fit", landmarks=20).model()
    for number in range(3):
        nystream.open(store.path / f"shard-{number:05d}").fit("map", model=model)
    part = store.result("map").embedding
    first, last = part[:2], part[-2:]
    assert np.array_equal(part[:2], first)
    nystream.open(store.path / "shard-00002").fit("map", landmarks=20, restart=True, **options)
    for end in slice(2), slice(-2, None):
        with pytest.raises(nystream.UsageError):
            part[end]
    assert last.shape == (2, 2)


def test_names_of_rows_are_those_of_all_shards(tmp_path, pandas):
    names = [f"row {i}" for i in range(90)]
    frame = pandas.DataFrame(np.random.default_rng(0).normal(size=(90, 3)), names, list("abc"))
    store = nystream.open(tmp_path / "big")
    for number in (2, 0, 1):
        store.append(frame[number * 30:number * 30 + 30], shard=f"{number}/3")
    assert list(store.row_names[:]) == names and list(store.column_names) == list("abc")
    assert list(store.row_names[28:62]) == names[28:62]
    model = nystream.open(store.path / "shard-00000").fit("fit", landmarks=9, gamma=.1).model()
    for number in range(3):
        nystream.open(store.path / f"shard-{number:05d}").fit("map", model=model)
    assert list(store.result("map").row_names[25:65]) == names[25:65]
    with pytest.raises(nystream.DataError, match="names of rows"):
        other = stored(tmp_path / "other", frame, shard="0/2")
        other.append(pandas.DataFrame(frame.to_numpy(), columns=list("abc")), shard="1/2")


def test_graphs_are_those_of_one_store(tmp_path, rows):
    store = in_shards(tmp_path / "big", rows)
    one = stored(tmp_path / "one", rows)
    for of in (store, one):
        of.graph("near", neighbors=7, connect=True)
        of.fit("map", map="isomap", graph="near", landmarks=40, components=2)
    for name, part in (("near", "neighbors"), ("near", "distances"), ("map", "embedding")):
        assert np.array_equal(store.result(name).part(part), one.result(name).part(part))
    assert sorted(store.results) == ["map", "near"]
    assert np.array_equal(store.result("map").transform(rows[:9]),
                          one.result("map").transform(rows[:9]))


def test_what_cannot_be_is_refused(tmp_path, rows):
    store = in_shards(tmp_path / "big", rows)
    batches = (rows[first:first + 900] for first in range(0, 5_000, 900))
    assert nystream.open(tmp_path / "other").append(batches, shard="1/2")["shard"] == 1
    with pytest.raises(nystream.DataError, match="shard 0 of .* of type f32, but .* has u8"):
        nystream.open(tmp_path / "other").append(rows.astype(np.float32), shard="0/2")
    with pytest.raises(nystream.UsageError, match="lacks 1 of its 2 shards"):
        nystream.open(tmp_path / "other")[:3]
    n = store.append(rows[:7]).n
    assert n == 5_000 - 4_096 + 7 and len(store) == 5_007


def test_a_fit_of_all_shards_is_that_of_one_store(tmp_path, rows):
    store = in_shards(tmp_path / "big", rows)
    one = stored(tmp_path / "one", rows)
    options = {"map": "svd", "landmarks": 30, "components": 3, "seed": 2}
    ours, theirs = store.fit("map", **options), one.fit("map", **options)
    assert ours.report["n"] == len(rows) and ours.report["sharded"]["shards"] == 3
    np.testing.assert_allclose(ours.embedding[:], theirs.embedding[:], atol=1e-6)
    assert store.fit("map", **options).report["n"] == len(rows)  # it is done already


def test_rows_that_come_later_are_placed_by_the_model_of_all_shards(tmp_path, rows):
    store = in_shards(tmp_path / "big", rows)
    one = stored(tmp_path / "one", rows)
    results = [each.fit("map", landmarks=30, components=3) for each in (store, one)]
    for each in (store, one):
        each.append(rows[::-1][:900])
    ours, theirs = (result.update("frozen") for result in results)
    assert ours.report["n"] == 5_900 and ours.report["updates"] == 1
    np.testing.assert_allclose(ours.embedding[:], theirs.embedding[:], atol=1e-6)
    np.testing.assert_array_equal(ours.embedding[5_000:], ours.transform(rows[::-1][:900]))
    assert ours.resume().report["n"] == 5_900  # nothing was interrupted
    ours, theirs = (result.update() for result in results)  # into the model
    np.testing.assert_allclose(ours.embedding[:], theirs.embedding[:], atol=1e-6)
    with pytest.raises(nystream.UsageError):
        nystream.open(store.path / "shard-00002").result("map").update("frozen")


def fit_with_another(path, meeting):
    """Fit the shards of a store in one of two processes, which meet in a folder."""
    store = nystream.open(path)
    result = store.fit("together", landmarks=30, components=3, peers=f"folder:2:{meeting}")
    return result.report.status, result.embedding[:]


def deal_with_another(path, files, meeting):
    """Import files into the shards of a store in one of two processes."""
    store = nystream.open(path)
    report = store.append_files(files, shards=2, peers=f"folder:2:{meeting}")
    return report.get("rows"), len(store)


def test_processes_share_the_work_on_shards(tmp_path, rows):
    store = in_shards(tmp_path / "big", rows)
    alone = store.fit("alone", landmarks=30, components=3).embedding[:]
    np.save(tmp_path / "rows.npy", rows)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        both = [pool.apply_async(fit_with_another, (store.path, tmp_path / "meet"))
                for _ in range(2)]
        for status, places in [each.get(60) for each in both]:
            assert status == "done"
            np.testing.assert_array_equal(places, alone)
        both = [pool.apply_async(deal_with_another, (tmp_path / "dealt", tmp_path / "rows.npy",
                                                     tmp_path / "meet")) for _ in range(2)]
        assert {each.get(60) for each in both} == {(5_000, 5_000), (None, 5_000)}


def test_rows_of_files_are_dealt_out_to_shards(tmp_path, rows):
    for number, part in enumerate(np.array_split(rows, 2)):
        np.save(tmp_path / f"part-{number}.npy", part)
    with nystream.open(tmp_path / "big") as store:
        report = store.append_files(tmp_path / "part-*.npy", shards=3)
        assert report["n"] == report["rows"] == 5_000 and report["shard"] is None
        np.testing.assert_array_equal(store[:], rows)
        sizes = [shard["n"] for shard in store.report["shards"]["list"]]
        assert sizes == [2_048, 2_048, 904]
        with pytest.raises(nystream.UsageError):
            store.append_files(tmp_path / "part-*.npy", shards=3)
        with pytest.raises(nystream.UsageError):
            store.append(rows[:9], shards=3)
