# src/guide/more-than-one-machine.md: its job array, as it stands there, at a small size and without
# a scheduler.
load walk-through

export page=more-than-one-machine

# A scheduler that runs each task at once, one after the other.
make_sbatch() {
    mkdir bin
    cat >bin/sbatch <<'END'
#!/bin/bash
set -e
last=
for word in "$@"; do
    case $word in
    --array=0-*) last=${word#--array=0-} ;;
    --dependency=afterok:17) [ -e map.0 ] ;;
    esac
done
for ((SLURM_ARRAY_TASK_ID = 0; SLURM_ARRAY_TASK_ID <= ${last:-0}; SLURM_ARRAY_TASK_ID++)); do
    export SLURM_ARRAY_TASK_ID
    bash "${@: -1}" >>log 2>&1
done
touch map.0
echo 17
END
    chmod +x bin/sbatch
}

# bats test_tags=slow
@test "1. a job array" {
    /usr/bin/python3 -c 'import numpy' || skip "no numpy"
    make_sbatch
    for part in 0 1 2; do
        manifold swiss-roll -n $((1000 + 500 * part)) --noise 0.1 --seed $part -o rows-$part.npy
    done
    # The loop of the page runs twice, as a task that is submitted again would.
    for _ in 1 2; do
        rm -rf sample.nys
        PATH=$PWD/bin:$PATH PYTHON=/usr/bin/python3 PARTS=3 M=100 bash -eu steps.sh
    done
    grep -q "4,500 rows of 3 parts in 20 components" log
    # One fit of all rows, over the same landmarks.
    nystream import all.nys rows-?.npy
    nystream fit all.nys map --landmarks-points landmarks.npy --gamma "$(cat gamma)" --components 20
    nystream export all.nys map -o all.csv
    for part in 0 1 2; do
        nystream export part-$part.nys placed -o placed-$part.csv
        nystream transform map.nym --input rows-$part.npy -o again.npy # no store is needed
        cmp again.npy map-$part.npy
    done
    cat placed-?.csv >placed.csv
    near placed.csv all.csv
}

# bats test_tags=slow
@test "5. a store in shards" {
    /usr/bin/python3 -c 'import numpy' || skip "no numpy"
    make_sbatch
    for part in 0 1 2; do
        manifold swiss-roll -n $((2048 + 500 * (part / 2))) --noise 0.1 --seed $part -o rows-$part.npy
    done
    PATH=$PWD/bin:$PATH PARTS=3 M=50 bash -eu steps.sh >out
    PATH=$PWD/bin:$PATH PARTS=3 sbatch --array=0-2 shard.sbatch # tasks that are submitted again
    grep -q "shard 2             rows 4096 to 6643" out
    nystream import all.nys rows-?.npy -q
    writes points.npy "all.nys --part points"
    for part in 0 1 2; do
        nystream export big.nys/shard-0000$part map -o map-$part.csv -q
    done
    cat map-?.csv | cmp - <(shown "big.nys map")
    nystream transform big.nys map --input rows-2.npy -o placed.csv
    near placed.csv map-2.csv
    nystream info host-0/big.nys | grep -q "shard 1             rows 2048 to 4095"
}

@test "6. processes that work together" {
    /usr/bin/python3 -c 'import numpy' || skip "no numpy"
    make_sbatch
    sed -i 's/^    bash .*/    bash "${@: -1}" >log.$SLURM_ARRAY_TASK_ID 2>\&1 3>\&- \&/; s/^touch .*/wait/' bin/sbatch # all at once
    for part in 0 1 2; do
        manifold swiss-roll -n $((2048 + 500 * (part / 2))) --noise 0.1 --seed $part -o rows-$part.npy
        nystream import big.nys --shard $part/3 rows-$part.npy -q
    done
    manifold swiss-roll -n 300 --noise 0.1 --seed 4 -o more.npy
    cp -r big.nys alone.nys
    PATH=$PWD/bin:$PATH PARTS=3 M=50 bash -eu steps.sh
    nystream export big.nys map -o together.npy -q
    nystream fit alone.nys map --landmarks 50 --components 20 -q
    nystream import alone.nys/shard-00000 more.npy --append -q
    nystream fit alone.nys map --update frozen -q
    nystream fit alone.nys map --update full -q
    writes together.npy "alone.nys map"
}

# night MODE HOST…: these hosts run the script of the night at the same time; their exit codes in $codes.
night() {
    local host mode=$1 pids=()
    shift
    for host; do
        (export HOST=$host WAIT=2; cd host-$host; exec bash ../night.bash $mode) >said.$host 2>&1 3>&- &
        pids+=($!)
    done
    codes=
    for host in "${pids[@]}"; do wait "$host" && codes+=0 || codes+=$?; done
}

# rows_of_night NIGHT HOST…: gives each host its rows, and the store of all shards as well.
rows_of_night() {
    local host night=$1
    shift
    for host; do
        manifold swiss-roll -n $((40 + 10 * host)) --noise 0.1 --seed $((100 * night + host)) -o host-$host/today.npy
        nystream import alone.nys/shard-0000$host host-$host/today.npy --append -q
    done
}

# same_everywhere: each host has the rows of the store of all shards, which one process has updated.
same_everywhere() {
    local host
    for host in 0 1 2 3; do
        same_exports "alone.nys/shard-0000$host map" "host-$host/big.nys/shard-0000$host map"
    done
}

# bats test_tags=slow
@test "7. every night over four hosts" {
    /usr/bin/python3 -c 'import numpy' || skip "no numpy"
    for host in 0 1 2 3; do
        manifold swiss-roll -n $((2048 + 200 * (host / 3))) --noise 0.1 --seed $host -o rows-$host.npy
    done
    M=50 bash -eu steps.sh
    cp -r host-0/big.nys alone.nys
    for host in 1 2 3; do cp -r host-$host/big.nys/shard-0000$host alone.nys; done
    same_everywhere
    rows_of_night 1 0 1 2 3
    night frozen 0 1 2 3
    [ "$codes" = 0000 ] || { cat said.*; false; }
    nystream fit alone.nys map --update frozen -q
    same_everywhere
    # Host 2 is away, and comes back.
    rows_of_night 2 0 1 3
    night frozen 0 1 3
    [ "$codes" = 666 ]
    cat said.* | grep -q "has not arrived at ../meeting within 2 s"
    [ ! -e host-0/today.npy ]
    nystream transform host-0/big.nys map --input host-0/taken.npy -o placed.npy -q
    rows_of_night 3 0 1 2 3
    night frozen 0 1 2 3
    [ "$codes" = 0000 ] || { cat said.*; false; }
    nystream fit alone.nys map --update frozen -q
    same_everywhere
    rows_of_night 4 1 2
    cp host-1/today.npy host-1/tonight-$(field "$(nystream info host-1/big.nys/shard-00001 --json)" n).npy
    nystream import host-1/big.nys/shard-00001 host-1/today.npy --append -q # the host has failed behind it
    rm host-1/today.npy
    night full 0 1 2 3
    [ "$codes" = 0000 ] || { cat said.*; false; }
    nystream fit alone.nys map --update full -q
    same_everywhere
    night full 0 1 2 3 # there is nothing to do
    [ "$codes" = 0000 ]
}
