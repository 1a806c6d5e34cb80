"""Lists the public names of the Python package by subject; autodoc fills in their docstrings."""

# The pages: title, what stands above, and parts: a heading, the module whose docstring tells what
# all of the names have in common, and the names.
PAGES = {
    "python": (
        "Python: stores, results, models",
        "`import nystream`. Rows on disk, results under names, models that are one file. "
        "[Python](../python.md) has examples.",
        [("Calls", None, ["embed", "open", "plan", "__version__"]),
         ("Stores and results", None, ["Store", "Result", "Part", "Model"]),
         ("Reports", None, ["Report", "Plan", "Progress"])]),
    "python-estimators": (
        "Python: estimators",
        "[From scikit-learn](../from-scikit-learn.md) has a table of the classes, and what differs.",
        [("Parameters of all", "estimators", []),
         ("Classes", None, ["KernelPCA", "PCA", "TruncatedSVD", "IncrementalKernelPCA",
                            "Nystroem", "SpectralEmbedding", "SpectralClustering", "Isomap",
                            "DiffusionMap", "KNeighborsTransformer"])]),
    "python-more": (
        "Python: AnnData, sums, Dask, errors",
        "Sums and Dask are for rows on [more than one machine](../more-than-one-machine.md); "
        "[in a pipeline](../pipelines.md) has examples of the rest.",
        [("AnnData", "tl", ["tl.pca", "tl.neighbors", "tl.spectral", "tl.diffmap", "tl.clusters",
                            "tl.ingest"]),
         ("Sums", None, ["Sums"]),
         ("Dask", "dask", ["dask.fit", "dask.transform", "dask.KernelPCA", "dask.PCA", "dask.TruncatedSVD",
                           "dask.Nystroem", "dask.SpectralClustering"]),
         ("Errors and warnings", None,
          ["NystreamError", "UsageError", "DataError", "FileError", "MissingFileError",
           "StoreError", "BusyError", "NumericError", "BudgetError", "NystreamWarning"])]),
}

# Classes inherit some of these; that is told elsewhere.
FOREIGN = ("BaseEstimator, TransformerMixin, ClusterMixin, ClassNamePrefixFeaturesOutMixin, "
           "OSError, Exception, dict, tuple, object")


def module_text(module):
    """Return the directive that shows the docstring of a module."""
    return (f"```{{eval-rst}}\n.. automodule:: nystream.{module}\n   :noindex:\n```\n"
            if module else "")


def entry(name):
    """Return the directive that documents a name."""
    if name == "__version__":
        return "```{py:data} nystream.__version__\nThe version of the package, a text.\n```"
    if name.rpartition(".")[2][0].islower():
        return f"```{{eval-rst}}\n.. autofunction:: nystream.{name}\n```"
    return (f"```{{eval-rst}}\n.. autoclass:: nystream.{name}\n   :members:\n"
            f"   :inherited-members: {FOREIGN}\n```")


def pages():
    """Return the text of each page by its name."""
    found = {}
    for page, (title, head, parts) in PAGES.items():
        found[page] = f"# {title}\n\n{head}\n"
        for heading, module, names in parts:
            found[page] += f"\n## {heading}\n\n{module_text(module)}\n"
            found[page] += "\n\n".join(map(entry, names)) + "\n"
    return found
