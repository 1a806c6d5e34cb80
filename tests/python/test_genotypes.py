"""Genotypes of PLINK: components, p-values, shrinkage and projection beside numpy's."""
import shutil
import subprocess

import numpy as np
import pytest

import nystream

slow = pytest.mark.slow
CODES = np.array([3, 2, 0, 1], dtype=np.uint8)  # 0, 1, 2 first alleles have these, and none
MISSING = 3


def write_bed(path, counts, swapped=None):
    """Write rows of samples as PATH.bed, .bim and .fam; columns in `swapped` have A2 as A1."""
    n, d = counts.shape
    swapped = np.zeros(d, bool) if swapped is None else swapped
    turned = np.where(swapped & (counts != MISSING), 2 - counts, counts).astype(np.uint8)
    codes = np.pad(CODES[turned].T, ((0, 0), (0, -n % 4))).reshape(d, -1, 4)
    packed = (codes << np.arange(0, 8, 2, dtype=np.uint8)).sum(axis=2).astype(np.uint8)
    path.with_suffix(".bed").write_bytes(b"\x6c\x1b\x01" + packed.tobytes())
    path.with_suffix(".fam").write_text("".join(f"F S{i} 0 0 0 -9\n" for i in range(n)))
    path.with_suffix(".bim").write_text("".join(
        f"1 rs{j} 0 {j + 1} {'CA' if swap else 'AC'}\n".replace("AC", "A C").replace("CA", "C A")
        for j, swap in enumerate(swapped)))
    return path.with_suffix(".bed")


def cohort(rng, n, d, fst=0.05, populations=4, missing=0.03):
    """Return n x d counts of populations as Balding and Nichols have them, and the populations."""
    p = rng.uniform(0.05, 0.95, d)
    spread = (1 - fst) / fst
    of = rng.beta(p * spread, (1 - p) * spread, (populations, d))
    which = np.arange(n) % populations
    counts = rng.binomial(2, of[which]).astype(np.uint8)
    return np.where(rng.random((n, d)) < missing, MISSING, counts).astype(np.uint8), which


def scaled(counts, of=None):
    """Return (g - 2p) / sqrt(2p(1 - p)) with 0 for what is missing, p of the rows `of`."""
    there = np.ma.masked_equal(counts if of is None else of, MISSING).astype(float)
    p = there.mean(axis=0).filled(0) / 2
    factor = np.sqrt(2 * p * (1 - p))
    z = np.where(factor > 0, (counts - 2 * p) / np.where(factor > 0, factor, 1), 0)
    return np.where(counts == MISSING, 0, z)


