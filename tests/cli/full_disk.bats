# A disk of fixed size that fills up: exit 4, what was committed stays, and the same command goes on
# once there is space.
# bats file_tags=slow
load helper

setup() {
    own_folder || return
    mkdir disk
    mount -t tmpfs -o size=4m tmpfs disk 2>/dev/null ||
        skip "no file system can be mounted here (it needs root)"
}

teardown() {
    mountpoint -q "$BATS_TEST_TMPDIR/disk" && umount "$BATS_TEST_TMPDIR/disk"
    return 0
}

larger() { # SIZE
    mount -o "remount,size=$1" disk
}

# goes_on FILE WORDS: its import stops with these words, and goes on when there is space, to the points that it has
# elsewhere.
goes_on() {
    nystream import whole "$1" -q
    answers 4 "$2" import disk/s "$1" --memory 32M
    [ ! -e disk/s ] || has disk/s n=0
    larger 64m
    ny -0 import disk/s "$1" --memory 32M
    ny -0 verify disk/s
    same_exports "whole --part points" "disk/s --part points"
}

@test "an import stops with exit 4, and goes on when there is space" {
    npy_u8 400000 16 >t.npy
    goes_on t.npy "No space left on device"
}

@test "entries to sort that do not fit are an error, and the same command goes on" {
    awk 'BEGIN {
        print "%%MatrixMarket matrix coordinate integer general\n9000 40 360000"
        for (j = 1; j <= 40; j++) for (i = 1; i <= 9000; i++) print i, j, (i * j) % 9 + 1
    }' >t.mtx
    goes_on t.mtx "No space left on device"
}

@test "an embedding whose temporary files do not fit says where these are" {
    npy_u8 400000 16 >t.npy
    for input in t.npy -; do
        ny -4 embed $input -o e.npy --tmpdir disk --nan drop -q <t.npy
        says "No space left on device"
        [ ! -e e.npy ]
        [ -z "$(ls -A disk)" ]
    done
    ny embed t.npy -o e.npy --tmpdir disk --nan drop -q --json
    [ "$(field "$stderr" file)" = disk ]
    nystream embed t.npy -o e.npy --tmpdir disk --landmarks 20 -q # its rows are read where they are
}

@test "an import that did not fit leaves what was there" {
    npy_u8 20000 16 >first.npy
    npy_u8 400000 16 >second.npy
    larger 4m
    nystream import disk/s first.npy -q
    ny -4 import disk/s second.npy --append --memory 32M
    ny -0 verify disk/s
    has disk/s n=20000
    larger 64m
    ny -0 import disk/s second.npy --append --memory 32M
    has disk/s n=420000
}

@test "a fit stops with exit 4, and goes on to the same bytes" {
    npy_u8 100000 8 >t.npy
    larger 32m
    nystream import disk/s t.npy -q
    nystream fit disk/s old --landmarks 20 -q
    nystream export disk/s old -o old-before.npy
    cp -r disk/s whole
    nystream fit whole a --landmarks 50 --components 40 -q
    nystream export whole a -o whole.npy
    larger 8m
    answers 4 "but its disk has" fit disk/s a --landmarks 50 --components 40 --memory 64M
    ny list disk/s
    [ "$output" = "old	done" ]
    # There is room for the final result, but not for the steps to it, nor for LMDB's free pages.
    larger $(($(du -sB1 disk/s | cut -f 1) + 16150000))
    answers 4 "No space left on device" fit disk/s a --landmarks 50 --components 40 --memory 64M
    ny -0 verify disk/s
    writes old-before.npy "disk/s old"
    shows "a	interrupted" list disk/s
    larger 64m
    ny -0 fit disk/s a --landmarks 50 --components 40 --memory 64M
    writes whole.npy "disk/s a"
}

@test "a frozen update needs room for its new rows, and not for all" {
    npy_u8 100000 8 >t.npy
    larger 64m
    nystream import disk/s t.npy -q
    nystream fit disk/s a --landmarks 80 --components 60 -q # 22.9 MiB
    awk -F, -v OFS=, '{for (j = 1; j <= NF; j++) $j = int(255 * $j)} 1' <(table 900 8) | nystream import disk/s - --format csv --append -q
    larger $(($(du -sB1 disk/s | cut -f 1) + 4000000))
    ny -0 fit disk/s a --update frozen
    [ "$(field "$(nystream info disk/s a --json)" n)" = 100900 ]
    ny -0 verify disk/s
}

