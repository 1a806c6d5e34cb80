"""Results as a shell shows them, their clusters, and the files that they write."""
import re

import numpy as np
import pytest
from conftest import stored

import nystream


def test_a_row_without_a_cluster_is_of_cluster_minus_one(tmp_path, rows):
    far = np.full((2, 6), 1e3) * [[1], [-1]]  # no landmark reaches them
    store = stored(tmp_path / "far.nys", np.vstack([rows, far]))
    with pytest.warns(nystream.NystreamWarning, match="no landmark reaches"):
        result = store.fit("map", map="laplacian", gamma=0.1, landmarks=100, select="uniform",
                           components=2, row_normalize=True)
        result.evaluate(measures="clusters", clusters=3)
    clusters = result.clusters
    assert clusters.dtype == np.int64 and repr(clusters) == "<clusters: 2002, int64>"
    assert np.array_equal(clusters[2000:], [-1, -1]) and clusters[2001] == -1
    assert np.array_equal(clusters[[0, 2001]], clusters[:][[0, 2001]])
    assert set(clusters[:2000].tolist()) == {0, 1, 2}
    result.export("clusters", tmp_path / "clusters.npy")
    written = np.load(tmp_path / "clusters.npy")
    assert written.dtype == np.int64 and np.array_equal(written, clusters[:])


def test_a_result_shows_its_size_and_its_error(tmp_path, store, result):
    shown = rf"<result 'map' of {re.escape(str(store.path))}: 2,000 × 3, right to (\S+) %>"
    error = float(re.fullmatch(shown, repr(result))[1])
    assert error == pytest.approx(100 * result.component_errors.max(), rel=0.06)
    graph = store.graph("near", neighbors=4)
    assert repr(graph) == f"<result 'near' of {store.path}: done>"
    assert repr(store.select("few", landmarks=20)) == f"<result 'few' of {store.path}: done>"
    result.report = nystream.Report({**result.report, "component_errors": None})
    assert repr(result) == f"<result 'map' of {store.path}: 2,000 × 3>"
    result.report = nystream.Report({**result.report, "status": "interrupted"})
    assert repr(result) == f"<result 'map' of {store.path}: interrupted>"
    result.report = nystream.Report({})
    assert "'map'" in repr(result)


def test_a_map_of_a_part_of_the_rows_shows_those(tmp_path):
    random = np.random.default_rng(2)
    rows = random.normal(size=(200, 3))
    rows[150:] += 1000  # another component, which has no place in the map
    store = stored(tmp_path / "two.nys", rows)
    with pytest.warns(nystream.NystreamWarning, match="component"):
        result = store.fit("map", map="isomap", neighbors=8, approx="exact", components=2)
    assert ": 150 × 2" in repr(result) and len(result.embedding) == 150


def test_a_file_alone_gets_the_embedding(tmp_path, result):
    expected = result.embedding[:]
    for number, given in enumerate((
            lambda file: result.export(file), lambda file: result.export(str(file)),
            lambda file: result.export(output=file), lambda file: result.export(part=file),
            lambda file: result.export("embedding", file),
            lambda file: result.export("embedding", str(file)),
            lambda file: result.export(part="embedding", output=file),
            lambda file: result.export(file, skip_damaged=True),
            lambda file: result.export("embedding", file, False))):
        file = tmp_path / f"{number}.npy"
        given(file)
        assert np.array_equal(np.load(file), expected), number
    result.export("eigenvalues", tmp_path / "values.npy")
    assert np.array_equal(np.load(tmp_path / "values.npy").ravel(), result.eigenvalues)


def test_an_export_that_lacks_a_file_or_has_two_is_answered(tmp_path, result, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for given in ("map.npy", "embedding"), ("embedding",), (), ("a.npy", "b.npy"):
        with pytest.raises(nystream.UsageError):
            result.export(*given)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["rows.nys"]
