# src/guide: the pages become HTML without a warning of Sphinx, and need no network.
load helper

# bats file_tags=slow
@test "the guide becomes HTML, without warnings, and loads nothing from elsewhere" {
    for module in sphinx myst_parser furo sklearn scipy dask; do
        /usr/bin/python3 -c "import $module" || skip "no $module: data-tools/setup guide"
    done
    [ -z "${NYSTREAM_SANITIZER-}" ] || skip "Python does not load an instrumented library"
    ln -s "$NYSTREAM_BUILD"/{nystream,libnystream.so*} .
    BUILD=$PWD run -0 --separate-stderr "$BATS_TEST_DIRNAME/../../data-tools/guide/build"
    [ -z "$stderr" ]
    [ -s guide/index.html ]
    [ -s guide/searchindex.js ]
    grep -q ny_fit guide/reference/c-store.html
    run grep -rn '^import ' guide/_static --include='*.js' # an import needs a server
    [ "$status" -eq 1 ]
    # Links may lead elsewhere; scripts, styles, fonts and pictures may not.
    run grep -rE '<(script|link|img|iframe)[^>]*(src|href)="(https?:)?//|url\(["'\'']?(https?:)?//' guide
    [ "$status" -eq 1 ]
}

# run_page NAME: runs the commands of a page. What it shows as their output (blocks of text) is there,
# line by line.
run_page() {
    [ -z "${NYSTREAM_SANITIZER-}" ] || skip "pages show numbers and take times of the build that users have"
    export PATH=$NYSTREAM_BUILD/data-tools:$PATH
    "$BATS_TEST_DIRNAME/../walk-through" all . "$1"
    bash -eu steps.sh >out 2>&1 || { tail out >&2; return 1; }
    [ ! -e steps.text ] || awk -f "$BATS_TEST_DIRNAME/../support/printed.awk" steps.text out || {
        cat out >&2
        return 1
    }
}

needs_garments() {
    [ -e /usr/share/datasets/fashion-mnist ] || skip "dataset-fashion-mnist is not installed"
}

@test "getting started" {
    needs_garments
    run_page getting-started
    [[ $(npy_header map.npy) == *"(10000, 20)"* ]]
    [ -s garments.png ] && [ -s garments.html ]
}

@test "which map for what" {
    run_page which-map
    [ "$(ls map-*.png | wc -l)" -eq 7 ]
}

@test "choosing a width and landmarks" {
    needs_garments
    run_page width-and-landmarks
}

@test "how good is it" {
    needs_garments
    run_page how-good
}

@test "clusters" {
    run_page clusters
    [ "$(sort -u pieces.csv | wc -l)" -eq 3 ]
}

@test "manifolds and graphs" {
    run_page manifolds-and-graphs
    [ "$(head -n 1 path.txt)" = "0	0" ]
}

