# One writer, many readers, none of them stale; jobs of different names side by side.
load helper

slow="--landmarks 1500 --components 3 --threads 1"

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    table 60000 8 >big.csv
    nystream import big.nys big.csv -q
}

big_store() {
    cp -r "$BATS_FILE_TMPDIR/big.nys" s
}

# Starts a fit that takes seconds; $pid. Returns when its NAME is there.
start_fit() { # NAME
    nystream fit s "$1" $slow -q 2>err &
    pid=$!
    await "nystream list s | grep -q '^$1'"
}

@test "a second import is refused at once, and told who is first" {
    table 1000 3 >t.csv
    nystream import s t.csv -q
    mkfifo pipe
    exec 7<>pipe
    nystream import s - --append --format csv -q <pipe 2>err 7>&- &
    local pid=$! from
    table 500 3 >&7
    await 'grep -qs "^$pid " s/locks/points.lock'
    from=$SECONDS
    ny -6 import s t.csv --append
    [ $((SECONDS - from)) -le 5 ]
    # readers are not in its way, and see the rows from before it
    has s n=1000
    ny -0 verify s
    nystream fit s a --landmarks 20 -q
    exec 7>&-
    wait $pid
    has s n=1500
    has "s a" n=1000
}

@test "a fit before the end of the first import is told of it" {
    mkfifo pipe
    exec 7<>pipe
    nystream import s - --format csv -q <pipe 2>err 7>&- &
    local pid=$!
    table 500 3 >&7
    await 'grep -qs "^$pid " s/locks/points.lock'
    ny -3 fit s a --landmarks 20
    exec 7>&-
    wait $pid
    ny -0 fit s a --landmarks 20 -q
}

@test "the same NAME is refused at once, and told who has it" {
    big_store
    start_fit a
    from=$SECONDS
    ny -6 fit s a $slow
    ny -6 fit s a --landmarks 20 --restart
    ny -6 rm s a
    [ $((SECONDS - from)) -le 5 ]
    ny list s
    [ "$output" = "a	running" ]
    ny -2 export s a -o a.npy
    kill -TERM $pid
    wait $pid || [ $? -eq 143 ]
    ny list s
    [[ $output == "a	interrupted"* ]]
}

# bats test_tags=slow
@test "jobs of different names run side by side, to the bytes they have alone" {
    big_store
    nystream fit s alone --landmarks 300 --components 4 -q
    nystream fit s one --landmarks 300 --components 4 -q &
    one=$!
    nystream fit s two --landmarks 300 --components 4 --select greedy --tolerance 0.1 -q &
    two=$!
    nystream fit s three --landmarks 300 --components 4 -q
    nystream import s "$BATS_FILE_TMPDIR/big.csv" --append -q
    wait $one
    wait $two
    same_exports "s alone" "s one"
    same_exports "s alone" "s three"
    ny -0 verify s
    has "s two" n=60000
}

@test "readers see whole states while rows are appended" {
    table 4000 3 >t.csv
    nystream import s t.csv -q
    local appends=0 n
    (for i in 1 2 3 4 5 6 7 8; do nystream import s t.csv --append -q || exit; done) &
    local writer=$!
    while kill -0 $writer 2>/dev/null; do
        n=$(field "$(nystream info s --json)" n)
        [ $((n % 4000)) -eq 0 ]
        nystream verify s -q >/dev/null
        ((appends += 1))
    done
    wait $writer
    [ "$appends" -gt 0 ]
    [ "$(field "$(nystream info s --json)" n)" -eq 36000 ]
}

@test "a result is replaced as a whole: readers of the old one are not disturbed" {
    big_store
    nystream fit s a --landmarks 30 -q
    nystream export s a -o before.npy
    nystream fit s b --landmarks 30 -q &
    local pid=$!
    for i in 1 2 3 4 5; do
        writes before.npy "s a"
    done
    wait $pid
}

