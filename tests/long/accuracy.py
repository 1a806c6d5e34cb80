"""fit --accuracy beside the smallest number of landmarks that would do.

usage: accuracy.py SET…

For each set and E = 5 % and 1 %: the landmarks m of `--accuracy E`, its largest error by dense
float64, the smallest m whose components are all right to E (by bisection, the same selection), and
the CPU time over that of a fit with the m reached. Errors should be up to 1.25 E in 95 of 100 fits.
"""
import os
import sys
import tempfile
import time
import warnings

import numpy as np

import known_sets as known
import nystream
from component_errors import P, Case, residuals

N = int(os.environ.get("NYSTREAM_ROWS", "4000"))
LEAST = 4 * P  # landmarks of the first attempt are at least so many


class Trials:
    """Fits of a set, and the largest true error of each."""

    def __init__(self, name, folder, seed):
        rows = known.rows_of(name, N)
        self.kernel = "cosine" if "rbf" not in known.KERNELS.get(name, ("rbf",)) else "rbf"
        self.seed, self.store = seed, nystream.open(f"{folder}/{name}.nys", threads=1)
        self.store.append(rows)
        gamma = self.fit(landmarks=LEAST)[0].report.get("gamma")
        self.K = known.Kernels(rows).of(self.kernel, gamma)
        self.known = {}

    def fit(self, **options):
        """The result and its CPU time."""
        began = time.process_time()
        result = self.store.fit("x", map="kpca", kernel=self.kernel, components=P, seed=self.seed,
                                restart=True, **options)
        return result, time.process_time() - began

    def error(self, result):
        """The largest true error."""
        case = Case("", self.kernel, 1, "kpca", "projected", "f32")
        return np.linalg.norm(residuals(self.K, case, result), axis=0).max()

    def error_with(self, m):
        if m not in self.known:
            self.known[m] = self.error(self.fit(landmarks=m)[0])
        return self.known[m]

    def smallest(self, accuracy):
        """The smallest m whose components are right, to 1 %."""
        few, enough = LEAST, 2 * LEAST
        while enough < N and self.error_with(enough) > accuracy:
            few, enough = enough, min(2 * enough, N)
        while enough - few > max(1, few // 100):
            m = (few + enough) // 2
            few, enough = (few, m) if self.error_with(m) <= accuracy else (m, enough)
        return enough


def tried(name, trials, accuracy):
    """A line of the table; its error over E, m and the smallest, and the time over one fit's."""
    result, seconds = trials.fit(accuracy=accuracy)
    m, error = result.report["landmarks"], trials.error(result)
    alone = trials.fit(landmarks=m)[1]
    best = trials.smallest(accuracy)
    print(f"{name:10s} {accuracy:4.0%}  m {m:5d}, smallest {best:5d}, {m / best:5.2f}; "
          f"error {error:7.2%}, {error / accuracy:5.2f} E; CPU {seconds:6.2f} s, "
          f"{seconds / alone:5.2f} of one fit", flush=True)
    return error / accuracy, m, best, seconds / alone


def print_shares(what, values, most):
    """Print how many of the values are up to `most`."""
    print(f"{what}: {np.mean(values <= most):.0%} of {len(values)} up to {most}, median "
          f"{np.median(values):.2f}, largest {values.max():.2f}")


def main(*names):
    warnings.simplefilter("ignore")
    found, absent = [], []
    with tempfile.TemporaryDirectory(prefix="nystream-accuracy.") as folder:
        for name in names:
            try:
                trials = Trials(name, folder, seed=0)
            except known.Absent as reason:
                absent.append(f"without {name}: {reason}")
                continue
            found += [tried(name, trials, accuracy) for accuracy in (0.05, 0.01)]
    if not found:
        sys.exit("\n".join(absent))
    errors, m, best, times = (np.array(column) for column in zip(*found))
    print_shares("error over E", errors, 1.25)
    print_shares("m over the smallest", m / best, 1.3)
    print_shares("time over one fit's", times, 2.5)
    print(*absent, sep="\n")
    sys.exit(0 if np.mean(errors <= 1.25) >= 0.95 and np.mean(m <= 1.3 * best) >= 0.9 else 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
