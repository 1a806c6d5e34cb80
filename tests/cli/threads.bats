# The memory budget is kept with more threads than CPUs (tests/long/threads.bats tries all methods and
# numbers of threads): each thread has buffers of its own, in this library and in OpenBLAS.
load helper
load peaks

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    load peaks
    make_peak_stores
}

setup() {
    skip_peaks
    own_folder || return
    files=$BATS_FILE_TMPDIR
}

# bats file_tags=slow
@test "sixteen threads keep the least budget: nystrom" {
    fits_in_threads long 16 1 --approx nystrom --landmarks 200
}

@test "sixteen threads keep the least budget: projected" {
    fits_in_threads long 16 1 --approx projected --select uniform --landmarks 500 --components 20
}

@test "sixteen threads keep the least budget: greedy, and rows of many columns" {
    fits_in_threads wide 16 1 --select greedy --tolerance 0.1 --landmarks 300 --certify
}

@test "threads keep the least budget: a pass before one that holds more, beside its buffers" {
    fits_in_threads few 2 1 --map diffusion --inner randomized --select uniform --landmarks 1300
}

@test "no stage of a plan that fits holds more than its budget" {
    for options in "100M --map laplacian --approx ensemble --landmarks 300 --probe 400" \
        "50M --approx nystrom --landmarks 300 --certify --components 200" \
        "300M --map laplacian --inner randomized --landmarks 1000 --components 200"; do
        json=$(nystream plan "$files/long.nys" --threads 64 --json --memory $options)
        awk -v budget="${options%%M*}" '
            /"fits": true/ { fits = 1 }
            /"stage_memory_bytes"/ { inside = 1 }
            inside && /}/ { inside = 0 }
            inside && match($0, /[0-9]+,?$/) && substr($0, RSTART) + 0 > budget * 1048576 { print; more = 1 }
            END { exit more || !fits }' <<<"$json" || { echo "$options: $json" >&2; return 1; }
    done
}

# bats file_tags=
@test "the least budget does not grow with the threads" {
    one=$(least_of "$files/long.nys" --landmarks 500 --threads 1)
    many=$(least_of "$files/long.nys" --landmarks 500 --threads 64)
    [ "$one" -eq "$many" ]
}

@test "what is refused has not calibrated in more threads than fit" {
    run -8 "$files/peak" peak 0 nystream fit "$files/long.nys" y --landmarks 1500 --threads 16 --memory 30M
    [ "$(cut -d" " -f1 peak)" -le $((30 << 20)) ]
}

# bats test_tags=slow
@test "plan keeps its budget in any number of threads" {
    for t in 2 16 64; do
        peaks_within $((32 << 20)) nystream plan "$files/long.nys" --landmarks 1000 --threads "$t"
    done
}

# bats test_tags=slow
@test "verify and repair keep their budget in any number of threads" {
    npy_u8 1500000 16 >blocks.npy # 23 blocks of 1 MiB
    nystream import blocks.nys blocks.npy -q
    for t in 2 16 64; do
        for verb in verify repair; do
            peaks_within $((32 << 20)) nystream $verb blocks.nys --threads "$t"
        done
    done
}

# limited OPTION KIB COMMAND…: runs a command under a limit of ulimit. It has to succeed, or to be
# refused because it has no room: waiting for it until the time is up is exit 124. Sets `code`.
limited() {
    local limit="$1 $2"
    shift 2
    code=0
    (ulimit $limit && timeout 60 "$@") >said 2>&1 || code=$?
    echo "ulimit $limit: $*: exit $code: $(cat said)"
    [ "$code" -eq 0 ] || [ "$code" -eq 8 ]
}

# OpenBLAS may be one that cannot even be loaded there.
loaded() {
    [ "$code" -eq 0 ] || grep -q "OpenBLAS needs 130 MiB when it is loaded, and the limit of this process" said
}

# If it is refused memory, a thread of OpenBLAS tries again for ever, and exit() waits for it.
@test "a command ends where address space is short" {
    limited -v 200000 nystream version
    [ "$code" -eq 0 ]
    limited -v 120000 nystream help fit
    loaded
    limited -d 30000 nystream version
    loaded
}

@test "a store leaves room for others and for work in a limited address space" {
    npy_u8 3000 16 >t.npy
    nystream import s t.npy -q
    for limit in 3000000 9000000 18000000; do
        (ulimit -v $limit && timeout 60 nystream fit s a --restart --landmarks 20 --threads 2 -q)
    done
}

# OpenBLAS tries for ever to get a buffer that is refused.
@test "a job that has no room for its products ends" {
    npy_u8 3000 16 >t.npy
    nystream import s t.npy -q
    limited -d 120000 nystream fit s a --landmarks 20 --threads 2 -q
    [ "$code" -eq 8 ]
    grep -Eq "the limit of this process \(ulimit (-d 120000, which is 117 MiB|-v or -d)\) leaves" said
    limited -d 150000 nystream fit s a --landmarks 20 --threads 2 --memory 1G -q
    [ "$code" -eq 0 ] || grep -q "the limit of this process (ulimit -d 150000" said
}

# The room may be there when a job begins, and be taken by the job before its first product.
# bats test_tags=slow
@test "under any limit of its data a job ends" {
    npy_u8 4000 16 >t.npy
    nystream import s t.npy -q
    nystream fit s a --landmarks 20 --components 5 -q
    for limit in 30000 50000 100000 150000 200000 300000 350000 400000 524288 700000; do
        limited -d $limit nystream fit s b --restart --landmarks 600 --threads 2 -q
        limited -d $limit nystream fit s c --restart --landmarks 600 --threads 2 --memory 512M -q
        limited -d $limit nystream transform s a --input t.npy -o placed.npy --threads 2 -q
        limited -d $limit nystream eval s a --clusters 3 --measures clusters --threads 2 -q
    done
    [ "$code" -eq 0 ]
    # With room for the products of one thread beside what it holds, a job of any number succeeds.
    for threads in 1 2 16; do
        limited -d 400000 nystream fit s b --restart --landmarks 600 --threads $threads -q
        [ "$code" -eq 0 ]
    done
    limited -d 30000 nystream info s
    loaded
}

# For a problem of more than 2,048 landmarks OpenBLAS starts threads, each with a buffer and a stack.
# bats test_tags=slow
@test "OpenBLAS starts no thread that has no room" {
    npy_u8 4000 16 >t.npy
    nystream import s t.npy -q
    for limit in 400000 450000 500000 550000 600000 700000; do
        limited -d $limit nystream fit s a --restart --landmarks 2100 --threads 2 --memory 400M -q
    done
    [ "$code" -eq 0 ]
}

@test "a command begins with one thread, and may use all CPUs" {
    mkfifo rows.csv
    nystream import rows.nys rows.csv -q &
    pid=$!
    exec 7>rows.csv # waits until it is read
    threads=$(sed -n 's/^Threads:\t*//p' "/proc/$pid/status")
    cpus=$(sed -n 's/^Cpus_allowed_list:\t*//p' "/proc/$pid/status")
    echo 1,2 >&7
    echo 3,4 >&7
    exec 7>&-
    wait "$pid"
    [ "$threads" -eq 1 ]
    [ "$cpus" = "$(sed -n 's/^Cpus_allowed_list:\t*//p' /proc/$$/status)" ]
}
