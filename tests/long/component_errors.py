"""The errors that fits report of their components, beside the truth.

usage: component_errors.py EVERY SET…

The truth is ‖Au − λu‖/(λ‖u‖) of the vectors that are stored, with all rows of A in float64
(known_sets.py). One in EVERY of the cases is tried: maps, methods, kernels, widths, f32 and f64.
It prints, of components whose error is above 1e-5 and above rounding, how many estimates are
within 0.6 to 1.6 of the truth, and within two standard errors; and the worst. Exits with 1 where
fewer are than should be. Counted apart are cases that are known to be told wrong: randomized takes
for K what f32 leaves of products of rows that lie far away.
"""
import itertools
import os
import sys
import tempfile
import warnings
from typing import NamedTuple

import numpy as np

import known_sets as known
import nystream

N, M, P = int(os.environ.get("NYSTREAM_ROWS", "4000")), 200, 10
MAPS = ("svd", "kpca", "pca", "laplacian", "diffusion")
METHODS = ("projected", "nystrom", "column", "orthonystrom", "ensemble", "randomized", "gaussian")
WHOLE = ("randomized", "gaussian")  # which have the degrees of K
WIDTHS = (1, 0.1, 10)  # that of auto is 1; γ is divided by them


class Case(NamedTuple):
    """A fit of the grid."""

    rows: str
    kernel: str
    width: float
    map: str
    method: str
    precision: str


class Errors(NamedTuple):
    """Errors of components, as a fit says them and as they are."""

    case: Case
    told: np.ndarray
    se: np.ndarray
    true: np.ndarray
    values: np.ndarray


def cases(name):
    """All cases of a set that make sense."""
    kernels = known.KERNELS.get(name, known.EVERY_KERNEL)
    for kernel, width, map, method, precision in itertools.product(
            kernels, WIDTHS, MAPS, METHODS, ("f32", "f64")):
        if width != 1 and kernel in ("linear", "cosine"):
            continue
        if map == "pca" and kernel != "linear":
            continue
        if map in ("laplacian", "diffusion") and kernel not in ("rbf", "laplacian"):
            continue
        if map == "diffusion" and method not in ("projected", "column"):
            continue  # the pairs are laplacian's
        yield Case(name, kernel, width, map, method, precision)


# ---- the truth ----------------------------------------------------------------------------------


def degrees(K, case, landmarks, rank):
    """d̃ of the fit: over the landmarks, or Σ_j k̃_ij of K̃ = C W⁺ Cᵀ."""
    if case.method in WHOLE:
        return K.sum(1)
    if case.method not in ("projected", "ensemble"):
        return K[:, landmarks].mean(1) * len(K)
    experts = np.array_split(landmarks, 2 if case.method == "ensemble" else 1)
    d = np.zeros(len(K))
    for D in experts:
        values, V = np.linalg.eigh(K[np.ix_(D, D)])
        V, values = V[:, ::-1][:, :rank], values[::-1][:rank]
        good = values > 1e-14 * values[0]
        B = V[:, good] / np.sqrt(values[good])
        d += K[:, D] @ (B @ (B.T @ K[D].sum(1))) / len(experts)
    return d


def residuals(K, case, result):
    """Aũ − λ̃ũ of all pairs, of unit ũ, in λ̃: n × pairs."""
    U, values = np.array(result.eigenvectors[:], float), np.array(result.eigenvalues, float).ravel()
    if case.map in ("laplacian", "diffusion"):
        whole = case.method in WHOLE
        rank = None if whole else result.report["rank_effective"]
        d = degrees(K, case, None if whole else np.array(result.landmarks, int), rank)
        reached = ~np.isnan(U).any(1) & (d > 0)  # else no landmark reaches the row
        U = np.where(reached[:, None], U, 0)
        w = np.where(reached, 1 / np.sqrt(np.where(reached, d, 1)), 0)[:, None]
        R = w * (K @ (w * U)) - values * U
    elif case.map in ("kpca", "pca"):
        U = U - U.mean(0)
        R = K @ U
        R = R - R.mean(0) - values * U
    else:
        R = K @ U - values * U
    with np.errstate(divide="ignore", invalid="ignore"):
        return R / np.linalg.norm(U, axis=0) / values


def trivial(case):
    """How many pairs are before those of the map: that of the degrees."""
    return int(case.map in ("laplacian", "diffusion"))


# ---- the fits -----------------------------------------------------------------------------------


def fit(store, case, gamma, **options):
    """The result of a case, or None where the fit is refused."""
    if case.method != "randomized":
        options["landmarks"] = M
    if gamma is not None:
        options["gamma"] = gamma / case.width
    try:
        return store.fit("x", map=case.map, kernel=case.kernel, approx=case.method, components=P,
                         precision=case.precision, restart=True, **options)
    except nystream.NystreamError as error:
        if isinstance(error, (nystream.NumericError, nystream.UsageError)):
            return None
        raise