# Starts an export of more than two pieces of 4 MiB into a pipe, and reads its first bytes: the rest
# waits for finish_export().
begin_export() { # ARGUMENTS
    [ -p slow ] || mkfifo slow
    nystream export "$@" -o - >slow 2>export.err &
    exporter=$!
    exec 7<slow
    head -c 100000 <&7 >begun.npy
}

finish_export() { # STATUS
    cat <&7 >rest.npy
    exec 7<&-
    ends $exporter "$1" export.err
}

# bats file_tags=slow
@test "no export has rows of two fits" {
    npy_u8 12000 20 >t.npy
    nystream import s t.npy -q
    local exporter fit="--landmarks 120 --components 100 --precision f64 --threads 1 -q"
    nystream fit s a $fit
    begin_export s a
    nystream fit s b $fit
    nystream eval s a --clusters 3 -q >/dev/null
    finish_export 0
    begin_export s a
    nystream fit s a $fit --seed 1 --restart
    finish_export 6
    says "fitted anew" "run the same command again"
    begin_export s a
    nystream rm s a
    finish_export 6
    says "removed while it was read"
}

@test "no export has clusters of two evaluations" {
    npy_u8 12000 20 >t.npy
    nystream import s t.npy -q
    nystream fit s a --landmarks 120 --components 100 --precision f64 --threads 1 -q
    mkfifo slow.csv
    # The second one takes the place in the store that the clusters have which are exported.
    for evaluations in "4" "4 5"; do
        nystream eval s a --clusters 3 -q >/dev/null
        nystream export s a --with clusters -o slow.csv 2>export.err &
        exporter=$!
        exec 7<slow.csv
        head -c 100000 <&7 >begun.csv
        for k in $evaluations; do
            nystream eval s a --clusters $k -q >/dev/null
        done
        finish_export 6
    done
}

@test "no export of names has rows of two fits" {
    awk 'BEGIN { print "id,x,y"; for (i = 0; i < 20000; i++)
        printf "%060d,%.6f,%.6f\n", i, rand() + (i % 20 ? 0 : 100), rand() }' >t.csv
    nystream import s t.csv --id-column id -q
    mkfifo slow.txt
    # A map of a graph has the rows of one component: their numbers are read piece by piece.
    for how in "fit s a --restart -q" "rm s a"; do
        nystream fit s a --map isomap --neighbors 8 --landmarks 20 -q
        nystream export s a --part ids -o slow.txt 2>export.err &
        exporter=$!
        exec 7<slow.txt
        head -c 100000 <&7 >begun.txt
        nystream $how
        finish_export 6
        says "'a' in s was fitted anew, updated or removed while it was read"
    done
}

@test "no export of shards has rows of two fits" {
    local exporter shard fit="--landmarks 120 --components 100 --precision f64 -q"
    for shard in 0 1; do
        npy_u8 8192 20 >t.npy
        nystream import big t.npy --shard $shard/2 -q
    done
    nystream fit big a $fit
    mkfifo slow.csv
    nystream export big a --with header -o slow.csv 2>export.err &
    exporter=$!
    exec 7<slow.csv
    head -n 7300 <&7 >begun.csv # the last piece of the first shard is read, and none of the second
    nystream fit big a $fit --seed 1 --restart
    finish_export 6
}

# Starts to place rows by a result: it has opened that when it reads rows, of which the last wait for
# finish_transform().
begin_transform() { # NAME
    [ -p rows ] || mkfifo rows
    nystream transform s "$1" --input - -o placed.npy <rows 2>transform.err &
    transformer=$!
    exec 7>rows
    cat new.csv >&7
}

finish_transform() { # STATUS
    exec 7>&-
    ends $transformer "$1" transform.err
}

