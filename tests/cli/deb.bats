#!/usr/bin/env bats
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
    for name in nystream libnystream-dev; do
        [ -z "$(dpkg-deb -c "$(made $name)" | grep -v root/root)" ]
        dpkg-deb -c "$(made $name)" | grep -q "./usr/share/doc/$name/copyright"
    done
}

@test "installed they work, removed they leave no file" {
    [ "$(id -u)" -eq 0 ] || skip "dpkg --install needs root"
    local before libraries
    before=$(find "$TARGET" -path "$TARGET/var" -prune -o ! -type d -print)
    in_target -i "$(made nystream)" "$(made libnystream-dev)"
    [ -z "$(in_target --verify)" ]
    "$TARGET/usr/bin/nystream" version | grep -q "$(dpkg-deb -f "$(made nystream)" Version)"
    gzip -dc "$TARGET/usr/share/man/man1/nystream.1.gz" | grep -q 'SH SYNOPSIS'

    libraries=$(echo "$TARGET"/usr/lib/*/)
    # shellcheck disable=SC2046  # words are meant
    cc -std=c11 "$BATS_TEST_DIRNAME/external/fit.c" -o "$BATS_TEST_TMPDIR/fit" -lm \
        $(PKG_CONFIG_PATH=$libraries/pkgconfig PKG_CONFIG_SYSROOT_DIR=$TARGET \
            pkg-config --cflags --libs nystream)
    [ "$(LD_LIBRARY_PATH=$libraries "$BATS_TEST_TMPDIR/fit" "$BATS_TEST_TMPDIR/rows.nys")" = fitted ]

    in_target --purge libnystream-dev nystream
    [ "$(find "$TARGET" -path "$TARGET/var" -prune -o ! -type d -print)" = "$before" ]
}
