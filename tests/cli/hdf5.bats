# HDF5 files of AnnData and 10x Genomics, which nystream-hdf5 reads for the command.
# bats file_tags=slow
load helper

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    [ ! -x "$NYSTREAM_BUILD/nystream-hdf5" ] ||
        /usr/bin/python3 "$BATS_TEST_DIRNAME/external/make_h5ad.py" >made.txt 2>&1 || true
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    FILES=$BATS_FILE_TMPDIR
    export ASAN_OPTIONS=detect_leaks=0 # libhdf5 keeps memory when the program ends with an error
}

# Skips a test that reads files of h5py or anndata.
needs_files() {
    [ -x "$NYSTREAM_BUILD/nystream-hdf5" ] || skip "nystream-hdf5 is not built: no libhdf5"
    /usr/bin/python3 -c 'import anndata, h5py' 2>/dev/null || skip "no anndata and h5py in /usr/bin/python3"
    [ -f "$FILES/chunk.h5ad" ] || { cat "$FILES/made.txt"; return 1; }
}

# points STORE: the checksum of its rows, by an embedding that depends on all of them
points() {
    nystream fit "$1" s --map svd --kernel linear --approx exact --components 3 --restart -q &&
        nystream export "$1" s -o - -q | cksum
}

# fake NAME LINE…: a script in the place of nystream-hdf5
fake() {
    printf '%s\n' '#!/bin/bash' "${@:2}" >"$1"
    chmod +x "$1"
    export NYSTREAM_HDF5=$PWD/$1
}

# refuses STATUS NAME [OPTION…]: an import of this file of $FILES ends so, and leaves no store
refuses() { refused "$1" nystream import n.nys "$FILES/$2" "${@:3}"; }

# refused STATUS COMMAND…: it ends so, and leaves no store
refused() {
    local status_wanted=$1
    run "${@:2}"
    [ "$status" -eq "$status_wanted" ] || { echo "status $status: $output"; return 1; }
    [ ! -e n.nys ]
}

@test "genes of files to append and to place are found by their names" {
    needs_files
    nystream import s.nys "$FILES/rows.h5ad" -q
    points s.nys >fitted.txt
    nystream transform s.nys s --input "$FILES/rows.h5ad" -o wanted.npy -q
    cp -r s.nys wanted.nys
    nystream import wanted.nys "$FILES/rows.h5ad" --append -q
    wanted=$(points wanted.nys)
    for matrix in X layers/columns layers/dense; do
        run -0 nystream transform s.nys s --input "$FILES/turned.h5ad" --matrix $matrix -o placed.npy
        cmp placed.npy wanted.npy
        rm -rf a.nys
        cp -r s.nys a.nys
        nystream import a.nys "$FILES/turned.h5ad" --append --matrix $matrix -q
        [ "$(points a.nys)" = "$wanted" ]
        [ "$(nystream export a.nys --part columns -o - | cksum)" = "$(nystream export s.nys --part columns -o - | cksum)" ]
    done
    for matrix in X layers/columns layers/dense; do # genes that are left out may have no values
        refuses 3 turned.h5ad --matrix $matrix
    done
    rm -rf a.nys
    nystream import a.nys "$FILES/rows.npz" -q # without names: as they stand
    refused 3 \
        nystream import a.nys "$FILES/turned.h5ad" --append
    # sparse rows are 0 where their file lacks a gene, and dense ones are refused
    for verb in "import wanted.nys $FILES/fewer.h5ad --append" "transform s.nys s --input $FILES/fewer.h5ad -o placed.npy"; do
        run -0 nystream $verb
        refused 3 nystream $verb --matrix layers/dense
    done
    nystream export wanted.nys --part points -o all.csv -q
    [ "$(tail -n 300 all.csv | cut -d, -f 1-7 | sort -u)" = 0,0,0,0,0,0,0 ]
    [ "$(tail -n 300 all.csv | cut -d, -f 8-)" = "$(head -n 300 all.csv | cut -d, -f 8-)" ]
    nystream import d.nys "$FILES/rows.h5ad" --layout dense -q
    refused 3 \
        nystream import d.nys "$FILES/fewer.h5ad" --append
}