@test "no rows are placed by two fits of one name, or by two graphs" {
    table 12000 3 >new.csv # several times what a pipe holds
    head -400 new.csv >s.csv
    nystream import s s.csv -q
    nystream graph s near --neighbors 6 -q
    nystream fit s isomap --map isomap --neighbors 8 --connect --landmarks 40 -q
    nystream fit s eigenmaps --map eigenmaps --neighbors 8 --connect -q
    nystream fit s random --approx randomized --kernel rbf -q
    for name in near isomap eigenmaps random; do
        begin_transform $name
        nystream fit s other --landmarks 20 --restart -q
        finish_transform 0
        rm placed.npy
        begin_transform $name
        nystream "$([ $name = near ] && echo graph || echo fit)" s $name --restart -q
        finish_transform 6
        says "'$name' in s was fitted anew"
        begin_transform $name
        nystream rm s $name
        finish_transform 6
        says "removed while it was read"
        [ ! -e placed.npy ]
    done
}

@test "no path goes through two graphs of one name" {
    awk 'BEGIN { for (i = 0; i < 1200000; i++) print i, i + 1 }' >line.txt
    nystream graph e g --edges line.txt -q
    nystream path e g --from 0 --to 1200000 >path.txt 2>err &
    pid=$!
    await '[[ $(readlink /proc/$pid/fd/*) == *e/results/data.mdb* ]]'
    sleep 0.05
    kill -STOP $pid
    nystream graph e g --restart -q
    kill -CONT $pid
    ends $pid 6
    says "'g' in e was fitted anew"
    [ ! -s path.txt ]
}

# bats file_tags=
@test "no export of points has rows of two imports" {
    npy_u8 1000 100 >first.npy
    npy_u8 29000 100 >second.npy
    npy_u8 29000 100 >other.npy
    nystream import s first.npy -q
    nystream import s second.npy --append -q
    begin_export s --part points
    nystream import s first.npy --append -q
    finish_export 0
    nystream truncate s --keep 30000 -q
    begin_export s --part points
    nystream truncate s --keep 1000 -q
    nystream import s other.npy --append -q
    finish_export 6
    begin_export s --part points
    nystream truncate s --keep 1000 -q
    finish_export 6
}

# bats file_tags=slow
@test "info of shards tells the rows that are left where some are cut off meanwhile, or to come again" {
    local pid code=0
    npy_u8 8000000 1 >t.npy
    nystream import big t.npy --labels t.npy --shards 2 -q
    nystream info big --json >told 2>err &
    pid=$!
    await "[[ \$(readlink /proc/$pid/fd/*) == *big/shard-00001/points/data.mdb* ]]"
    sleep 0.05
    kill -STOP $pid
    nystream truncate big/shard-00001 --keep 1000 -q
    kill -CONT $pid
    wait $pid || code=$?
    left=$(field "$(nystream info big --json)" n)
    [ "$left" -lt 8000000 ]
    [ $code -eq 6 ] || [[ $(field "$(<told)" n) =~ ^($left|8000000)$ ]] # unless it was over by then
}

@test "two processes with one number, in two pid namespaces: one writes, the other reads" {
    unshare -p -f true 2>/dev/null || skip "no new pid namespaces here (not root?)"
    big_store
    nystream fit s a --landmarks 30 -q
    nystream export s a -o before.npy
    unshare -p -f nystream fit s b $slow -q 2>err &
    pid=$!
    await '[[ $(nystream list s) == *b*running* ]]'
    run -0 --separate-stderr unshare -p -f nystream export s a -o after.npy
    says "--pid=host"
    cmp before.npy after.npy
    run -0 --separate-stderr unshare -p -f nystream eval s a --against a --json
    run -6 --separate-stderr unshare -p -f nystream fit s c --landmarks 20
    says "--pid=host"
    kill -KILL $pid
    wait $pid || true
    # its child, the fit, ends with its namespace or by itself
    await 'run --separate-stderr unshare -p -f nystream fit s c --landmarks 20 -q && [ "$status" -eq 0 ]'
    ny -0 verify s
}