@test "gallery: shell and Python draw the same pictures" {
    needs_garments
    [ -e "${NYSTREAM_DATA:-/nowhere}/mnist" ] || skip "no mnist in NYSTREAM_DATA"
    /usr/bin/python3 -c 'import numpy, scipy' || skip "no numpy and scipy"
    [ -z "${NYSTREAM_SANITIZER-}" ] || skip "Python does not load an instrumented library"
    export DATA=$NYSTREAM_DATA
    run_page gallery
    mkdir again
    cp halo.npy cohort.{bed,bim,fam} again
    cd again || return
    export NYSTREAM_LIBRARY=$NYSTREAM_BUILD/libnystream.so PYTHONDONTWRITEBYTECODE=1
    export PYTHONPATH=$BATS_TEST_DIRNAME/../../src/python
    # What the command chooses itself where OpenBLAS does not know the CPU.
    core=$(/usr/bin/python3 -W ignore -c '
from nystream._lib import lib
print((lib.ny_blas_coretype() or b"").decode())')
    [ -z "$core" ] || export OPENBLAS_CORETYPE=$core
    for program in digits garments faces terrain heartbeats cells documents rooms strip halo nights cohort big; do
        /usr/bin/python3 ../$program.py
    done
    for picture in ../*.png; do
        cmp "$picture" "${picture#../}"
    done
    [ "$(ls -- *.png | wc -l)" -eq 13 ]
}

# section NUMBER PAGE: the blocks of a section of a page, as files.
section() {
    export PATH=$NYSTREAM_BUILD/data-tools:$PATH
    "$BATS_TEST_DIRNAME/../walk-through" "$1" . "$2"
}

# bats file_tags=
@test "C: the program compiles, and places ten rows" {
    [ -z "${NYSTREAM_SANITIZER-}" ] || skip "an instrumented library does not link by itself"
    section 1 c
    make -s -C "$BATS_TEST_DIRNAME/../.." BUILD="$NYSTREAM_BUILD" install DESTDIR="$PWD/stage" \
        PREFIX=/usr >log
    cat >>steps.sh <<<'[ "$(./embed | wc -l)" -eq 10 ]'
    sed -i 's/^cc /&-std=c11 -Wall -Wextra -Wpedantic -Werror /; 2i rm -rf memory.nys' steps.sh
    PKG_CONFIG_PATH=$PWD/stage/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$PWD/stage \
        LD_LIBRARY_PATH=$PWD/stage/usr/lib bash -eu steps.sh
}

@test "genomes" {
    SAMPLES=600 VARIANTS=3000 run_page genomes
    [ "$(wc -l <cohort.eigenvec)" -eq 601 ]
    [ "$(wc -l <new.eigenvec)" -eq 201 ]
    grep -q '3 components stand out of noise' out
    [ -s cohort.png ]
}

# bats test_tags=slow
@test "wide and sparse: a cell atlas" {
    CELLS=${NYSTREAM_DATA:-/nowhere}/pbmc3k/pbmc3k.h5ad
    [ -e "$CELLS" ] || skip "no pbmc3k in NYSTREAM_DATA"
    [ -x "$NYSTREAM_BUILD/nystream-hdf5" ] || skip "no libhdf5"
    section 1 wide-and-sparse
    CELLS=$CELLS CLUSTERS=9 run bash -eu steps.sh
    echo "$output"
    [ "$status" -eq 0 ]
    prints inertia
    [ "$(wc -l <cluster-of-cell.csv)" -eq 2639 ] # with a header
    grep -qE '^[ACGT]{14},[0-8]$' cluster-of-cell.csv
    [ "$(gzip -dc placed.csv.gz | wc -l)" -eq 2639 ]
    [ -s spectrum.png ]
    [ -s gene.png ]
    [ -s groups.png ]
    grep -q Cells atlas.html
    # A cell that is placed anew is where it was.
    nystream export cells.nys pca -o pca.csv --with header,ids
    gzip -dc placed.csv.gz | cmp - pca.csv
}

# bats test_tags=slow
@test "wide and sparse: documents" {
    section 2 wide-and-sparse
    N=3000 COMPONENTS=20 run bash -eu steps.sh
    echo "$output"
    [ "$status" -eq 0 ]
    prints purity
    [[ $(npy_header today.npy) == *"(1000, 20)"* ]]
}

@test "every night: rows are taken in by the lines of the crontab" {
    section 1 every-night
    N=3000 bash -eu <(head -n 6 steps.sh)
    [ -s today.npy ]
    [ "$(grep -c '^0' steps.cron)" -eq 2 ]
    sed -nE 's/^0( [^ ]+){4} +//p' steps.cron >lines
    DATA=. bash -eu lines
    [ -e taken.npy ]
    [ ! -e today.npy ]
    [ "$(cat rows)" = 3300 ]
    cp taken.npy today.npy # as if the machine had stopped behind the import
    echo 3000 >rows
    DATA=. run bash -eu lines
    [ -e today.npy ]
    [[ $output == *"night.nys has 3300 rows, but --expect-rows says 3000"* ]]
    bash -eu <(tail -n +7 steps.sh)
    [[ $(npy_header map.npy) == *"(3300, 10)"* ]]
    nystream info night.nys map --json | grep -q '"updates": 2'
}

@test "every night: a bad one is taken out again" {
    section 1 every-night
    N=3000 bash -eu <(head -n 6 steps.sh)
    section 2 every-night
    N=3000 run -0 bash -eu steps.sh
    prints "- rows 3000 to 3299, " "night.nys: 3,000 rows, was 3,300"
    [ "$(nystream list night.nys)" = "$(printf 'map\tdone')" ]
}