def run(*words):
    """Run the command, and return what it says."""
    done = subprocess.run([shutil.which("nystream"), *map(str, words)], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr


def imported(tmp_path, counts):
    """Return the store g.nys of counts, imported from a file."""
    run("import", tmp_path / "g.nys", write_bed(tmp_path / "g", counts), "-q")
    return nystream.open(tmp_path / "g.nys")


def fit(store, *options, name="map"):
    """Fit by the command, and return the result."""
    run("fit", store.path, name, *options, "-q")
    return store.result(name)


def placed_by(store, rows):
    """Return where the command places the rows of a .bed file."""
    run("transform", store.path, "map", "--input", rows, "-o", store.path.parent / "new.npy", "-q")
    return np.load(store.path.parent / "new.npy")


def fitted(tmp_path, counts, components=6, *options):
    """Return the store of a fit of counts, imported from a file."""
    store = imported(tmp_path, counts)
    fit(store, "--map", "pca", "--components", components, *options)
    return store


@pytest.mark.parametrize("n, d", [pytest.param(300, 2500, marks=slow),
                                  pytest.param(2500, 300, marks=slow), (600, 600)])
def test_components_are_those_of_the_scaled_genotypes(tmp_path, n, d):
    counts, _ = cohort(np.random.default_rng(n), n, d, fst=0.1)
    counts[:, 5] = 0
    counts[:, 7] = MISSING
    store = fitted(tmp_path, counts, 3, "--tol", "1e-7")
    u, s, _ = np.linalg.svd(scaled(counts), full_matrices=False)
    found = store.result("map")
    assert np.allclose(found.report["eigenvalues"], s[:3] ** 2, rtol=1e-6)
    ours = found.embedding[:]
    cosines = np.abs((ours * u[:, :3]).sum(axis=0)) / np.linalg.norm(ours, axis=0)
    assert np.all(np.abs(cosines - 1) < 1e-6)
    assert np.isclose(found.report["trace"], (s ** 2).sum(), rtol=1e-6)


def test_points_are_the_counts_of_the_file_in_any_order(tmp_path):
    counts = np.random.default_rng(13).integers(0, 4, (1501, 2001)).astype(np.uint8)
    run("import", tmp_path / "g.nys", write_bed(tmp_path / "g", counts), "--shuffle", "-q")
    run("export", tmp_path / "g.nys", "--part", "source", "-o", tmp_path / "source.npy", "-q")
    source = np.load(tmp_path / "source.npy").ravel()
    assert np.any(source != np.arange(1501))
    assert np.array_equal(nystream.open(tmp_path / "g.nys").points[:], counts[source])


@slow
def test_noise_is_told_and_not_waited_for(tmp_path):
    counts, _ = cohort(np.random.default_rng(1), 800, 6000)
    store = fitted(tmp_path, counts, 10)
    report = store.result("map").report
    assert report["components_above_noise"] == 3
    assert max(report["component_p_values"][:3]) < 1e-6
    assert min(report["component_p_values"][3:6]) > 0.05
    assert report["passes"] < 30
    assert float(report["certificate"][1].split("at most ")[1].split(" above noise")[0]) < 1e-3
    assert float(str(store.result("map")).split("right to ")[1].split()[0]) < 0.1
    values = np.linalg.svd(scaled(counts), compute_uv=False)[:10] ** 2
    assert np.allclose(report["eigenvalues"][:3], values[:3], rtol=1e-4)
    assert np.allclose(report["eigenvalues"][3:], values[3:], rtol=0.05)


@slow
@pytest.mark.parametrize("missing", [0, 0.1])
def test_new_samples_shrink_as_much_as_is_told(tmp_path, missing):
    rng = np.random.default_rng(2)
    counts, which = cohort(rng, 1200, 4000, fst=0.03, missing=missing)
    store = fitted(tmp_path, counts[:800], 4)
    told = np.array(store.result("map").report["component_shrinkage"][:3], float)
    placed = placed_by(store, write_bed(tmp_path / "new", counts[800:]))
    ours = store.result("map").embedding[:]
    def means(rows, of):
        return np.array([rows[of == k].mean(axis=0) for k in range(4)])[:, :3]
    there, come = means(ours, which[:800]), means(placed, which[800:])
    assert np.allclose((there * come).sum(axis=0) / (there ** 2).sum(axis=0), told, atol=0.03)
    assert told.max() < 0.99 / (1 - missing)
    assert abs(store.result("map").report["genotypes_missing"] - missing) < 1e-3


@pytest.mark.parametrize("precision", ["f32", pytest.param("f64", marks=slow)])
def test_missing_genotypes_are_made_up_for_by_least_squares(tmp_path, precision):
    rng = np.random.default_rng(3)
    counts, _ = cohort(rng, 500, 1500, fst=0.1)
    known, new = counts[:400], counts[400:].copy()
    new[rng.random(new.shape) < np.linspace(0, 0.9, 100)[:, None]] = MISSING
    new[89:] = MISSING  # there is nothing to go by
    for i in range(89, 99):  # nor are two genotypes enough for three components
        new[i, 2 * i:2 * i + 2] = [0, 2]
    store = fitted(tmp_path, known, 3, "--precision", precision, "--tol", "1e-8")
    placed = placed_by(store, write_bed(tmp_path / "new", new))
    v = np.linalg.svd(scaled(known), full_matrices=False)[2][:3].T
    signs = np.sign((store.result("map").embedding[:] * (scaled(known) @ v)).sum(axis=0))
    z = scaled(new, known)
    assert np.allclose(placed[89:], signs * (z[89:] @ v), atol=1e-4 * np.abs(placed).max())
    for i in range(89):
        there = new[i] != MISSING
        wanted = signs * np.linalg.lstsq(v[there], z[i][there], rcond=None)[0]
        assert np.allclose(placed[i], wanted, atol=2e-3 * np.abs(wanted).max()), i
    run("import", tmp_path / "g.nys", tmp_path / "new.bed", "--append", "-q")
    assert np.allclose(fit(store, "--update", "frozen").embedding[:][400:], placed,
                       atol=1e-4 * np.abs(placed).max())


def test_kernels_take_what_is_missing_as_the_mean(tmp_path):
    counts, _ = cohort(np.random.default_rng(4), 200, 300)
    store = imported(tmp_path, counts)
    z = scaled(counts)
    squares = ((z[:, None] - z[None]) ** 2).sum(axis=2)
    for scale in ["binomial", "standard"]:
        if scale == "standard":
            there = np.ma.masked_equal(counts, MISSING).astype(float)
            mean, spread = there.mean(axis=0).filled(0), there.std(axis=0).filled(1)
            z = np.where(counts == MISSING, 0, (counts - mean) / spread)
            squares = ((z[:, None] - z[None]) ** 2).sum(axis=2)
        gamma = 1 / np.median(squares[squares > 0])
        kernel = np.exp(-gamma * squares)
        kernel -= kernel.mean(axis=0)
        kernel -= kernel.mean(axis=1, keepdims=True)
        report = fit(store, "--approx", "exact", "--gamma", gamma, "--scale", scale, "--components",
                     3, "--precision", "f64", name=scale).report
        values = np.linalg.eigvalsh(kernel)[::-1][:3]
        assert np.allclose(report["eigenvalues"], values, rtol=1e-6)


def test_rows_that_are_appended_count_the_same_alleles(tmp_path):
    rng = np.random.default_rng(5)
    counts, _ = cohort(rng, 300, 400)
    store = fitted(tmp_path, counts[:200])
    swapped = rng.random(400) < 0.3
    said = run("import", tmp_path / "g.nys", write_bed(tmp_path / "new", counts[200:], swapped),
               "--append")
    assert f"{swapped.sum()} variants are counted by their other allele" in said
    assert np.array_equal(store.points[:], counts)


def test_variants_that_a_file_lacks_are_missing(tmp_path):
    rng = np.random.default_rng(15)
    counts, _ = cohort(rng, 400, 1200, fst=0.1)
    store = fitted(tmp_path, counts[:300], 3)
    chip = rng.permutation(1200)[:800]
    counts[300:, np.setdiff1d(np.arange(1200), chip)] = MISSING
    placed = placed_by(store, write_bed(tmp_path / "all", counts[300:]))
    new = write_bed(tmp_path / "chip", np.c_[counts[300:, chip], counts[300:, :1]])
    new.with_suffix(".bim").write_text("".join(f"1 rs{j} 0 {j + 1} A C\n" for j in [*chip, 9999]))
    assert np.array_equal(placed_by(store, new), placed)
    said = run("import", store.path, new, "--append")
    assert "lacks 400, which are missing in its rows; 1 others are left out" in said
    assert np.array_equal(store.points[:], counts)


def test_alleles_that_the_other_strand_has_too_are_told(tmp_path):
    pairs = [(a, b) for a in "ACGT" for b in "ACGT" if a != b]
    counts, _ = cohort(np.random.default_rng(12), 40, len(pairs))
    for name, order in [("old", 1), ("new", -1)]:
        write_bed(tmp_path / name, counts)
        (tmp_path / name).with_suffix(".bim").write_text("".join(
            f"1 rs{j} 0 {j} {' '.join(pair[::order])}\n" for j, pair in enumerate(pairs)))
    run("import", tmp_path / "g.nys", tmp_path / "old.bed", "-q")
    said = run("import", tmp_path / "g.nys", tmp_path / "new.bed", "--append")
    assert "12 variants are counted by their other allele" in said
    assert "4 of them are A/T or C/G" in said


@pytest.mark.parametrize("rule", ["maf:0.2", "missing:0.03"])
def test_variants_are_chosen(tmp_path, rule):
    counts, _ = cohort(np.random.default_rng(6), 300, 500)
    result = fit(imported(tmp_path, counts), "--map", "pca", "--features", rule)
    there = np.ma.masked_equal(counts, MISSING).astype(float)
    p, share = there.mean(axis=0) / 2, float(rule.split(":")[1])
    kept = np.minimum(p, 1 - p) >= share if rule[1] == "a" else there.mask.mean(axis=0) <= share
    assert result.report["features_kept"] == kept.sum() and 10 < kept.sum() < 490
    values = np.linalg.svd(scaled(counts)[:, np.asarray(kept)], compute_uv=False)[:2] ** 2
    assert np.allclose(result.report["eigenvalues"], values, rtol=1e-3)


def test_alleles_that_no_new_sample_has_are_0_and_may_be_any(tmp_path):
    counts, _ = cohort(np.random.default_rng(17), 301, 800, fst=0.1)
    store = fitted(tmp_path, counts[:300], 3)
    placed = placed_by(store, write_bed(tmp_path / "one", counts[300:]))
    for name, of in [("first", counts[300] == 2), ("second", counts[300] == 0)]:
        new = write_bed(tmp_path / name, counts[300:], of)
        seen = {0: "C", 1: "A C", 2: "A", MISSING: "0"}
        new.with_suffix(".bim").write_text("".join(
            f"1 rs{j} 0 {j + 1} " + (seen[c] if c == 1 else f"0 {seen[c]}" if name == "first"
                                     else f"{seen[c]} 0") + "\n"
            for j, c in enumerate(counts[300])))
        assert np.array_equal(placed_by(store, new), placed)


def test_lists_of_plink_choose_variants_by_their_names(tmp_path):
    counts, _ = cohort(np.random.default_rng(16), 300, 500)
    store = imported(tmp_path, counts)
    found = []
    for allele in ["", "_A"]:
        (tmp_path / "list").write_text("".join(f"rs{j}{allele}\n" for j in range(0, 500, 3)))
        fit(store, "--map", "pca", "--features", tmp_path / "list", "--restart")
        found.append(store.result("map").embedding[:])
    assert np.array_equal(*found)


@slow
@pytest.mark.parametrize("d, options", [(200, []), (1500, []), (200, ["--features", "maf:0.2"]),
                                        (200, ["--features", "missing:0.03"])])
def test_shards_count_the_alleles_of_all_samples(tmp_path, d, options):
    counts, _ = cohort(np.random.default_rng(11), 600, d)
    counts[:200, 3] = 0  # alike in one shard alone
    store = fitted(tmp_path, counts, 3, "--tol", "1e-9", *options)
    for shard, rows in enumerate([counts[:200], counts[200:250], counts[250:]]):
        run("import", tmp_path / "all", "--shard", f"{shard}/3", write_bed(tmp_path / "s", rows),
            "-q")
    all_of_them = nystream.open(tmp_path / "all")
    found = fit(all_of_them, "--map", "pca", "--components", 3, "--tol", "1e-9", *options)
    wanted, found = store.result("map").embedding[:], found.embedding[:]
    assert np.allclose(found * np.sign((found * wanted).sum(axis=0)), wanted,
                       atol=1e-5 * np.abs(wanted).max())
    told = [of.result("map").report for of in (store, all_of_them)]
    assert np.allclose(told[0]["component_p_values"], told[1]["component_p_values"], rtol=1e-2)
    assert told[0]["components_above_noise"] == told[1]["components_above_noise"]
    assert np.allclose(told[0]["component_shrinkage"], told[1]["component_shrinkage"], rtol=1e-3)


def test_tables_are_written_as_plink_writes_them(tmp_path):
    counts, _ = cohort(np.random.default_rng(7), 120, 300)
    store = fitted(tmp_path, counts, 2)
    run("export", tmp_path / "g.nys", "map", "-o", tmp_path / "a.eigenvec", "-q")
    run("transform", tmp_path / "g.nys", "map", "--input", tmp_path / "g.bed", "-o",
        tmp_path / "b.eigenvec", "-q")
    for name in ["a", "b"]:
        lines = (tmp_path / f"{name}.eigenvec").read_text().splitlines()
        assert lines[0] == "#FID\tIID\tPC1\tPC2"
        fields = [line.split("\t") for line in lines[1:]]
        assert [field[:2] for field in fields] == [["F", f"S{i}"] for i in range(120)]
        if name == "a":
            assert np.allclose(np.array([field[2:] for field in fields], float),
                               store.result("map").embedding[:], rtol=1e-6)
    run("export", tmp_path / "g.nys", "map", "--part", "eigenvalues", "-o",
        tmp_path / "a.eigenval", "-q")
    assert np.allclose(np.loadtxt(tmp_path / "a.eigenval"),
                       store.result("map").report["eigenvalues"])


def test_new_rows_in_memory_are_genotypes_too(tmp_path):
    counts, _ = cohort(np.random.default_rng(8), 150, 200)
    store = fitted(tmp_path, counts, 2)
    wanted = placed_by(store, tmp_path / "g.bed")
    numbers = np.where(counts == MISSING, np.nan, counts)
    for rows in [counts, numbers, numbers.astype(np.float32)]:
        assert np.array_equal(store.result("map").transform(rows), wanted)
    for value in [4, 1.5, -1]:
        numbers[3, 7] = value
        with pytest.raises(nystream.DataError, match="row 3, column 7"):
            store.result("map").transform(numbers)


def test_axes_over_landmarks_take_what_is_missing_as_the_mean(tmp_path):
    counts, _ = cohort(np.random.default_rng(9), 60, 90, fst=0.2)
    axes = fit(imported(tmp_path, counts), "--kernel", "linear", "--approx", "exact", "--precision",
               "f64", "--components", 2).axes
    v = np.linalg.svd(scaled(counts), full_matrices=False)[2][:2].T
    assert np.allclose(np.abs((axes * v).sum(axis=0)) / np.linalg.norm(axes, axis=0), 1)


@pytest.mark.parametrize("smooth", ["", "-smooth"])
def test_what_is_missing_is_no_value(tmp_path, smooth):
    counts, _ = cohort(np.random.default_rng(10), 120, 80, missing=0.2)
    store = imported(tmp_path, counts)
    there = np.ma.masked_equal(counts, MISSING).astype(float)
    rows = (there > 0).sum(axis=0).filled(0)
    weight = np.log(121 / (1 + rows)) + 1 if smooth else np.log(120 / rows)
    z = (there - there.mean(axis=0)).filled(0) * weight
    found = fit(store, "--map", "pca", "--scale", "idf" + smooth, "--tol", "1e-7").report
    assert np.allclose(found["eigenvalues"], np.linalg.svd(z, compute_uv=False)[:2] ** 2,
                       rtol=1e-5)
    few = fit(store, "--map", "pca", "--features", "min-rows:60", name="few")
    assert few.report["features_kept"] == (rows >= 60).sum()
    least = int(np.median((there > 0).sum(axis=1).filled(0)))
    run("import", tmp_path / "few.nys", tmp_path / "g.bed", "--min-values", least, "-q")
    assert nystream.open(tmp_path / "few.nys").points.shape[0] == (
        (there > 0).sum(axis=1) >= least).sum()