def auto(store, kernel):
    """γ = auto."""
    if kernel in ("linear", "cosine"):
        return None
    return store.fit("auto", map="svd", kernel=kernel, approx="nystrom", landmarks=3, components=1,
                     restart=True).report["gamma"]


def measured(name, every=1, offset=0):
    """The errors of the cases of a set, and how many are refused: yields Errors or None."""
    rows = known.rows_of(name, N)
    kernels, K, at = known.Kernels(rows), None, None
    with tempfile.TemporaryDirectory(prefix="nystream-errors.") as folder:
        store = nystream.open(folder + "/rows.nys", threads=1)
        store.append(rows)
        for case in itertools.islice(cases(name), offset % every, None, every):
            kernel = "pca" if case.map == "pca" else case.kernel
            gamma = auto(store, case.kernel)
            if at != (kernel, case.width):
                at, K = (kernel, case.width), kernels.of(kernel, (gamma or 1) / case.width)
            result = fit(store, case, gamma)
            if result is None or result.report.get("component_errors") is None:
                yield None
                continue
            told = np.array(result.report["component_errors"], float)[trivial(case):]
            se = result.report.get("component_errors_se")
            se = np.array(se, float)[trivial(case):] if se else np.zeros_like(told)
            R = residuals(K, case, result)[:, trivial(case):]
            yield Errors(case, told, se, np.linalg.norm(R, axis=0),
                         np.array(result.eigenvalues, float).ravel()[trivial(case):])


# ---- what is found ------------------------------------------------------------------------------


def judged(errors):
    """Which components count: their errors are more than rounding."""
    least = 2.0**-20 * np.sqrt(N) if errors.case.precision == "f32" else 0
    least = max(least, 1e-5)
    exist = errors.values > least * errors.values[0]
    return (errors.true > least) & exist & np.isfinite(errors.told)


def hard(case):
    """Whether the errors of such a fit are known to be told wrong."""
    return case.rows == "offset" and case.method in WHOLE and case.precision == "f32"


class Counts:
    """Shares of components over cases."""

    def __init__(self):
        self.shares, self.covered = [], []

    def add(self, errors):
        seen = judged(errors)
        estimated = seen & (errors.se > 0)
        apart = abs(errors.told - errors.true)
        self.shares += list(errors.told[seen] / errors.true[seen])
        self.covered += list(apart[estimated] <= 2 * errors.se[estimated])

    def near(self):
        shares = np.array(self.shares)
        return np.mean((shares >= 0.6) & (shares <= 1.6))

    def low(self):
        return np.mean(np.array(self.shares) < 0.3)

    def line(self, what):
        if not self.shares:
            return f"{what}: none"
        covered = f"{np.mean(self.covered):.1%}" if self.covered else "-"
        return (f"{what:32s} {len(self.shares):6d} components, {self.near():6.1%} within 0.6 to "
                f"1.6, {covered:>6s} within two standard errors, {self.low():5.1%} below 0.3; "
                f"{min(self.shares):.2g} to {max(self.shares):.3g}")


def divided(case):
    return "divided" if trivial(case) else "not divided"


def print_tables(found):
    """Print shares by what cases have in common; return those of all cases that are not hard."""
    keys = (
        lambda case: f"{divided(case)}, {case.rows}",
        lambda case: f"{divided(case)}, {case.method}",
        lambda case: f"{divided(case)}, width x {case.width:g}",
        lambda case: f"{case.kernel}, {case.precision}",
        lambda case: "known to be wrong" if hard(case) else "all others",
    )
    for key in keys:
        counts = {}
        for errors in found:
            counts.setdefault(key(errors.case), Counts()).add(errors)
        print(*(counts[what].line(what) for what in sorted(counts)), "", sep="\n")
    return counts["all others"]


def print_worst(found, wanted, title):
    """Print the smallest shares of the truth, and the largest."""
    shares = [(errors.told[k] / errors.true[k], errors, k)
              for errors in found if hard(errors.case) == wanted
              for k in np.flatnonzero(judged(errors))]
    shares.sort(key=lambda share: share[0])
    print(f"the smallest and largest shares, {title}")
    for share, errors, k in shares[:6] + shares[-3:]:
        print(f"  {share:.2g}: {' '.join(map(str, errors.case))}, component {k + 1}: "
              f"{errors.told[k]:.2g} ± {errors.se[k]:.2g}, it is {errors.true[k]:.2g}")


def main(every, *names):
    warnings.simplefilter("ignore")
    found, refused, absent = [], 0, []
    for number, name in enumerate(names):
        try:
            for errors in measured(name, int(every), number):
                refused += errors is None
                found += [errors] if errors else []
        except known.Absent as reason:
            absent.append(f"{name}: {reason}")
    if not found:
        sys.exit("\n".join(absent))
    counts = print_tables(found)
    print_worst(found, False, "all others")
    print_worst(found, True, "known to be wrong")
    print(f"{len(found)} cases, {refused} refused")
    print(*(f"without {what}" for what in absent), sep="\n")
    good = counts.near() >= 0.97 and np.mean(counts.covered) >= 0.85 and counts.low() <= 0.01
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