@test "AnnData by rows, by columns, dense and as integers are the same points" {
    needs_files
    nystream import npz.nys "$FILES/rows.npz" -q
    wanted=$(points npz.nys)
    for matrix in X layers/columns layers/wide raw/X; do
        rm -rf a.nys
        nystream import a.nys "$FILES/rows.h5ad" --matrix $matrix --dtype f32 -q
        [ "$(points a.nys)" = "$wanted" ]
    done
    nystream import d.nys "$FILES/rows.h5ad" --matrix layers/dense --layout sparse -q
    [ "$(points d.nys)" = "$wanted" ]
    nystream import p.nys "$FILES/packed.h5ad" -q
    [ "$(points p.nys)" = "$wanted" ]
    nystream import i.nys - -q <"$FILES/rows.h5ad"
    [ "$(points i.nys)" = "$wanted" ]
    nystream import o.nys "$FILES/rows.h5ad" --matrix obsm/X_pca --json | grep -q '"d": 6'
}

@test "counts of 10x Genomics are cells, in the smallest type" {
    needs_files
    nystream import t.nys "$FILES/tenx.h5" -q
    has t.nys n=300 d=400 dtype=u8
    nystream import npz.nys "$FILES/rows.npz" --dtype u8 -q
    [ "$(points t.nys)" = "$(points npz.nys)" ]
    refuses 2 tenx.h5 --label-column kind
}

@test "names of cells and genes come with every matrix that has them" {
    needs_files
    names() { nystream export "$1" --part "$2" -o - -q | sha256sum; }
    for matrix in X layers/columns layers/dense raw/X; do
        rm -rf a.nys
        nystream import a.nys "$FILES/packed.h5ad" --matrix $matrix -q
        [ "$(names a.nys ids)" = "$(seq -f cell%.0f 0 299 | sha256sum)" ]
        [ "$(names a.nys columns)" = "$(seq 0 399 | sha256sum)" ]
    done
    nystream import b.nys "$FILES/rows.h5ad" --matrix obsm/X_pca --label-column kind -q
    [ "$(names b.nys ids)" = "$(seq -f cell%.0f 0 299 | sha256sum)" ]
    refused 2 nystream export b.nys --part columns -o n.txt
    nystream import v.nys "$FILES/rows.h5ad" --matrix varm/PCs -q
    [ "$(names v.nys ids)" = "$(seq 0 399 | sha256sum)" ]
    nystream import c.nys "$FILES/tenx.h5" --min-values 1 -q
    [ "$(names c.nys ids)" = "$(seq -f AAAC-%.0f 0 299 | sed 8d | sha256sum)" ] # row 7 is empty
    [ "$(names c.nys columns)" = "$(seq -f 'gene %.0f' 0 399 | sha256sum)" ]
    for kind in short line long; do refuses 3 $kind-names.h5ad; done
}

@test "a column of obs is labels: categories by name, numbers as they are" {
    needs_files
    nystream import a.nys "$FILES/rows.h5ad" --label-column kind -q
    nystream fit a.nys s --map svd --kernel linear --approx exact -q
    nystream export a.nys s --part labels -o labels.csv -q
    [ "$(head -n 10 labels.csv | xargs)" = "0 1 1 0 1 nan 0 1 1 2" ]
    n=$(wc -l <labels.csv)
    for next in rows unlabelled; do # the next file has them in the same column, if it has this
        nystream import a.nys "$FILES/$next.h5ad" --append -q
    done
    nystream export a.nys --part labels -o more.csv -q
    tail -n +$((n + 1)) more.csv | head -n "$n" | cmp - labels.csv
    [ "$(tail -n +$((2 * n + 1)) more.csv | sort -u)" = nan ]
    has a.nys classes=3.0
    nystream import b.nys "$FILES/rows.h5ad" --matrix obsm/X_pca --label-column depth -q
    [ "$(shown "b.nys --part labels" | sed -n 4p)" = 1.5 ]
    nystream import w.nys "$FILES/rows.h5ad" --label-column batch -q
    [ "$(shown "w.nys --part classes" txt | xargs)" = "7 10 -12" ]
    nystream export w.nys --part labels -o - -q | tail -c +129 | head -c 32 | od -An -tf8 | xargs >labels
    [ "$(cat labels)" = "2 0 0 2" ]
    refuses 3 rows.h5ad --label-column share
    refuses 2 rows.h5ad --label-column typo
    refuses 3 rows.h5ad --label-column word
}

