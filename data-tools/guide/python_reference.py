"""Lists the public names of the Python package by subject; autodoc fills in their docstrings."""

# The pages: title, what stands above, the names. Modules of functions are listed with theirs.
PAGES = {
    "python": ("Python: stores, results, models",
               "`import nystream`. Rows on disk, results under names, models that are one file.",
               ["embed", "open", "Store", "Result", "Part", "Model", "Report", "Plan", "Progress",
                "__version__"]),
    "python-estimators": ("Python: estimators",
                          "Classes that follow scikit-learn: "
                          "[from scikit-learn](../from-scikit-learn.md) tells what differs.\n\n"
                          "```{eval-rst}\n.. automodule:: nystream.estimators\n"
                          "   :noindex:\n```",
                          ["KernelPCA", "PCA", "IncrementalKernelPCA", "Nystroem",
                           "SpectralEmbedding", "SpectralClustering", "Isomap", "DiffusionMap",
                           "KNeighborsTransformer"]),
    "python-more": ("Python: AnnData, sums, Dask, errors",
                    "`nystream.tl` writes the keys that scanpy reads; `nystream.Sums` and "
                    "`nystream.dask` are for rows on "
                    "[more than one machine](../more-than-one-machine.md).",
                    ["tl.pca", "tl.neighbors", "tl.spectral", "tl.diffmap", "Sums", "dask.fit",
                     "dask.transform", "NystreamError", "UsageError", "DataError", "FileError",
                     "StoreError", "BusyError", "NumericError", "BudgetError", "NystreamWarning"]),
}


def entry(name):
    """Return the directive that documents a name."""
    if name == "__version__":
        return "```{py:data} nystream.__version__\nThe version of the package, a text.\n```"
    is_class = name.rpartition(".")[2][0].isupper()
    kind = "autoclass" if is_class else "autofunction"
    # What estimators inherit of scikit-learn is told there.
    members = (":members:\n:inherited-members: BaseEstimator, TransformerMixin, ClusterMixin, "
               "ClassNamePrefixFeaturesOutMixin, Exception, object, tuple\n") if is_class else ""
    return f"```{{eval-rst}}\n.. {kind}:: nystream.{name}\n" + \
        "".join(f"   {line}\n" for line in members.splitlines()) + "```"


def pages():
    """Return the text of each page by its name."""
    return {page: f"# {title}\n\n{head}\n\n" + "\n\n".join(map(entry, names)) + "\n"
            for page, (title, head, names) in PAGES.items()}
