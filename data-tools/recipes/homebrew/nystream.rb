# Recipe of Homebrew, on Linux: the command and the library. `make dist` fills it in.
#
#   brew install --formula build/recipes/homebrew/nystream.rb
class Nystream < Formula
  desc "Spectral embeddings of data sets that do not fit in memory"
  url "@url@"
  sha256 "@sha256@"
  license "MIT"

  depends_on "pkgconf" => :build
  depends_on "cairo"
  depends_on "jansson"
  depends_on :linux
  depends_on "lmdb"
  depends_on "lz4"
  depends_on "openblas"
  depends_on "xxhash"
  depends_on "zlib"

  # OpenBLAS has LAPACKE inside, and LMDB no pkg-config file: libraries are named.
  def install
    libraries = %w[lmdb openblas lz4 xxhash zlib jansson].map { |name| Formula[name] }
    headers = libraries.map { |library| "-I#{library.opt_include}" }
    folders = libraries.map { |library| "-L#{library.opt_lib}" }
    system "make", "PREFIX=#{prefix}",
           "PACKAGE_CFLAGS=#{headers.join(" ")} -I#{Formula["cairo"].opt_include}/cairo",
           "PACKAGE_LIBS=#{folders.join(" ")} -llmdb -lopenblas -llz4 -lxxhash -lz -ljansson -lm -lpthread -ldl",
           "install"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/nystream version")
  end
end
