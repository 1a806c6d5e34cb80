# Jobs of several processes by MPI: the bytes of the folder's transport and of one process, ranks that
# fail or are killed, and a plug-in that is not there. The processes are tests/mpi/exchange.c.
load ../cli/helper

setup() {
    own_folder || return
    export EXCHANGE=$NYSTREAM_BUILD/tests/mpi/exchange
    export NYSTREAM_MPI=$NYSTREAM_BUILD/libnystream-mpi.so
    export OMPI_MCA_orte_base_help_aggregate=0
    [ -z "${NYSTREAM_SANITIZER-}" ] || skip "an MPI does not run with a sanitizer's library"
    command -v mpirun >/dev/null || skip "no mpirun: data-tools/setup mpi"
    [ -e "$NYSTREAM_MPI" ] || skip "the plug-in is not built, there is no mpicc: data-tools/setup mpi"
}

# ranks -STATUS N WORD…: runs the program as N ranks, and fails unless it exits so; $status, $output and
# $stderr are as it left them.
ranks() {
    run --separate-stderr timeout 60 mpirun --allow-run-as-root --oversubscribe -n "${@:2}"
    exits "${1#-}"
}

# shards STORE N [COLUMN]: makes a store of N shards of 500 rows with two random columns, and another
# one, of awk's, with labels.
shards() {
    local shard
    for ((shard = 0; shard < $2; shard++)); do
        awk -v seed="$shard$1" "BEGIN { srand(seed); for (i = 0; i < 500; i++) print rand() \",\" rand() ${3:+\",\" $3} }" |
            nystream import "$1" --shard $shard/$2 - --format csv ${3:+--label-column 3} -q
    done
}

# in_folder N WORD…: the program as N processes that meet in a folder, all of which succeed.
in_folder() {
    local count=$1 pids=() i
    shift
    for ((i = 0; i < count; i++)); do
        "$EXCHANGE" "folder:$count:$PWD/peers" "$@" 3>&- &
        pids+=($!)
    done
    for i in "${pids[@]}"; do wait "$i" || return; done
}

# as_one EXPORT [ENDING]: two ranks export the bytes that one process exports, and one of them tells it.
as_one() {
    ranks -0 2 nystream export $1 -o "two.${2-npy}"
    [ "$(grep -c "two.${2-npy}" <<<"$stderr")" -eq 1 ]
    writes "two.${2-npy}" "$1"
}

# bats test_tags=slow
@test "any number of ranks, a folder and one process give the same bytes" {
    "$EXCHANGE" alone >alone
    [ "$(wc -l <alone)" -eq 5 ]
    for count in 1 2 3 5; do
        ranks -0 $count "$EXCHANGE" -
        sort <<<"$output" | diff alone -
    done
    in_folder 2 | sort | diff alone -
}

@test "a fit over shards gives the bytes of one process" {
    for shard in 0 1 2; do
        awk -v shard=$shard 'BEGIN {
            for (i = 0; i < 3000; i++) print (i * 7919 + shard) % 1009, (i * i) % 997, i % 89
        }' >rows.$shard.csv
        nystream import big --shard $shard/3 rows.$shard.csv -q
    done
    nystream fit big one --landmarks 50 -q
    ranks -0 2 nystream fit big two --landmarks 50
    [ "$(grep -c 'two: 9,000 rows' <<<"$output$stderr")" -eq 1 ]
    same_exports "big one" "big two"
    nystream import big rows.0.csv --append -q
    nystream fit big one --update frozen -q
    ranks -0 2 nystream fit big two --update frozen
    [ "$(grep -c 'two: 12,000 rows' <<<"$output$stderr")" -eq 1 ]
    same_exports "big one" "big two"
    nystream import big/shard-00000 rows.1.csv --append -q
    for part in rows landmarks; do as_one "big two --part $part" csv; done
    ranks -2 2 nystream fit big/shard-00000 three --landmarks 50
    says "2 processes were started for 1 shards"
    ranks -2 2 nystream graph big near
    nystream import big --shard 3/4 rows.0.csv -q # and into the model, a new shard with them
    nystream fit big one --update full -q
    ranks -0 2 nystream fit big two --update full
    same_exports "big one" "big two"
}

