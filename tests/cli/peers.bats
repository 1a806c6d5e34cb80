# Fits over the shards of a store by several processes that meet in a folder: the bytes of one
# process, processes that are killed, and machines that have shards of their own.
load helper
brought="big rows.more.csv"

setup_file() {
    file_folder || return
    local shard
    for shard in 0 1 2; do
        table $((2500 + 700 * shard)) 8 $((shard + 1)) >rows.$shard.csv
        nystream import big --shard $shard/3 rows.$shard.csv -q
    done
    table 90 8 9 >rows.more.csv
    cp -r big fitted
    nystream fit fitted a --landmarks 60 -q
    nystream export fitted a -o one.npy -q
}

pids=()

# start STORE OPTION…: begins a fit in the background; its words go to said.N, N = ${#pids[@]}.
start() {
    nystream fit "$1" a --landmarks 60 "${@:2}" >"said.${#pids[@]}" 2>&1 3>&- &
    pids+=($!)
}

# ended CODE,…: waits for all that were started; each ends so.
ended() {
    local pid codes=
    for pid in "${pids[@]}"; do
        wait "$pid" && codes+=0, || codes+=$?,
    done
    pids=()
    [ "$codes" = "$1," ] || { echo "$codes"; cat said.*; false; }
}

# Two processes that are given other NAMEs or options (NAME OPTION…, a word each) both end with 2.
both_refused() {
    nystream fit big $1 --peers folder:2:meet >said.0 2>&1 3>&- &
    pids=($!)
    nystream fit big $2 --peers folder:2:meet >said.1 2>&1 3>&- &
    pids+=($!)
    ended 2,2
}

@test "any number of processes give the bytes of one" {
    start big --peers folder:2:meet
    start big --peers folder:2:meet
    ended 0,0
    writes "$BATS_FILE_TMPDIR/one.npy" "big a"
    nystream info big a --json >info.json
    awk '/"network_seconds"/ { network = $2 } /^  "seconds"/ { all = $2 } END { exit !(0 < network + 0 && network + 0 < all + 0) }' info.json
    [ "$(field "$(nystream info "$BATS_FILE_TMPDIR/fitted" a --json)" network_seconds)" = "" ]
    cat said.* | grep -q "time .* (network "
    nystream rm big a
    for _ in 0 1 2; do start big --peers folder:meet; done
    ended 0,0,0
    writes "$BATS_FILE_TMPDIR/one.npy" "big a"
    [ -z "$(compgen -G 'meet/*/run-*')" ]
}

@test "machines with disks of their own work at the shards that they have" {
    mkdir far near
    mkdir far/big near/big
    mv big/shard-00000 near/big
    mv big/shard-0000[12] far/big
    cp big/shards near/big
    mv big/shards far/big
    start far/big --peers folder:meet # the first one, whose shards are 1 and 2
    start far/big --peers folder:meet
    sleep 0.2
    start near/big --peers folder:meet
    ended 0,0,0
    mv near/big/shard-00000 far/big
    writes "$BATS_FILE_TMPDIR/one.npy" "far/big a"
    ny -2 fit near/big b --peers folder:2:meet --peers-wait 1
}

# bats test_tags=slow
@test "one process that is killed ends the others, and all go on with the same command" {
    for _ in 0 1 2; do start big --peers folder:meet --landmarks 900; done
    await '[ -n "$(compgen -G "meet/*/run-*/start")" ]'
    kill -9 "${pids[1]}"
    began=$SECONDS
    ended 6,137,6
    [ $((SECONDS - began)) -le 10 ]
    grep -q "has ended without notice" said.0 said.2
    for _ in 0 1 2; do start big --peers folder:meet --landmarks 900; done
    ended 0,0,0
    nystream export big a -o killed.npy -q
    nystream fit big b --landmarks 900 -q
    writes killed.npy "big b"
}

@test "a process that ends before it comes to the others is heard by those that wait" {
    start big --peers folder:meet
    await '[ -e meet/set-*/who-00000 ]'
    began=$SECONDS
    mv big/shard-00002/results/data.mdb kept.mdb
    : >big/shard-00002/results/data.mdb
    start big --peers folder:meet
    ended 6,5
    [ $((SECONDS - began)) -le 10 ]
    grep -q "a process of this job ended before it came to meet: big/shard-00002" said.0
    mv kept.mdb big/shard-00002/results/data.mdb
    for _ in 0 1 2; do start big --peers folder:meet; done # which do not hear of earlier ones
    ended 0,0,0
    [ -z "$(compgen -G 'meet/failed-*')" ]
}

@test "one process that is missing is named, and one that differs ends all" {
    ny -6 fit big a --peers folder:2:meet --peers-wait 0.5
    says "rank 1 has not arrived at meet within"
    start big --peers folder:2:meet
    start big --peers folder:2:meet --seed 3
    ended 2,2
    grep -q "shard 2 has other options than shard 0" said.0
    grep -q "shard 2 has other options than shard 0" said.1
}

