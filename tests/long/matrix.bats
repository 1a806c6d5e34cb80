# Builds and machines that `make check` does not see: another compiler, products of other
# processors, and the tarball of a release on a bare machine.
load helper

ROOT=$BATS_TEST_DIRNAME/../..

# quiet COMMAND…: shows what a command says if it fails.
quiet() {
    local said
    said=$("$@" 2>&1) || { tail -40 <<<"$said"; return 1; }
}

@test "clang builds all of it without a warning, and the unit tests pass" {
    command -v clang >/dev/null || skip "no clang here"
    quiet make -C "$ROOT" -j"$(nproc)" CC=clang WERROR=1 BUILD="$BATS_TEST_TMPDIR/clang" all tools \
        check-unit
}

@test "unit tests pass with the products of BLAS for older processors" {
    for core in Prescott Nehalem Haswell SkylakeX; do
        quiet env OPENBLAS_CORETYPE=$core TEST_LOGS="$PWD/logs" make -C "$ROOT" BUILD="$NYSTREAM_BUILD" check-unit
    done
}

@test "fits say the same with the products of BLAS for older processors" {
    for core in Prescott Haswell; do
        quiet env OPENBLAS_CORETYPE=$core BUILD="$NYSTREAM_BUILD" TEST_LOGS="$PWD/logs" "$ROOT/tests/run" \
            "$ROOT"/tests/cli/{fit,graph,update,nearest}.bats
    done
}

@test "the tarball of a release builds, and passes its tests, on a bare machine" {
    [ "${NYSTREAM_NO_CHROOT-}" != 1 ] || skip "NYSTREAM_NO_CHROOT=1"
    quiet "$ROOT/tests/long/fresh" --dist check
}
