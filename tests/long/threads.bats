# The memory budget is kept by every method, map and kind of selection, with one thread and with 64 on
# the CPUs that there are, at the smallest budget that the plan allows and at half as much again.
bats_require_minimum_version 1.5.0
load ../cli/helper
load ../cli/peaks

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    load ../cli/helper
    load ../cli/peaks
    make_peak_stores ../cli
}

setup() {
    skip_peaks
    own_folder || return
    files=$BATS_FILE_TMPDIR
}

# Three runs each: threads take their buffers in another order each time.
grid() {
    fits_in_threads "$1" "1 2 8 16 64" 3 "${@:2}"
}

@test "nystrom of few and of many landmarks" {
    grid long --approx nystrom --landmarks 10
    grid long --approx nystrom --landmarks 500 --components 8
}

@test "projected, f32 and f64" {
    grid long --landmarks 300 --select uniform --components 20
    grid wide --landmarks 300 --select uniform --precision f64
}

@test "projected, solved in all threads" {
    grid wide --landmarks 2100 --select uniform
}

@test "column and orthonystrom" {
    grid wide --approx column --landmarks 400 --components 8
    grid wide --approx orthonystrom --landmarks 400 --components 8
}

@test "ensemble" {
    grid wide --approx ensemble --landmarks 400 --components 8
}

@test "few components of many landmarks" {
    grid wide --inner randomized --landmarks 800 --select uniform --components 5
}

@test "rpcholesky" {
    grid long --select rpcholesky --landmarks 300
    grid wide --select rpcholesky --landmarks 300 --certify
}

@test "greedy, and online" {
    grid wide --select greedy --tolerance 0.1 --landmarks 300
    grid wide --online --tolerance 0.1 --landmarks 300
}

@test "weighted" {
    grid wide --select weighted --landmarks 300
}

@test "laplacian and diffusion, with a probe" {
    grid wide --map laplacian --landmarks 300 --probe 100
    grid wide --map diffusion --landmarks 300 --select uniform
}

@test "pca over all columns" {
    grid wide --map pca --components 10 --approx exact
}

@test "all of K: exact, randomized, gaussian" {
    grid few --approx exact
    grid few --approx randomized --components 10
    grid few --approx gaussian --landmarks 100 --precision f64
}

@test "maps of graphs" {
    grid few --map isomap --landmarks 200
    grid few --map eigenmaps --components 3
}
