"""Fits that are made again: by name in a store, in a store that is given, after a failure."""
import os
import pickle

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402

from conftest import refuses  # noqa: E402
import nystream  # noqa: E402
from nystream.estimators import PCA, Isomap, KernelPCA, SpectralClustering  # noqa: E402
from nystream.neighbors import KNeighborsTransformer  # noqa: E402

pytestmark = pytest.mark.slow


# ---- by name -----------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [
    KernelPCA(n_landmarks=40), SpectralClustering(3, n_landmarks=40), Isomap(n_landmarks=50),
    KNeighborsTransformer()], ids=repr)
def test_a_fit_in_a_store_is_there_when_it_is_asked_again(tmp_path, rows, estimator):
    estimator.set_params(store=tmp_path / "s.nys").fit(rows)
    seed, begun = estimator.seed_, estimator.report_["total_seconds"]
    estimator.fit(rows)
    assert estimator.report_["total_seconds"] == begun  # nothing was computed
    if not isinstance(estimator, KNeighborsTransformer):  # whose exact search has no seed
        assert estimator.seed_ == seed


def test_a_fit_that_was_stopped_goes_on_with_its_seed(tmp_path):
    def stop(progress):
        if progress.stage == "accumulate":
            raise ZeroDivisionError

    X = np.random.default_rng(1).normal(size=(60_000, 16)).astype("float32")
    ours = KernelPCA(n_landmarks=900, n_jobs=1, store=tmp_path / "s.nys", verbose=stop)
    refuses(ZeroDivisionError, "", ours.fit, X)
    seed = ours.seed_
    assert nystream.open(ours.store).result("KernelPCA").status == "interrupted"
    refuses(nystream.UsageError, "", clone(ours).set_params(n_components=3).fit, X)
    assert ours.set_params(verbose=False).fit(X).seed_ == seed
    told = KernelPCA(n_landmarks=900, random_state=seed).fit(X)
    assert np.array_equal(ours.eigenvalues_, told.eigenvalues_)


def test_a_seed_that_is_given_is_kept_to(tmp_path, rows):
    ours = KernelPCA(n_landmarks=40, store=tmp_path / "s.nys").fit(rows)
    ours.set_params(random_state=ours.seed_ + 1)
    refused = refuses(nystream.UsageError, "exists with other options", ours.fit, rows)
    assert "restart" not in str(refused)
    advice = "give another name=, or remove this one: nystream.open(STORE).remove('KernelPCA')"
    assert str(refused).endswith(advice)
    nystream.open(tmp_path / "s.nys").remove("KernelPCA")
    assert ours.fit(rows).seed_ == ours.random_state


@pytest.mark.parametrize("killed", [False, True], ids=["an empty folder", "killed"])
@pytest.mark.parametrize("make", [
    lambda path, rows, file: nystream.open(path).append(rows),
    lambda path, rows, file: nystream.open(path).append(iter([rows[:900], rows[900:]])),
    lambda path, rows, file: nystream.open(path).append_files(file),
    lambda path, rows, file: KernelPCA(n_landmarks=20, store=path).fit(rows)],
    ids=["append", "pieces", "file", "fit"])
def test_a_store_that_is_not_whole_is_made_by_the_next_call(tmp_path, rows, make, killed):
    """A process that is killed at once leaves the beginnings of a store."""
    path = tmp_path / "s.nys"
    path.mkdir()
    store = nystream.open(path)
    assert not store.exists and len(store) == 0 and store.results == []
    if killed:
        (path / "locks").mkdir()
        (path / "locks" / "create.lock").touch()
        (path / "points.new").mkdir()
        (path / "points.new" / "data.mdb").write_text("half")
        refuses(nystream.FileError, "", len, store)
    np.save(tmp_path / "rows.npy", rows)
    make(path, rows, tmp_path / "rows.npy")
    assert store.exists and np.allclose(store[:], rows, atol=1e-5)


# ---- of a store --------------------------------------------------------------------------------


def test_the_limits_of_an_estimator_hold_for_a_store(store):
    seen = []
    ours = KernelPCA(n_landmarks=30, n_jobs=1, memory="400M", verbose=seen.append).fit(store)
    assert ours.report_["threads"] == 1 and ours.report_["memory_budget_bytes"] == 400 << 20
    assert seen
    with pytest.raises(nystream.BudgetError):
        KernelPCA(n_landmarks=1500, memory="60M", name="large").fit(store)