@test "processes of two commands leave what is there" {
    table 60 8 7 >landmarks.csv
    table 60 8 8 >others.csv
    nystream fit big a --landmarks 60 -q
    nystream export big a -o before.npy -q
    # Two options.
    start big --peers folder:2:meet --restart
    start big --peers folder:2:meet --restart --seed 3
    ended 2,2
    writes before.npy "big a"
    # Two names.
    nystream fit big b --landmarks 50 -q
    nystream import big rows.more.csv --append -q
    for options in "--landmarks 60 --restart" "--update frozen"; do
        both_refused "a $options" "b $options"
    done
    writes before.npy "big a"
    [ "$(nystream info big a | awk '$1 == "landmarks" { print $2 }')" = 60 ]
    # Two files of one name, as hosts may have them.
    mkdir near far
    mv landmarks.csv near/landmarks.csv
    mv others.csv far/landmarks.csv
    pids=()
    for host in near far; do
        (cd $host && exec nystream fit ../big c --landmarks-points landmarks.csv --gamma 0.4 \
            --peers folder:2:../meet) >said.$host 2>&1 3>&- &
        pids+=($!)
    done
    ended 2,2
    grep -q "shard 2 has other files that options name than shard 0" said.near
    ny -2 info big c
}

@test "processes of two kinds of work end alike" {
    nystream fit big a --landmarks 60 -q
    nystream import big rows.more.csv --append -q
    for other in "--update full" "--landmarks 60 --restart"; do
        both_refused "a --update frozen" "a $other"
    done
}

@test "a process without memory for its part tells the others" {
    start big --peers folder:2:meet --memory 40M
    start big --peers folder:2:meet
    ended 8,8
    grep -q "the memory budget of 40.0 MiB is too small" said.0
    grep -q "the memory budget of 40.0 MiB is too small" said.1
}

@test "a store that a host does not see is told as such" {
    OMPI_COMM_WORLD_SIZE=2 ny -4 fit nowhere a --landmarks 60
    says "there is no store nowhere"
    ny -4 fit nowhere a --landmarks 60 --peers folder:2:meet
}

@test "processes that would all do the work of one are refused before they begin" {
    store one 90 4
    table 90 4 >rows.csv
    for words in "fit one a --landmarks 9" "select one d --landmarks 9" "graph one g"; do
        PMI_SIZE=3 ny -2 $words
        exits 2
    done
    for words in "select big d --landmarks 9" "graph big g"; do # as for one process
        PMI_SIZE=3 ny -2 $words
    done
    for words in "new rows.csv" "one rows.csv --append"; do
        PMI_SIZE=3 ny import $words
        usage "3 processes were started to import the same rows; give --shards 3"
        exits 2
    done
    [ ! -e new ]
    PMI_SIZE=3 ny -0 import new rows.csv --peers alone
    PMI_SIZE=3 ny -0 import far --shard 0/3 rows.csv
    PMI_SIZE=3 ny -0 embed rows.csv -o e.npy # of a store of its own
    PMI_SIZE=3 ny -0 fit one a --landmarks 9 --peers alone
}

# bats test_tags=slow
@test "jobs of two stores in one folder do not meet, and both are right" {
    cp -r big other
    nystream import other rows.more.csv --append -q
    rm -r other/shard-00000 # is imported again, so that it has another id
    nystream import other --shard 0/3 "$BATS_FILE_TMPDIR/rows.1.csv" -q
    cp -r other fitted
    nystream fit fitted a --landmarks 60 -q
    nystream export fitted a -o other.npy -q
    for try in "big other big other" "big other other big" "other big big other"; do
        for store in $try; do start $store --peers folder:2:meet --restart; done
        ended 0,0,0,0
        writes "$BATS_FILE_TMPDIR/one.npy" "big a"
        writes other.npy "other a"
    done
}

@test "imports into two stores that share a folder do not share rows" {
    nystream import x "$BATS_FILE_TMPDIR"/rows.[01].csv --shards 2 --peers folder:meet >said.0 2>&1 3>&- &
    pids+=($!)
    nystream import y "$BATS_FILE_TMPDIR"/rows.[01].csv --shards 2 --peers folder:meet >said.1 2>&1 3>&- &
    pids+=($!)
    ended 2,2
    [ ! -e x ] && [ ! -e y ]
}

# bats test_tags=slow
@test "no process ends before the result of all shards is whole" {
    [ -z "${NYSTREAM_SANITIZER-}" ] || skip "its runtime wants to be loaded first"
    # a disk of one process that takes its time
    printf '%s\n' '#define _GNU_SOURCE' '#include <sys/syscall.h>' '#include <unistd.h>' \
        'int fdatasync(int file) { usleep(300000); return syscall(SYS_fdatasync, file); }' >slow.c
    ${CC:-cc} -shared -fPIC slow.c -o slow.so
    for shard in 0 1; do
        table 300 4 $shard | nystream import pair --shard $shard/2 - --format csv -q
    done
    for preload in "$PWD/slow.so" ""; do
        LD_PRELOAD=$preload nystream fit pair a --landmarks 20 --peers folder:meet -q 3>&- &
        pids+=($!)
    done
    wait -n "${pids[@]}"
    ny list pair
    wait "${pids[@]}"
    [ "$output" = "a	done" ]
}
