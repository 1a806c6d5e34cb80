# The room of what was removed is given back, and nothing else changes.
load helper
brought="s before.npy"

# A store of which a large result has been removed, beside a small one.
setup_file() {
    file_folder || return
    table 20000 8 >rows.csv
    nystream import s rows.csv -q
    nystream fit s large --landmarks 300 --components 100 -q
    nystream fit s small --landmarks 50 --components 2 -q
    nystream export s small -o before.npy
    nystream rm s large
}

bytes() { du -sb s | cut -f1; }

@test "compact gives back what a removed result held; all else has the same bytes" {
    held=$(bytes)
    shows ", was " compact s
    grep compact s/locks/points.lock
    [ "$(bytes)" -lt $((held - 7000000)) ]
    [ ! -e s/results.small ]
    ny -0 verify s
    writes before.npy "s small"
    ny -0 compact s --json
    [ "$(field "$output" bytes)" = "$(field "$output" bytes_before)" ]
    shows "nothing to reclaim" compact s
}

@test "a store that was compacted takes new rows and new results" {
    nystream compact s -q
    table 1000 8 7 >more.csv
    nystream import s more.csv --append -q
    nystream fit s small --update full -q
    nystream fit s large --landmarks 300 --components 100 -q
    ny -0 verify s
    nystream export s small -o after.npy
    [ "$(stat -c %s after.npy)" -gt "$(stat -c %s before.npy)" ]
}

@test "compact keeps whose files they are, and who may write them" {
    chmod 770 s/results
    chmod 660 s/results/data.mdb
    [ "$(id -u)" -ne 0 ] || chown 12345:2345 s/results/data.mdb
    was=$(stat -c '%a %u %g' s/results s/results/data.mdb)
    nystream compact s -q
    [ "$(stat -c '%a %u %g' s/results s/results/data.mdb)" = "$was" ]
}

@test "compact is refused while an import or a job runs, and of what is no store" {
    exec 8>>s/locks/points.lock
    flock 8
    ny -6 compact s
    exec 8>&-
    exec 8>>s/locks/name-small.lock
    flock 8
    ny -6 compact s
    run ! grep compact s/locks/points.lock # who holds a lock writes into it
    exec 8>&-
    ny -4 compact missing
    mkdir empty
    ny -4 compact empty
}

@test "who reads goes on, and who opened before is refused to write" {
    mkfifo pipe
    nystream transform s small --input pipe --format csv -o placed.npy -q &
    local reader=$!
    exec 7>pipe
    table 100 8 >&7
    ny -0 compact s -q
    exec 7>&-
    wait $reader
    [ -s placed.npy ]
    mkfifo more
    nystream import s more --append --format csv -q 2>err &
    local writer=$!
    exec 7>more
    table 100 8 >&7
    await 'grep -qs "^$writer " s/locks/points.lock'
    ny -6 compact s
    exec 7>&-
    wait $writer
}

# bats test_tags=slow
@test "an evaluation beside a compact tells what it has measured, and that no clusters are stored" {
    nystream eval s small --clusters 500 >measured.txt 2>err &
    pid=$!
    until [[ $(readlink /proc/$pid/fd/*) == *s/results/data.mdb* ]]; do sleep 0.01; done
    sleep 0.2
    kill -STOP $pid
    nystream compact s -q
    kill -CONT $pid
    ends $pid 0
    says "the clusters are not stored: s was removed or compacted while it was open"
    [ -s measured.txt ]
    ny -2 export s small --part clusters -o clusters.npy
}

# bats test_tags=slow
@test "killed at any moment it leaves one store or the other" {
    cp -r s kept
    for delay in 0.002 0.005 0.01 0.015 0.02 0.03 0.05; do
        nystream compact s -q &
        sleep $delay
        kill -9 $! 2>/dev/null || true
        wait $! 2>/dev/null || true
        ny -0 verify s
        writes before.npy "s small"
        rm -rf s
        cp -r kept s
    done
    mkdir s/results.small s/results.small.new # as a kill leaves them
    echo half >s/results.small/data.mdb
    nystream compact s -q
    [ ! -e s/results.small ]
    [ ! -e s/results.small.new ]
    ny -0 verify s
}

@test "more results than files may be open: compact tays what to raise" {
    table 100 3 >rows.csv
    nystream import t rows.csv -q
    for i in {1..24}; do
        nystream select t n$i --landmarks 3 -q
    done
    run -4 --separate-stderr bash -c 'ulimit -n 24; nystream compact t'
    says "Too many open files; let the process open more files (ulimit -n)"
    ny -0 compact t
}
