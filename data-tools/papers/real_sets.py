"""Rows of real sets, drawn at random, and kernel matrices in float64 by numpy alone."""

from io import BytesIO

import numpy as np
from scipy.sparse import csr_matrix, diags, issparse
from scipy.spatial.distance import cdist

import common


def images(folder):
    file = common.data_file(f"{folder}/train-images-idx3-ubyte.gz")
    return np.frombuffer(file, np.uint8, offset=16).reshape(-1, 784)


def columns(name, *of):
    return lambda: common.read_csv(name, *of)


def npy(name):
    return lambda: common.read_npy(name)


def terrain():
    """Rows of degrees and metres, each column by its standard deviation."""
    rows = common.read_npy("srtm_terrain/srtm_lonlatelev_float32.npy.xz").astype(float)
    return (rows / rows.std(0)).astype("f4")


def connections():
    """KDD: columns that vary, of which those that run over decades are logarithms."""
    rows = common.read_npy("kddcup99_10pct/kdd_numeric_float32.npy.xz").astype(float)
    rows = np.log1p(rows[:, rows.std(0) > 0])
    return (rows / rows.std(0)).astype("f4")


def cells():
    """Cells: the logarithms of counts in ten thousand."""
    try:
        import h5py
    except ImportError:
        raise Absent("pbmc needs python3-h5py") from None
    with h5py.File(BytesIO(common.data_file("pbmc_covid/pbmc_covid.h5ad"))) as file:
        counts = [file["X"][part][:] for part in ("data", "indices", "indptr")]
        genes = len(file["var/gene_ids"])
    counts = csr_matrix(tuple(counts), shape=(len(counts[2]) - 1, genes))
    return diags(1e4 / np.asarray(counts.sum(1)).ravel()).dot(counts).log1p().astype("f4").tocsr()


def words():
    """Sparse rows of counts of words."""
    places, values, ends = [], [], [0]
    for line in common.data_file("tdt2/tdt2_counts.libsvm.gz").splitlines():
        pairs = [pair.split(b":") for pair in line.split()[1:]]
        places += [int(place) - 1 for place, _ in pairs]
        values += [float(value) for _, value in pairs]
        ends.append(len(places))
    return csr_matrix((np.array(values, "f4"), places, ends))


def drawn(read):
    """A maker of n rows of those that `read` gives, drawn at random."""

    def make(n):
        rows = read()
        return rows[np.random.default_rng(0).permutation(rows.shape[0])[:n]]

    return make


# name: a maker of n rows.
REAL = {name: drawn(read) for name, read in {
    "mnist": lambda: images("mnist"),
    "fashion": lambda: images("fashion_mnist"),
    "kdd": connections,
    "skin": npy("skin/skin_bgr_uint8.npy.xz"),
    "terrain": terrain,
    "pbmc": cells,
    "tdt2": words,
    "letter": columns("letter/letter.csv.gz", range(1, 17)),
    "housing": columns("california_housing/california_housing.csv.gz", range(8)),
    "kin8nm": columns("kin8nm/kin8nm.csv.gz", range(8)),
    "beats": npy("mitdb_beats/mitdb_beats_int16.npy.xz"),
    "quickdraw": npy("quickdraw/quickdraw_uint8.npy.xz"),
}.items()}


class Kernels:
    """Kernel matrices of rows, whose products and distances are kept."""

    def __init__(self, rows):
        self.rows = rows.astype(float)
        self.kept = {}

    def _keep(self, what, make):
        if what not in self.kept:
            self.kept[what] = make()
        return self.kept[what]

    def _products(self):
        dots = self.rows @ self.rows.T
        return dots.toarray() if issparse(dots) else dots

    def _centred(self):
        """Products about the mean, of which those of rows far away keep their digits."""
        if issparse(self.rows):
            dots = self._keep("dots", self._products)
            return common.centred(dots)
        rows = self.rows - self.rows.mean(0)
        return rows @ rows.T

    def _squares(self):
        dots = self._keep("centred", self._centred)
        norms = np.diag(dots)
        return np.maximum(norms[:, None] + norms - 2 * dots, 0)

    def _apart(self):
        return cdist(self.rows, self.rows, "cityblock")

    def of(self, kernel, gamma):
        if kernel == "rbf":
            return np.exp(-gamma * self._keep("squares", self._squares))
        if kernel == "laplacian":
            return np.exp(-gamma * self._keep("apart", self._apart))
        if kernel == "pca":
            return self._keep("centred", self._centred)
        dots = self._keep("dots", self._products)
        if kernel == "cosine":
            lengths = np.sqrt(np.diag(dots))
            lengths = np.where(lengths > 0, lengths, 1)
            return dots / lengths / lengths[:, None]
        return (gamma * dots + 1) ** 3 if kernel == "polynomial" else dots
