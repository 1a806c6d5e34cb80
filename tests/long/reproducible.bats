# Equal sources give equal bytes, wherever and however they are built.
load helper

# build FOLDER MAKE-OPTION…: builds and packs the sources as they are, in a folder
build() {
    mkdir -p "$1"
    (cd "$BATS_TEST_DIRNAME/../.." && git ls-files -z | xargs -0 cp --parents -t "$1")
    make -s -C "$@" all deb python SOURCE_DATE_EPOCH=1700000000 >"$BATS_TEST_TMPDIR/log"
}

@test "two builds in different folders are the same, and so are their packages" {
    [ -z "${NYSTREAM_SANITIZER-}" ] || skip "instrumented files are not shipped"
    command -v dpkg-shlibdeps || skip "dpkg-shlibdeps is not installed"
    unset MAKEFLAGS BUILD
    build "$BATS_TEST_TMPDIR/one" -j2
    (umask 077 && export TZ=Asia/Tokyo LC_ALL=C.UTF-8 && build "$BATS_TEST_TMPDIR/two/farther" -j1)
    cd "$BATS_TEST_TMPDIR/one/build"
    for file in nystream libnystream.a libnystream.so nystream.1 *.deb *.whl; do
        cmp "$file" "../../two/farther/build/$file"
    done
    echo "counted: 2 builds with the same bytes" >&3
}

@test "the tarball of the sources has all of them, builds without git, and is the same each time" {
    unset MAKEFLAGS BUILD
    git() { command git -C "$BATS_TEST_DIRNAME/../.." -c safe.directory='*' "$@"; }
    for folder in one two; do
        make -s -C "$BATS_TEST_DIRNAME/../.." BUILD="$PWD/$folder" dist
    done
    cmp one/nystream-*.tar.gz two/nystream-*.tar.gz
    tar -xzf one/nystream-*.tar.gz
    diff <(git ls-tree -r --name-only HEAD | sort - <(printf '%s\n' PKG-INFO pyproject.toml)) <(cd nystream-*/ && find . -type f -o -type l | sed 's|^./||' | sort)
    make -s -j2 -C nystream-*/ all >log
    [[ "nystream-$(nystream-*/build/nystream --version | cut -d' ' -f2)" = "$(ls -d nystream-*/ | tr -d /)" ]]
}
