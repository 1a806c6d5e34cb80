"""Recipe of Spack: the command and the library, and with +python the Python package; `make dist`
fills it in.

    spack repo add build/recipes/spack       # once
    spack install nystream +python
"""
from spack.package import *


class Nystream(MakefilePackage):
    """Spectral embeddings of data sets that do not fit in memory."""

    url = "@url@"
    license("MIT")
    version("@version@", sha256="@sha256@")
    variant("python", default=True, description="the Python package")

    depends_on("c", type="build")
    depends_on("pkgconfig", type="build")
    for library in ("cairo+png+pdf+svg", "jansson", "lmdb", "lz4", "openblas", "xxhash", "zlib-api"):
        depends_on(library)
    with when("+python"):
        extends("python@3.9:")
        depends_on("py-pip", type="build")
        depends_on("py-setuptools", type="build")
        depends_on("py-wheel", type="build")
        depends_on("py-numpy@1.22:", type=("build", "run"))

    @property
    def arguments(self):
        """Variables of make: OpenBLAS has LAPACKE inside, and LMDB no pkg-config file."""
        names = ("lmdb", "openblas", "lz4", "xxhash", "zlib-api", "jansson")
        headers = [f"-I{self.spec[name].prefix.include}" for name in names]
        headers.append(f"-I{self.spec['cairo'].prefix.include.cairo}")
        libraries = [self.spec[name].libs.ld_flags for name in names]
        return [f"PREFIX={self.prefix}", "PACKAGE_CFLAGS=" + " ".join(headers),
                "PACKAGE_LIBS=" + " ".join([*libraries, "-lm", "-lpthread", "-ldl"])]

    def build(self, spec, prefix):
        make("all", "docs", *self.arguments)

    def install(self, spec, prefix):
        make("install", *self.arguments)
        if "+python" in spec:
            python("-m", "pip", "install", "--no-build-isolation", "--no-deps",
                   f"--prefix={prefix}", join_path("src", "python"))