@test "an update that has filled the disk goes on when there is some space, for what is not there yet" {
    npy_u8 100000 8 >t.npy
    head -c 88 /dev/zero | od -An -v -t u1 -w8 | tr -s " " "," | cut -c 2- >more.csv
    larger 64m
    nystream import disk/s t.npy -q
    nystream fit disk/s a --landmarks 50 --components 40 -q
    nystream import disk/s more.csv --dtype u8 --append -q
    cp -r disk/s whole
    nystream fit whole a --update full -q
    nystream export whole a -o whole.npy
    used=$(du -sB1 disk/s | cut -f 1)
    larger $((used + 16500000))
    answers 4 "No space left on device" fit disk/s a --update full --memory 64M
    larger $((used + 26000000))
    ny -0 fit disk/s a --update full --memory 64M
    writes whole.npy "disk/s a"
}

@test "an export that does not fit leaves no file" {
    npy_u8 100000 8 >t.npy
    nystream import s t.npy -q
    nystream fit s a --landmarks 50 --components 20 -q
    answers 4 "but its disk has" export s a -o disk/out.npy
    [ -z "$(ls -A disk)" ]
    answers 4 "No space left" export s a -o disk/out.csv
    [ -z "$(ls -A disk)" ]
    larger 16m
    nystream export s a -o disk/out.npy
    writes disk/out.npy "s a"
    larger 12m
    ny -4 transform s a --input t.npy -o disk/placed.npy
    [ "$(ls -A disk)" = out.npy ]
}

# bats test_tags=slow
@test "of two files that go together neither is there where the second does not fit" {
    table 120 5 >rows.csv
    nystream import s rows.csv -q
    nystream graph s g --neighbors 5 -q
    nystream fit s f --landmarks 20 --components 10 -q
    nystream eval s f --clusters 3 -q >/dev/null
    dd if=/dev/zero of=disk/fill bs=4k 2>/dev/null || true
    truncate -s -4096 disk/fill
    ny -4 transform s g --input rows.csv -o disk/numbers.npy --distances disk/distances.npy -q
    ny -4 transform s f --input rows.csv -o disk/placed.npy --clusters disk/clusters.npy -q
    [ "$(ls disk)" = fill ]
}

@test "a fit whose results are larger than the disk is refused before it begins" {
    npy_u8 30000 8 >t.npy
    larger 24m
    nystream import disk/s t.npy -q
    nystream fit disk/s old --select uniform --landmarks 300 --components 60 -q # pages that are in use are no room
    larger $(($(du -sB1 disk/s | cut -f 1) + 4000000))
    for options in "--landmarks 1100" "--components 60" "--approx randomized --rank 30"; do
        answers 4 "but its disk has" fit disk/s new $options --memory 256M
        ny list disk/s
        [ "$output" = "old	done" ]
    done
    answers 4 "but its disk has" graph disk/s g --neighbors 20 --memory 256M
    nystream fit disk/s old --select uniform --landmarks 290 --components 60 --restart -q
    ny -0 fit disk/s new --landmarks 20 -q
}

@test "an import that does not begin for want of space leaves no folder" {
    npy_u8 200000 8 >t.npy
    for left in 0 20000 90000 190000; do
        head -c $((4194304 - left)) /dev/zero >disk/filler 2>/dev/null || true
        answers 4 "No space left on device" import disk/s t.npy
        [ ! -e disk/s ]
        rm disk/filler
    done
}

@test "no space at all: not even a store" {
    head -c 4194304 /dev/zero >disk/filler 2>/dev/null || true
    npy_u8 100 8 >t.npy
    ny -4 import disk/s t.npy
    [ ! -e disk/s ]
    rm disk/filler
    ny -0 import disk/s t.npy
}

# bats test_tags=slow
@test "graphs and their maps are refused where the disk has no room for their temporary files" {
    npy_u8 100000 3 >t.npy
    larger 200m
    nystream import disk/s t.npy -q
    ny -8 graph disk/s g --knn tree --neighbors 20 --memory 1M
    [[ $stderr =~ give\ --memory\ ([0-9]+M) ]]
    least=${BASH_REMATCH[1]}
    used=$(du -sB1 disk/s | cut -f 1)
    larger $((used + 26000000)) # the result has 16 MB, and so have the lists while they are found
    answers 4 "but its disk has" graph disk/s g --knn tree --neighbors 20 --memory "$least"
    ny list disk/s
    [ -z "$output" ]
    ny -0 graph disk/s g --knn tree --neighbors 20 --memory 1G # which holds them in memory
    ny -4 fit disk/s m --map isomap --landmarks 50 --graph g --memory 40M # by pages on disk
    larger 200m
    ny -0 fit disk/s m --map isomap --landmarks 50 --graph g --memory 40M
    ny -0 graph disk/s g --knn tree --neighbors 20 --memory "$least" --restart
}
