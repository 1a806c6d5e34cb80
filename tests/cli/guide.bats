# src/guide: the pages become HTML without a warning of Sphinx, and need no network.
load helper

# bats test_tags=slow
@test "the guide becomes HTML, without warnings, and loads nothing from elsewhere" {
    local module
    for module in sphinx myst_parser furo sklearn scipy dask; do
        /usr/bin/python3 -c "import $module" || skip "no $module: data-tools/setup guide"
    done
    [ -z "${NYSTREAM_SANITIZER-}" ] || skip "Python does not load an instrumented library"
    ln -s "$NYSTREAM_BUILD"/{nystream,libnystream.so*} .
    BUILD=$PWD run --separate-stderr "$BATS_TEST_DIRNAME/../../data-tools/guide/build"
    exits 0
    [ -z "$stderr" ]
    [ -s guide/index.html ]
    [ -s guide/searchindex.js ]
    grep -q ny_fit guide/reference/c-store.html
    # Links may lead elsewhere; scripts, styles, fonts and pictures may not.
    run grep -rE '<(script|link|img|iframe)[^>]*(src|href)="(https?:)?//|url\(["'\'']?(https?:)?//' guide
    [ "$status" -eq 1 ]
}
