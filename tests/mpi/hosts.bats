# bats file_tags=slow
# A store in shards on hosts that have a disk each and share a folder: fits, exports and updates through
# that folder and by both MPIs of Debian; a process and a host that die within a pass.
# on disk: each host has its own /dev/shm
load ../cli/helper
load hosts

teardown() { end_hosts; }

# begin WORD…: nystream with these words on all hosts, in the background.
begin() {
    local host launch=(-n "$count") names=h0,h1,h2,h3
    names=${names::3*count-1}
    case $transport${site:+-} in
    folder*)
        for ((host = 0; host < count; host++)); do
            on $host "$@" --peers "folder:$count:$PWD/meet" -q >said.$host 2>&1 3>&- &
            pids+=($!)
        done
        return
        ;;
    openmpi) launch+=(--allow-run-as-root --bind-to none --oversubscribe) ;;
    openmpi-) launch+=(--allow-run-as-root --bind-to none --mca plm_rsh_agent "$PWD/agent" --host "$names") ;;
    esac
    at_site timeout 60 "mpirun.$transport" "${launch[@]}" "$PWD/here" "$@" -q >said.0 2>&1 3>&- &
    pids=($!)
}

# ended CODES: all that were begun have ended with these, a pattern such as 0,6,
ended() {
    local pid codes=
    for pid in "${pids[@]}"; do wait "$pid" && codes+=0, || codes+=$?,; done
    pids=()
    [[ $codes =~ ^($1)+$ ]] || { echo "$codes"; cat said.*; return 1; } >&2
}

# runs HOST [STAGE]: it works at its shard.
runs() {
    [[ $(at_site nystream info "$PWD/disk.$1/big/shard-0000$1" map --json 2>&1) == *'"running"'*"${2-}"* ]]
}

# like_one: the hosts have the bytes of one store.
like_one() {
    local host
    nystream export one map -o one.csv -q
    for ((host = 0; host < count; host++)); do on $host export "big/shard-0000$host" map -o "$PWD/$host.csv" -q; done
    cat [0-9].csv | cmp - one.csv
    [ "$transport" != folder ] || return 0
    begin export big map -o "$PWD/all.csv"
    ended 0,
    cmp all.csv one.csv
}

# rows_on_hosts: one store, and the hosts with its rows, a shard each.
rows_on_hosts() {
    local host like=
    for ((host = 0; host <= count; host++)); do
        awk -v seed=$host 'BEGIN { srand(seed); for (i = 0; i < 18432; i++)
            for (j = 0; j < 12; j++) printf "%d%s", 256 * rand(), j < 11 ? "," : "\n" }' >rows.$host
        [ $host = $count ] || cat rows.$host >>rows
    done
    nystream import one rows --format csv --dtype u8 -q
    mkdir first
    for ((host = 0; host < count; host++)); do
        on $host import big --shard $host/$count "$PWD/rows.$host" --format csv --dtype u8 $like -q
        [ $host != 0 ] || at_site cp "$PWD/disk.0/big/shards" "$PWD/first"
        like="--like $PWD/first"
    done
}

# killed_within_a_pass process|host CODES: the process of host 1, or all of that host, dies.
killed_within_a_pass() {
    local host init=${inits[1]-}
    begin fit big map --landmarks 1000 --components 9 --threads 1
    await 'runs 1 \"accumulate\"'
    if [ $1 = host ] && [ -n "$site" ]; then
        kill -9 "$init"
    else
        ${site:+nsenter -t "$init" -p} kill -9 "$(at_site cat "$PWD/disk.1/pid")"
    fi
    ended "$2"
    for ((host = 0; host < count; host++)); do await "! runs $host"; done
}

# through TRANSPORT HOSTS CODES CODES: all of it; with these codes jobs end whose process, or host, dies.
through() {
    local transport=$1 count=$2 last=$(($2 - 1)) update
    build_hosts $count $transport
    rows_on_hosts
    killed_within_a_pass process "$3"
    killed_within_a_pass host "$4"
    boot 1
    begin fit big map --landmarks 1000 --components 9 --threads 1
    ended 0,
    nystream fit one map --landmarks 1000 --components 9 -q
    like_one
    run -2 on 0 export big map -o "$PWD/part.csv" # a host sees its own shard alone
    on $last import big/shard-0000$last "$PWD/rows.$count" --format csv --append -q
    nystream import one rows.$count --format csv --append -q
    for update in frozen full; do
        begin fit big map --update $update
        ended 0,
        nystream fit one map --update $update -q
        like_one
    done
}

# with_mpi NAME: with the plug-in for one of Debian's; skips where that is not there.
with_mpi() {
    [ -z "${NYSTREAM_SANITIZER-}" ] || skip "an MPI does not run with a sanitizer's library"
    command -v "mpirun.$1" >/dev/null && command -v "mpicc.$1" >/dev/null ||
        skip "no mpirun.$1 or mpicc.$1: data-tools/setup mpi"
    export NYSTREAM_MPI=$PWD/plugin/libnystream-mpi.so
    make -s -C "$BATS_TEST_DIRNAME/../.." BUILD="$PWD/plugin" MPICC="mpicc.$1" mpi >&2
}

@test "hosts that share a folder" { through folder 4 6,137,6,6, 6,137,6,6,; }

@test "hosts that Open MPI joins" { with_mpi openmpi && through openmpi 3 137, '(9|137|205),'; }

@test "hosts that MPICH joins" { with_mpi mpich && through mpich 2 '(9|255),' '(9|255),'; }
