# The Debian packages: installed into a folder they work, removed they leave nothing.
# bats file_tags=slow

setup_file() {
    local tool
    export WHY_NOT=
    [ -z "${NYSTREAM_SANITIZER-}" ] || WHY_NOT="an instrumented library does not link by itself"
    for tool in dpkg dpkg-deb dpkg-shlibdeps; do
        command -v $tool || WHY_NOT="$tool is not installed"
    done
    [ -z "$WHY_NOT" ] || return 0
    export ROOT=$BATS_TEST_DIRNAME/../.. TARGET=$BATS_FILE_TMPDIR/target
    make -s -C "$ROOT" BUILD="$NYSTREAM_BUILD" deb >"$BATS_FILE_TMPDIR/made"
    mkdir -p "$TARGET/var/lib/dpkg/"{info,updates}
    : >"$TARGET/var/lib/dpkg/status"
}

# A file cannot be skipped as a whole.
setup() {
    [ -z "$WHY_NOT" ] || skip "$WHY_NOT"
}

made() {
    grep "/$1_" "$BATS_FILE_TMPDIR/made"
}

# runs dpkg on the folder alone, which does not hold the dependencies of the packages
in_target() {
    dpkg --root="$TARGET" --force-depends --force-bad-path --log=/dev/null "$@" 2>&1
}

@test "the packages name what they need, and who made which file" {
    [[ $(dpkg-deb -f "$(made nystream)" Depends) == *liblmdb0*libopenblas* ]]
    [ "$(dpkg-deb -f "$(made nystream)" Recommends)" = libcairo2 ] # loaded when a plot is drawn
    [[ $(dpkg-deb -f "$(made libnystream-dev)" Depends) == "nystream (= "*liblmdb-dev* ]]
    [[ $(dpkg-deb -f "$(made libnystream-dev)" Depends) != *cmocka* ]]
    [[ $(dpkg-deb -f "$(made python3-nystream)" Depends) == "nystream (= "*python3-numpy ]]
    [[ $(dpkg-deb -f "$(made python3-nystream)" Recommends) == *python3-scipy*python3-sklearn*python3-tqdm ]]
    [ "$(dpkg-deb -f "$(made python3-nystream)" Architecture)" = all ]
    for name in $(sed -E 's|.*/([^_]*)_.*|\1|' "$BATS_FILE_TMPDIR/made"); do
        [ -z "$(dpkg-deb -c "$(made $name)" | grep -v root/root)" ]
        dpkg-deb -c "$(made $name)" | grep -q "./usr/share/doc/$name/copyright"
    done
}

@test "the plug-in for MPI has a package of its own, without which nothing needs MPI" {
    command -v mpicc >/dev/null || skip "no mpicc: data-tools/setup mpi"
    [[ $(dpkg-deb -f "$(made nystream-mpi)" Depends) == "nystream (= "*mpi* ]]
    dpkg-deb -c "$(made nystream-mpi)" | grep -qE '\./usr/lib/[^/]+/libnystream-mpi\.so$'
    for name in nystream libnystream-dev python3-nystream; do
        [[ $(dpkg-deb -f "$(made $name)" Depends) != *mpi* ]]
        ! dpkg-deb -c "$(made $name)" | grep mpi || false
    done
}

@test "installed they work, removed they leave no file" {
    [ "$(id -u)" -eq 0 ] || skip "dpkg --install needs root"
    before=$(find "$TARGET" -path "$TARGET/var" -prune -o ! -type d -print)
    in_target -i "$(made nystream)" "$(made libnystream-dev)" "$(made python3-nystream)"
    [ -z "$(in_target --verify)" ]
    "$TARGET/usr/bin/nystream" version | grep -q "$(dpkg-deb -f "$(made nystream)" Version)"
    gzip -dc "$TARGET/usr/share/man/man1/nystream.1.gz" | grep -q 'SH SYNOPSIS'

    libraries=$(echo "$TARGET"/usr/lib/*-linux-*/)
    cc -std=c11 "$BATS_TEST_DIRNAME/external/fit.c" -o "$BATS_TEST_TMPDIR/fit" -lm \
        $(PKG_CONFIG_PATH=$libraries/pkgconfig PKG_CONFIG_SYSROOT_DIR=$TARGET \
            pkg-config --cflags --libs nystream)
    [ "$(LD_LIBRARY_PATH=$libraries "$BATS_TEST_TMPDIR/fit" "$BATS_TEST_TMPDIR/rows.nys")" = fitted ]

    if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
        [ "$(LD_LIBRARY_PATH=$libraries PYTHONPATH=$TARGET/usr/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1 \
            /usr/bin/python3 -c 'import importlib.metadata, nystream
print(nystream.__file__, importlib.metadata.version("nystream"))')" = \
            "$TARGET/usr/lib/python3/dist-packages/nystream/__init__.py $(dpkg-deb -f "$(made nystream)" Version)" ]
    fi

    in_target --purge python3-nystream libnystream-dev nystream
    [ "$(find "$TARGET" -path "$TARGET/var" -prune -o ! -type d -print)" = "$before" ]
}
