# The memory budget by the peak of the resident set, which every system tells: what a fit with many
# threads on few CPUs holds is what it holds on a server of many.

# Makes ./peak, and the stores: small and long, and one of wide rows.
make_peak_stores() {
    [ -z "${NYSTREAM_SANITIZER-}" ] || return 0 # setup_file cannot skip: skip_peaks
    cc -O1 -o peak "$BATS_TEST_DIRNAME/${1-.}/external/peak.c"
    npy_u8 "${2-60000}" 16 >long.npy
    npy_u8 6000 300 >wide.npy
    npy_u8 3000 16 >few.npy
    local name
    for name in long wide few; do
        nystream import $name.nys $name.npy -q
    done
}

skip_peaks() {
    [ -z "${NYSTREAM_SANITIZER-}" ] || skip "a sanitizer takes memory of its own"
}

# least_of VERB STORE OPTION…: the smallest budget that the plan says works.
least_of() {
    field "$(nystream plan "$@" --json --memory 64G)" memory_min_bytes
}

# peaks_within BUDGET COMMAND…: it exits with 0, and never held more than that.
peaks_within() {
    local budget=$1 peak
    shift
    rm -f peak
    "$files/peak" peak "$budget" "$@" --memory "$budget" >out 2>&1 || { cat out >&2; return 1; }
    read -r peak _ <peak
    [ "$peak" -gt 0 ] && [ "$peak" -le "$budget" ] && return
    echo "peak $peak of $budget: $*" >&2
    return 1
}

# fits_in_threads STORE THREADS RUNS OPTION…: at the least budget and at half as much again.
fits_in_threads() {
    local store=$files/$1.nys threads=$2 runs=$3 least budget t
    shift 3
    for t in $threads; do
        least=$(least_of "$store" "$@" --threads "$t")
        for budget in "$least" $((least * 3 / 2)); do
            for ((run = 0; run < runs; run++)); do
                peaks_within "$budget" nystream fit "$store" x --restart --threads "$t" "$@" -q ||
                    return
            done
        done
    done
}