# bats test_tags=slow
@test "ranks select by turns, draw by weight and exchange sparse rows as one process does" {
    for shard in 0 1 2; do
        awk -v seed=$shard 'BEGIN { srand(seed); for (i = 0; i < 900; i++) { line = seed; for (j = 1; j <= 60; j++)
            if (rand() < 0.1 + 0.2 * seed) line = line " " j ":" 1 + int(5 * rand()); print line } }' >rows.$shard.libsvm
        nystream import sparse --shard $shard/3 rows.$shard.libsvm --layout sparse -q
    done
    while read -r options; do
        nystream fit sparse one $options --components 2 --restart -q
        ranks -0 2 nystream fit sparse two $options --components 2 --restart -q
        same_exports "sparse one" "sparse two"
        nystream rm sparse two
    done <<'END'
--landmarks 40 --select greedy --scale idf
--landmarks 40 --select weighted --map svd --kernel linear --features min-rows:100
--landmarks 40 --certify
END
    ranks -0 3 nystream select sparse chosen --landmarks 30 --select greedy -q
    [ "$(nystream export sparse chosen --part landmark-points -o points.csv -q && wc -l <points.csv)" -eq 30 ]
}

# bats test_tags=slow
@test "shards on disks of their own whose classes or columns are not alike are refused" {
    local host=$PWD/host case
    cat >"$host" <<'END'
#!/bin/bash
cd "host-$OMPI_COMM_WORLD_RANK" && exec nystream "$@"
END
    chmod +x "$host"
    printf 'a,b,pet\n1,2,cat\n3,1,dog\n5,5,cat\n' >0.csv
    printf 'a,b,pet\n2,1,dog\n3,5,cat\n4,4,dog\n' >1.classes.csv # dog comes first
    printf 'b,a,pet\n2,1,cat\n3,5,dog\n4,4,dog\n' >1.columns.csv
    for case in classes columns; do
        rm -rf host-? && mkdir host-0 host-1
        nystream import host-0/big --shard 0/2 0.csv --label-column pet -q
        nystream import host-1/big --shard 1/2 1.$case.csv --label-column pet -q
        ranks -3 2 "$host" export big --part labels -o labels.npy
        says "the $case of shard 1 have other names, or another order, than those of shard 0"
        [ ! -e host-0/labels.npy ]
        ranks -3 2 "$host" fit big map --landmarks 2 --components 1
        rm -r host-1/*
        nystream import host-1/big --shard 1/2 1.$case.csv --label-column pet --like host-0/big -q
        ranks -0 2 "$host" export big --part labels -o labels.csv
        [ "$case" != classes ] || [ "$(paste -sd' ' host-0/labels.csv)" = "0 1 0 1 0 1" ]
        ranks -0 2 "$host" export big --part points -o points.csv
        [ "$case" != columns ] || [ "$(tail -n 3 host-0/points.csv | paste -sd' ')" = "1,2 5,3 4,4" ]
    done
}

@test "ranks share an import of files" {
    for part in 0 1 2; do
        printf '\223NUMPY\1\0\166\0%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (3000, 4), }" >part.$part.npy
        head -c 48000 "$EXCHANGE" | tr -c '\0-\76' '\5' >>part.$part.npy # which are finite numbers
    done
    ranks -0 2 nystream import big part.?.npy --shards 4
    [ "$(grep -c '9,000 rows of 4 columns imported' <<<"$output$stderr")" -eq 1 ]
    nystream import one part.?.npy -q
    same_exports "one --part points" "big --part points"
    ranks -2 5 nystream import other part.?.npy --shards 4
    says "5 processes were started for 4 shards"
}

@test "a process that MPI leaves one CPU of several is warned of" {
    [ "$(getconf _NPROCESSORS_ONLN)" -gt 1 ] || skip "there is one CPU"
    awk 'BEGIN { for (i = 0; i < 90; i++) print i % 7, i % 11, i }' >rows.csv
    nystream import one rows.csv -q
    ranks -0 1 --bind-to core nystream fit one map --landmarks 9
    says "MPI has bound the job to 1 of $(getconf _NPROCESSORS_ONLN) CPUs"
    ranks -0 1 --bind-to none nystream fit one map --landmarks 9 --restart
    [[ $stderr != *bound* ]]
}

# bats test_tags=slow
@test "more bytes than a call of MPI carries go in blocks" {
    "$EXCHANGE" alone >alone
    export NYSTREAM_MPI=$NYSTREAM_BUILD/tests/mpi/libnystream-mpi.so # 1,000 bytes a call
    ranks -0 3 "$EXCHANGE" mpi
    sort <<<"$output" | diff alone -
}

@test "a shard that fails ends all ranks with its status, and is named" {
    local began=$SECONDS
    ranks -4 3 "$EXCHANGE" - fail
    says "shard 3: the disk is full"
    [ $((SECONDS - began)) -lt 10 ]
}

# bats file_tags=slow
@test "a rank that is killed ends the others" {
    local began=$SECONDS
    ranks -0 3 "$EXCHANGE" - die && return 1
    [ "$status" -ne 124 ]
    [ $((SECONDS - began)) -lt 10 ]
}

@test "a rank that is interrupted ends the others" {
    ranks -143 3 "$EXCHANGE" - stop
    says "ends the job: terminated"
}

@test "a second job of a process is refused where MPI has ended with the first" {
    ranks -4 2 "$EXCHANGE" - twice
    says "it was shut down in this process and cannot be started again; run one job per process"
}

# bats file_tags=
@test "a long wait is told, with the rank and its host" {
    ranks -0 2 "$EXCHANGE" - late
    says "has waited 0.2 s for rank 1 of 2, on $(hostname), which computes or cannot be reached"
}

# bats test_tags=slow
@test "a wait that --peers-wait limits ends with the rank and its host" {
    ranks -6 3 "$EXCHANGE" - never
    says "rank 2 of 3, on $(hostname), has not answered within 1 s (--peers-wait)"
}

# A library that flips a bit of what the first rank gets by so many calls of MPI.
make_flip() {
    cat >flip.c <<'END'
#include <mpi.h>
#include <stdlib.h>
static void flip(char *in, int at, MPI_Comm comm)
{
    static int calls;
    int rank;
    MPI_Comm_rank(comm, &rank);
    if (calls++ == atoi(getenv("FLIP_CALL")) && rank == 0) in[at] ^= 4;
}
int MPI_Allgatherv(const void *out, int n, MPI_Datatype type, void *in, const int *counts, const int *places,
                   MPI_Datatype in_type, MPI_Comm comm)
{
    int err = PMPI_Allgatherv(out, n, type, in, counts, places, in_type, comm);
    flip(in, places[1] + counts[1] - 1, comm);
    return err;
}
int MPI_Alltoall(const void *out, int n, MPI_Datatype type, void *in, int m, MPI_Datatype in_type, MPI_Comm comm)
{
    int err = PMPI_Alltoall(out, n, type, in, m, in_type, comm);
    flip(in, m, comm);
    return err;
}
END
    mpicc -shared -fPIC flip.c -o flip.so
}

# bats test_tags=slow
@test "a bit that flips on its way by MPI ends the job" {
    command -v mpicc >/dev/null || skip "no mpicc"
    make_flip
    for call in 0 1 2 3 5; do
        FLIP_CALL=$call ranks -5 2 env LD_PRELOAD="$PWD/flip.so" "$EXCHANGE" -
        says "from rank 1 of 2, on $(hostname), were damaged on their way"
    done
    FLIP_CALL=-1 ranks -0 2 env LD_PRELOAD="$PWD/flip.so" "$EXCHANGE" -
}

@test "processes of which each is alone in MPI are refused" {
    printf '%s\n' 1,2 3,4 5,7 >rows.csv
    for shard in 0 1 2; do nystream import big --shard $shard/3 rows.csv -q; done
    run -2 --separate-stderr env PMI_SIZE=2 nystream fit big a --landmarks 2
    says "2 processes were started, but the plug-in for MPI knows of 1" "make mpi"
}

# bats file_tags=slow
@test "ranks that wait leave the CPU to the others" {
    ranks -0 2 "$EXCHANGE" - wait
    awk '{ if ($3 > 0.5) exit 1 } END { exit NR != 5 }' <<<"$output"
}

@test "more ranks than shards are refused, one rank is not" {
    ranks -2 6 "$EXCHANGE" -
    says "6 processes were started for 5 shards"
    ranks -0 1 "$EXCHANGE" mpi
}

@test "a plug-in that is missing, or is none, is an error with a cure" {
    NYSTREAM_MPI=$PWD/none.so ranks -2 2 "$EXCHANGE" -
    says "make mpi"
    NYSTREAM_MPI='' run -0 "$EXCHANGE" mpi # which looks beside itself and where the system does
    cp "$EXCHANGE" .
    NYSTREAM_MPI='' run -2 ./exchange mpi
    [[ $output == *"make mpi"* ]]
    NYSTREAM_MPI='' ranks -0 1 ./exchange - # needs none
}

# bats file_tags=
@test "the plug-in has one symbol, and none of the library's" {
    [ "$(nm -D --defined-only "$NYSTREAM_MPI" | awk '{print $3}')" = ny_transport_open_3 ]
    ! nm -D --undefined-only "$NYSTREAM_MPI" | grep -E '\b(ny_|NY_)'
}

# bats file_tags=slow
@test "make mpi says what it needs" {
    run make -s -C "$BATS_TEST_DIRNAME/../.." BUILD="$BATS_TEST_TMPDIR/build" MPICC=no-such-mpicc mpi
    [ "$status" -ne 0 ] && [[ $output == *"there is no no-such-mpicc"*"data-tools/setup mpi"* ]]
}

@test "processes export what their shards have, and one of them writes it" {
    for shard in 0 1 2; do
        awk -v n=$((900 + 200 * shard)) -v seed=$shard 'BEGIN {
            srand(seed); for (i = 0; i < n; i++) print rand() "," rand() "," rand() "," i % 4 }' |
            nystream import big --shard $shard/3 - --format csv --label-column 3 -q
    done
    nystream fit big a --landmarks 40 -q
    for part in {embedding,rows,labels,points,landmark-points}.npy embedding.csv model.nym; do
        as_one "big a --part ${part%.*}" "${part#*.}"
    done
    ranks -2 3 nystream export big a --part source -o source.npy
    says source
    [ ! -e source.npy ]
    for shard in 0 1 2; do
        nystream fit big/shard-0000$shard b --landmarks 20 --seed $shard -q
    done
    ranks -2 2 nystream export big b -o other.npy
    [[ $stderr == *"has other models than shard 0"* ]]
    [ ! -e other.npy ]
}

@test "no export by processes has rows of two fits" {
    local shard pid fit="--landmarks 120 --components 100 --precision f64 -q"
    for shard in 0 1; do
        awk -v shard=$shard 'BEGIN {
            srand(shard + 1)
            for (i = 0; i < 8192; i++)
                for (j = 0; j < 20; j++) printf "%.6f%s", rand(), j < 19 ? "," : "\n"
        }' >rows.csv
        nystream import big --shard $shard/2 rows.csv -q
    done
    nystream fit big a $fit
    mkfifo slow.npy
    timeout 60 mpirun --allow-run-as-root --oversubscribe -n 2 nystream export big a -o slow.npy 2>err &
    pid=$!
    exec 7<slow.npy
    head -c 100000 <&7 >begun.npy # the second piece of the first shard is not read yet
    nystream fit big a $fit --seed 1 --restart
    cat <&7 >rest.npy
    exec 7<&-
    ! wait $pid || false
    stderr=$(<err)
    says "fitted anew, updated or removed while it was read"
}

# bats file_tags=
@test "machines with disks of their own may come in any order, and export to one file" {
    for shard in 0 1 2; do
        mkdir host.$shard
        awk -v seed=$shard 'BEGIN { srand(seed); for (i = 0; i < 500; i++) print rand() "," rand() }' >$shard.csv
        nystream import big --shard $shard/3 $shard.csv -q
        nystream import host.$shard/big --shard $shard/3 $shard.csv -q
    done
    nystream fit big a --landmarks 30 -q
    on_hosts() { # STATUS COMMAND…: on the hosts of $order
        local host all=()
        for host in $order; do all+=(: --oversubscribe -n 1 --wdir "$PWD/host.$host" nystream "${@:2}"); done
        run --separate-stderr timeout 60 mpirun --allow-run-as-root --oversubscribe "${all[@]:2}"
        exits "$1"
    }
    for order in "0 1 2" "2 0 1" "1 0 2"; do
        on_hosts 0 fit big a --landmarks 30 --restart -q
        on_hosts 0 export big a -o "$PWD/two.npy" -q
        writes two.npy "big a"
    done
    order="0 1 1"
    on_hosts 2 fit big a --landmarks 30 --restart -q
    says "shard 2 of big is not here"
    order="0 1 2"
    on_hosts 2 eval big a --clusters 2 -q
    says "big lacks 2 of its 3 shards"
}

@test "processes that have two stores do not fit each other's rows" {
    shards a 2
    shards b 2
    ranks -2 1 nystream fit a m --landmarks 30 : --oversubscribe -n 1 nystream fit b m --landmarks 30
    says "the process with rank 1 has another store as shard 0 than others"
}

# bats file_tags=slow
@test "processes export names of columns and classes, and none where the first shard lacks some" {
    printf '%s\n' a,b,class 1,2,cat 3,4,dog >0.csv
    printf '%s\n' a,b,class 5,6,dog 7,9,cat >1.csv
    nystream import big --shard 0/2 0.csv --label-column class -q
    nystream import big --shard 1/2 1.csv --label-column class -q
    for part in columns classes; do
        as_one "big --part $part" txt
        rm two.txt
    done
    printf '%s\n' a,b,class 8,8,cow >2.csv
    nystream import big 2.csv --label-column class --append -q
    [ "$(shown "big --part classes" txt | tr '\n' ' ')" = "cat dog cow " ]
    ranks -2 2 nystream export big --part classes -o two.txt
    says classes
    [ ! -e two.txt ]
}

@test "processes export clusters of one evaluation of all shards, and of no other" {
    shards big 2
    nystream fit big a --landmarks 30 -q
    nystream eval big a --clusters 3 -q >/dev/null
    as_one "big a --part clusters"
    nystream eval big/shard-00001 a --clusters 3 -q >/dev/null
    ranks -2 2 nystream export big a --part clusters -o other.npy
    says "several processes cannot export clusters of each shard"
    [ ! -e other.npy ]
}

@test "one of the processes writes labels beside the numbers, and all hear of its failure" {
    shards big 2 "i % 3"
    nystream fit big a --landmarks 30 -q
    as_one "big a --with header,labels" csv
    ranks -2 2 nystream export big a --with ids -o ids.csv
    [ ! -e ids.csv ]
}

@test "ranks that are given two commands do not wait for each other" {
    shards big 2
    nystream fit big a --landmarks 30 -q
    for other in "fit big a --update full" "fit big a --landmarks 30" "export big a -o a.npy"; do
        ranks -2 1 nystream fit big a --update frozen : --oversubscribe -n 1 nystream $other
        says "the process with rank 1 has another command"
    done
    [ ! -e a.npy ]
}