def test_a_store_has_its_own_limits_where_none_are_given(tmp_path, rows):
    store = nystream.open(tmp_path / "s.nys", memory="500M", threads=1)
    store.append(rows)
    for options, budget in ({}, 500), ({"n_jobs": 1}, 500), ({"memory": "400M"}, 400):
        report = KernelPCA(n_landmarks=30, name=str(options)[2:8] or "plain", **options).fit(
            store).report_
        assert (report["threads"], report["memory_budget_bytes"]) == (1, budget << 20)


def test_a_model_that_is_pickled_keeps_its_limits(result):
    store = nystream.open(result.store.path, memory="300M", threads=1)
    model = pickle.loads(pickle.dumps(store.result("map").model()))
    assert (model._context.memory, model._context.threads) == ("300M", 1)


@pytest.mark.parametrize("estimator", [PCA(3), Isomap(n_landmarks=50)], ids=["pca", "isomap"])
def test_rows_that_an_earlier_fit_of_a_store_lacks_are_told(store, rows, estimator):
    before = estimator.fit(store).eigenvalues_
    store.append(rows[:500], labels=np.zeros(500))
    with pytest.warns(nystream.NystreamWarning):
        estimator.fit(store)
    assert np.array_equal(estimator.eigenvalues_, before)
    if isinstance(estimator, PCA):
        assert estimator.n_samples_ == 2000
        assert np.allclose(estimator.explained_variance_, before / 1999, rtol=1e-12)


# ---- after a failure ---------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [
    KernelPCA(n_landmarks=30), KernelPCA(n_landmarks=30, kernel="typo"), Isomap(n_landmarks=50),
    SpectralClustering(3, n_landmarks=30), SpectralClustering(3, n_init=-1),
    KNeighborsTransformer(n_neighbors=3)], ids=repr)
def test_a_fit_that_fails_leaves_no_folder(folders, rows, estimator):
    def stop(progress):
        raise ZeroDivisionError

    if getattr(estimator, "kernel", "") != "typo" and getattr(estimator, "n_init", 1) > 0:
        estimator.set_params(verbose=stop)
    kept = []
    for _ in range(2):
        try:
            estimator.fit(rows)
        except (ZeroDivisionError, ValueError) as error:
            kept.append(error)  # its traceback holds what the fit had
    assert len(kept) == 2 and folders() == []


def test_an_earlier_fit_outlives_one_that_fails(rows):
    ours = Isomap(n_landmarks=50, random_state=0).fit(rows)
    places = ours.transform(rows[:5])
    refuses(ValueError, "", ours.set_params(metric="typo").fit, rows)
    assert np.array_equal(ours.transform(rows[:5]), places)


# ---- verbose -----------------------------------------------------------------------------------


@pytest.mark.parametrize("verbose", [1, 2, np.True_, "yes"])
def test_any_true_verbose_is_a_bar(rows, verbose, capsys):
    pytest.importorskip("tqdm")
    with_bar = KernelPCA(n_landmarks=200, verbose=verbose, random_state=0).fit(rows)
    assert "%" in capsys.readouterr().err
    copy = pickle.loads(pickle.dumps(with_bar))
    assert np.array_equal(copy.transform(rows[:9]), with_bar.transform(rows[:9]))


def test_a_true_progress_is_a_bar(store, capsys):
    pytest.importorskip("tqdm")
    nystream.open(store.path, progress=1).fit("map", landmarks=40)
    assert "%" in capsys.readouterr().err


# ---- after a fork ------------------------------------------------------------------------------


def said_in_child(call):
    """Return what a call raises in a process that is forked."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            call()
        except BaseException as error:
            os.write(writing, f"{type(error).__name__}: {error}".encode())
        os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as pipe:
        return pipe.read()


@pytest.mark.parametrize("call", [
    lambda model, sums: model.transform(np.ones((3, 2))),
    lambda model, sums: sums.add_result("/nowhere.nys", "map"),
    lambda model, sums: nystream.Sums.add(sums, np.full((3, 6), np.nan))])
def test_an_error_in_a_forked_process_has_its_words(result, rows, call):
    sums = nystream.Sums(rows[:20], gamma=0.1, components=2).add(rows)
    model = result.model()
    expected = refuses(nystream.NystreamError, "", call, model, sums)
    said = said_in_child(lambda: call(model, sums))
    assert said == f"{type(expected).__name__}: {expected}"