@test "files of AnnData before 0.7 give the same labels and names" {
    needs_files
    nystream import old.nys "$FILES/old.h5ad" --label-column kind -q
    nystream import new.nys "$FILES/rows.h5ad" --label-column kind -q
    for part in points ids labels classes; do
        nystream export old.nys --part $part -o - -q | cmp - <(nystream export new.nys --part $part -o - -q)
    done
    [ "$(nystream export old.nys --part columns -o - -q)" = "$(seq -f 'gene %.0f' 0 399)" ]
    nystream import old.nys "$FILES/old.h5ad" --append -q # labels come from the same column
    [ "$(nystream export old.nys --part labels -o - -q | tail -c 2400 | cksum)" = \
        "$(nystream export new.nys --part labels -o - -q | tail -c 2400 | cksum)" ]
    nystream import d.nys "$FILES/old.h5ad" --label-column depth -q
    [ "$(nystream export d.nys --part labels -o - -q | tail -c 2400 | head -c 32 | od -An -tf8 | xargs)" = "0 0.5 1 1.5" ]
    nystream import o.nys "$FILES/old.h5ad" --label-column only -q
    [ "$(nystream export o.nys --part classes -o - -q)" = one ]
    refuses 2 old.h5ad --label-column Kind
    refuses 3 old.h5ad --label-column word
}

@test "transform and embed read .h5ad, too" {
    needs_files
    nystream import a.nys "$FILES/rows.h5ad" -q
    nystream fit a.nys s --map pca --approx exact --components 2 -q
    nystream transform a.nys s --input "$FILES/rows.h5ad" --matrix raw/X -o one.npy -q
    nystream transform a.nys s --input "$FILES/rows.npz" -o two.npy -q
    cmp one.npy two.npy
    nystream embed "$FILES/rows.h5ad" --matrix obsm/X_pca --map pca --approx exact -o e.npy -q
    [ -s e.npy ]
}

@test "bad files are named with what is wrong, and no store is left" {
    needs_files
    for kind in outside negative outside-csc falling blocks nan dense huge empty no-cells no-cells-dense; do
        refuses 3 $kind.h5ad
    done
    refuses 3 no-cells.h5ad --matrix layers/columns
    refuses 3 scaled.h5ad --rows total:100 --values log1p
    refuses 2 rows.h5ad --matrix layers/x
    [[ $output != *obs/* ]] # columns of obs are no matrices
    for options in "--matrix Dense" "--matrix obsm/pca" "--label-column Kind" --transpose; do
        refuses 2 rows.h5ad $options
    done
    refuses 2 rows.npz --matrix X
    head -c 20000 "$FILES/rows.h5ad" >cut.h5ad
    refused 3 nystream import n.nys cut.h5ad
    gzip -c "$FILES/rows.h5ad" >rows.h5ad.gz
    refused 3 nystream import n.nys rows.h5ad.gz --format h5ad
    refused 2 nystream import n.nys - < <(cat "$FILES/rows.h5ad")
    refuses 8 chunk.h5ad --memory 128M
    nystream import chunk.nys "$FILES/chunk.h5ad" -q --memory "$(grep -oE '[0-9]+M' <<<"${output##*--memory}")"
    nystream import drop.nys "$FILES/dense.h5ad" --nan drop --json | grep -q '"dropped": 1'
}

@test "any table or sparse matrix of an HDF5 file is read by its name" {
    needs_files
    nystream import images.nys "$FILES/other.hdf5" --matrix runs/images -q
    [ "$(nystream export images.nys --part points -o - -q | tail -c 64 | od -An -v -tf4 | xargs)" = "$(seq 0 15 | xargs)" ]
    nystream import lengths.nys "$FILES/other.hdf5" --matrix runs/lengths -q
    nystream info lengths.nys --json | grep -q '"d": 1'
    refused 3 nystream import n.nys "$FILES/other.hdf5"
    [[ $output == *"runs/images   4 x 2 x 2"* ]]
    refused 2 nystream import n.nys "$FILES/other.hdf5" --matrix runs
    for name in words cut shapeless; do refused 3 nystream import n.nys "$FILES/other.hdf5" --matrix $name; done
}

# Writes loop.h5ad, which libhdf5 reads for ever; newer ones may refuse it.
make_loop() {
    /usr/bin/python3 "$BATS_TEST_DIRNAME/external/damage_h5ad.py" loop "$FILES/rows.h5ad" loop.h5ad
    status=0
    (ulimit -S -t 1 && nystream-hdf5 loop.h5ad >/dev/null 2>&1) || status=$?
    [ "$status" -gt 128 ] || skip "this libhdf5 refuses the file"
}

# A file that begins as HDF5 does; what reads it is replaced below.
signed() {
    printf '\211HDF\r\n\032\n and more' >x.h5ad
}

@test "a reader that is missing, dies or lies is an error with a cure" {
    signed
    export NYSTREAM_HDF5=$PWD/nowhere
    refused 4 nystream import n.nys x.h5ad
    while read -r code line; do
        fake reader "$line"
        refused "$code" nystream import n.nys x.h5ad
    done <<'END'
4 kill -9 $$
3 kill -SEGV $$
3 exit 0
3 echo "x.h5ad: no such thing." >&2; exit 3
3 printf "\033[31mred\n" >&2; exit 77
3 head -c 5000 /dev/zero
3 cat /dev/zero
END
}

# u32 NUMBER…, u64 NUMBER…: their bytes, of a little-endian machine
u32() { for n; do printf "\\x$(printf %x $((n & 255)))\\x$(printf %x $((n >> 8 & 255)))\\x$(printf %x $((n >> 16 & 255)))\\x$(printf %x $((n >> 24 & 255)))"; done; }
u64() { for n; do u32 $n $((n >> 32)); done; }

# stream_of FORM ENTRIES MOST: the head of 3 rows and 5 columns of u8, columns of 4 bytes
stream_of() {
    printf 'nyrows2\n'
    u32 "$1" 1 $(($1 ? 4 : 0)) 0 0 0 "${4:-0}" "${5:-0}"
    u64 3 5 "$2" "$3"
}

@test "nothing that the stream says is believed" {
    [ "$(printf '\1\0' | od -An -td2 | xargs)" = 1 ] || skip "a big-endian machine"
    signed
    lies() { # the stream on stdin
        cat >stream
        fake lies "cat '$PWD/stream'"
        refused 3 nystream import n.nys x.h5ad
    }
    lies < <(stream_of 1 4 2)
    lies < <(stream_of 0 0 0; printf 12345678901)
    lies < <(stream_of 0 0 0; printf 12345678901234567)
    lies < <(stream_of 1 4 2; u64 4 4)
    lies < <(stream_of 1 4 2; u64 3 5)
    lies < <(stream_of 1 4 2; u64 3 4; u32 1 1 1)
    lies < <(stream_of 1 3 1; u64 3 3; u32 1 1 1; u32 0 9 2; printf 123)
    lies < <(stream_of 2 2 1; u64 5 2; u32 1 1 0 0 0; u32 0 7; printf 12)
    lies < <(stream_of 1 4 5)
    lies < <(stream_of 3 4 2)
    lies < <(stream_of 1 4 2 2 0)
    lies < <(stream_of 1 4 2 0 1; u32 1; printf a)
    lies < <(stream_of 1 4 2 1 0; u32 1; printf a; u32 700)
    lies < <(stream_of 1 4 2 1 0; u32 1; printf a; u32 70000)
    lies < <(stream_of 1 4 2 1 1; u32 3; printf 'a\nb')
    { printf 'looking\nlooking\n'; stream_of 0 0 0; printf 123456789012345; } >stream
    fake well "cat '$PWD/stream'"
    nystream import good.nys x.h5ad -q
    fake late "cat '$PWD/stream'; echo 'x.h5ad: the end is bad' >&2; exit 3"
    refused 3 nystream import n.nys x.h5ad
}

# head_of LABELS NAMES: the head of 3 dense rows and 2 columns of f32, with labels of so many names
head_of() {
    printf 'nyrows2\n'
    u32 0 3 0 "$1" "$2" 0 0 0
    u64 3 2 0 0
}

@test "labels of the stream stay with their rows, and names with their numbers" {
    [ "$(printf '\1\0' | od -An -td2 | xargs)" = 1 ] || skip "a big-endian machine"
    signed
    one=1065353216 nan=2143289344 # 1 and NaN as f32
    words() { u32 1; printf a; u32 2; printf bb; }
    { head_of 2 2; words; u32 1 0 -1; u32 $one 0 $one $nan 0 $one; } >stream # row 1 has a NaN
    fake well "cat '$PWD/stream'"
    nystream import dropped.nys x.h5ad --label-column l --nan drop -q
    [ "$(shown "dropped.nys --part labels" | paste -sd ' ')" = "1 nan" ]
    [ "$(shown "dropped.nys --part classes" txt | paste -sd ' ')" = "a bb" ]
    lies() { # the stream on stdin
        cat >stream
        refused 3 nystream import n.nys x.h5ad --label-column l
    }
    lies < <(head_of 2 2; words; u32 1 2 0)
    lies < <(head_of 2 1; u32 0)
    lies < <(head_of 2 1; u32 1025; head -c 1100 /dev/zero | tr '\0' x)
    lies < <(head_of 2 1; u32 3; printf 'a\0b')
    fake fails "cat '$PWD/stream'; echo 'x.h5ad: the disk is bad' >&2; exit 4"
    head_of 0 0 >stream
    u32 $one $one 0 >>stream # half of the rows
    refused 4 nystream import n.nys x.h5ad
}

@test "a reader that hangs is ended, and one that is slow is waited for" {
    [ "$(printf '\1\0' | od -An -td2 | xargs)" = 1 ] || skip "a big-endian machine"
    [ -z "${NYSTREAM_SANITIZER-}" ] || skip "its runtime wants to be loaded first"
    signed
    # ten minutes of waiting become three seconds and some
    printf '%s\n' '#define _GNU_SOURCE' '#include <poll.h>' '#include <stddef.h>' \
        'int poll(struct pollfd *files, nfds_t count, int ms)' \
        '{ return ppoll(files, count, &(struct timespec){0, ms * 5000L}, NULL); }' >hasty.c
    cc -shared -fPIC hasty.c -o hasty.so
    stream_of 0 0 0 >stream
    printf 123456789012345 >>stream
    fake slow "for i in {0..9}; do tail -c +\$((i * 9 + 1)) '$PWD/stream' | head -c 9; sleep 0.5; done"
    SECONDS=0
    LD_PRELOAD=$PWD/hasty.so nystream import slow.nys x.h5ad -q
    [ "$SECONDS" -ge 4 ]
    fake plain "cat '$PWD/stream'"
    nystream import good.nys x.h5ad -q
    [ "$(points slow.nys)" = "$(points good.nys)" ]
    for sent in 0 30 80 87; do # in the head, in the rows, and at the end
        fake hangs 'echo $$ >pid' "head -c $sent '$PWD/stream'" 'exec sleep 100'
        SECONDS=0
        LD_PRELOAD=$PWD/hasty.so refused 4 \
            nystream import n.nys x.h5ad
        [ "$SECONDS" -lt 50 ]
        [ ! -d "/proc/$(cat pid)" ]
    done
}

@test "a damaged file that makes the reader compute for ever is refused" {
    needs_files
    make_loop
    ulimit -S -t 2 # half a minute without this
    refused 3 nystream import n.nys loop.h5ad
    signed
    fake loops 'echo $$ >pid' 'while :; do :; done'
    refused 3 nystream import n.nys x.h5ad
    [ ! -d "/proc/$(cat pid)" ]
}

@test "every bit of the bytes where texts begin may be flipped" {
    needs_files
    ulimit -S -t 3
    /usr/bin/python3 "$BATS_TEST_DIRNAME/external/damage_h5ad.py" flips "$FILES/rows.h5ad"
}

@test "a reader that makes progress may take any time" {
    needs_files
    [ -z "${NYSTREAM_SANITIZER-}" ] || skip "measures CPU time"
    # many chunks of the same packed bytes, which take seconds to unpack
    /usr/bin/python3 -c 'import h5py, numpy, zlib
x = numpy.random.default_rng(0).integers(0, 9, (500, 2000)).astype("u1")
to = h5py.File("long.h5ad", "w").create_dataset("X", (600000, 2000), "u1", chunks=x.shape, compression="gzip")
packed = zlib.compress(x.tobytes(), 1)
for i in range(1200): to.id.write_direct_chunk((i * 500, 0), packed)'
    (
        ulimit -S -t 2
        time=$({ TIMEFORMAT='%U'; time nystream-hdf5 long.h5ad >/dev/null; } 2>&1)
        echo "$time" >taken
    )
    awk '{ exit !($1 > 2.2) }' taken || { cat taken; return 1; }
}

@test "no reader survives its parent, and none may write a file or start a program" {
    needs_files
    make_loop
    nystream import n.nys loop.h5ad -q 3>&- &
    parent=$!
    for ((i = 0; i < 100; i++)); do
        child=$(pgrep -P "$parent" || true)
        [ -z "$child" ] || [ "$(cat "/proc/$child/comm")" != nystream-hdf5 ] || break
        sleep 0.05
    done
    [ "$(cat "/proc/$child/comm")" = nystream-hdf5 ]
    sleep 0.3 # it has opened the file
    if [ -z "${NYSTREAM_SANITIZER-}" ] && grep -q '^Seccomp_filters' /proc/self/status; then
        grep -q '^Seccomp:.2$' "/proc/$child/status"
    fi
    kill -KILL "$parent"
    for ((i = 0; i < 40; i++)); do
        [ -d "/proc/$child" ] || break
        sleep 0.05
    done
    [ ! -d "/proc/$child" ]
}

@test "an interrupt ends the import and its reader" {
    signed
    fake waits 'echo $$ >pid' 'exec sleep 100'
    nystream import n.nys x.h5ad -q 3>&- &
    for ((i = 0; i < 100; i++)); do
        [ ! -s pid ] || break
        sleep 0.05
    done
    kill -TERM $!
    status=0
    wait $! || status=$?
    [ "$status" -eq 143 ]
    [ ! -d "/proc/$(cat pid)" ]
    [ ! -e n.nys ]
}

@test "real cells: PBMC of 10x Genomics, with their types" {
    needs_files
    file=${NYSTREAM_DATA:-/nowhere}/pbmc3k/pbmc3k.h5ad
    [ -f "$file" ] || skip "no pbmc3k in NYSTREAM_DATA"
    nystream import a.nys "$file" --label-column cell_type --json >a.json
    has a.nys n=2638 d=13714 nnz=2238732 classes=9.0
    file=$NYSTREAM_DATA/pbmc_covid/pbmc_covid.h5ad
    [ -f "$file" ] || skip "no pbmc_covid in NYSTREAM_DATA"
    nystream import b.nys "$file" --label-column condition -q
    has b.nys nnz=11583564
}
