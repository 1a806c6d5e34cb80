# Sparse rows, as a user has them: LIBSVM files that stay sparse.
load helper

# 600 rows of 2,000 columns, two topics, about 20 values each.
text() {
    "$NYSTREAM_BUILD/data-tools/sparse-text" -n "${2:-600}" --terms 2000 --length 25 --topics 2 --seed "${3:-1}" -o "$1"
}

@test "a LIBSVM file with few values stays sparse; --layout decides otherwise" {
    text t.libsvm
    ny -0 import t.nys t.libsvm
    has t.nys format=sparse d=2000
    [ "$(field "$output" nnz)" -lt 20000 ]
    ny -0 import d.nys t.libsvm --layout dense
    has d.nys format=dense
    printf '1 1:1 2:1 3:0.5\n0 1:2 3:1\n' >full.libsvm
    ny import full.nys full.libsvm
    has full.nys format=dense
    ny -0 verify t.nys
}

# bats test_tags=slow
@test "sparse and dense rows give the same landmarks, eigenvalues and embedding" {
    text t.libsvm
    text new.libsvm 80 2
    nystream import s.nys t.libsvm --dims 2000
    nystream import d.nys t.libsvm --dims 2000 --layout dense
    for options in "--kernel rbf" "--kernel laplacian" "--kernel cosine --map svd" "--map pca" \
        "--kernel linear --scale standard --map pca" "--select greedy --tolerance 0.7" \
        "--kernel polynomial" "--select rpcholesky --landmarks 40" "--approx gaussian"; do
        for store in s d; do
            ny -0 fit $store.nys a --components 3 --landmarks 60 --precision f64 $options \
                --restart --quiet
            for part in embedding eigenvalues; do
                nystream export $store.nys a --part $part -o $store.$part.csv
            done
            nystream transform $store.nys a --input new.libsvm -o $store.new.csv
        done
        alike 1e-9 s.eigenvalues.csv d.eigenvalues.csv
        alike 1e-9 s.embedding.csv d.embedding.csv
        alike 1e-9 s.new.csv d.new.csv
    done
    for store in s d; do # in f32 dense rows have the larger errors
        nystream fit $store.nys f32 --landmarks 60 --quiet
        nystream export $store.nys f32 -o $store.csv
    done
    same_exports "s.nys f32 --part landmarks" "d.nys f32 --part landmarks"
    alike 1e-4 s.csv d.csv
}

@test "a pass of rpcholesky measures all rows, also where one is full" {
    # 64 groups of rows lie far apart, in each of which k is 0.993: after one landmark of each few
    # candidates are accepted, until a pass has told. Rows that may have more than 2,048 values are
    # looked at a strip at a time.
    awk 'BEGIN {
        for (i = 0; i < 20000; i++) print "1 " i % 64 + 1 ":10 " i % 997 + 100 ":0.3"
        printf "1 1:10"
        for (j = 2; j <= 2100; j++) printf " %d:0.005", j
        print ""
    }' >t.libsvm
    nystream import t.nys t.libsvm -q
    ny -0 select t.nys d --select rpcholesky --landmarks 300 --kernel rbf --gamma 0.037 --json -q
    [ "$(field "$output" landmarks)" = 300 ]
    awk -v most="$(field "$output" residual_max)" 'BEGIN {exit !(most > 0 && most < 0.1)}'
}

@test "a model of sparse landmarks places its own rows where they were" {
    text t.libsvm
    nystream import t.nys t.libsvm
    nystream fit t.nys a --landmarks 50 --quiet
    nystream export t.nys a -o fit.csv
    nystream export t.nys a --part model -o a.nym
    has "t.nys a" gemm_ratio=null # there is no GEMM to compare with
    ny -0 transform a.nym --input t.libsvm -o again.csv
    alike 1e-5 fit.csv again.csv
    head -c 3000 a.nym >cut.nym
    ny -5 transform cut.nym --input t.libsvm -o x.npy
}

@test "appended rows: in the same width, of any format; a larger index is refused by name" {
    text t.libsvm
    text more.libsvm 100 3
    nystream import t.nys t.libsvm --dims 2000
    ny -0 import t.nys more.libsvm --append
    printf '1 2001:1\n' >wide.libsvm
    ny -3 import t.nys wide.libsvm --append
    ny -2 import t.nys more.libsvm --append --layout dense
    has t.nys n=700
    ny -0 import t.nys - --append < <(printf '1 7:1\n') # a pipe, whose largest index nobody knows
    has t.nys n=701
    seq -s , 3 >wide.csv
    ny -3 import t.nys wide.csv --append
    says 'wide.csv has 3 columns of points, but the store has 2000'
}

# bats test_tags=slow
@test "--shuffle and --nan drop keep rows, labels and sources together" {
    text t.libsvm
    sed -i '3s/:[^ ]*/:nan/' t.libsvm
    ny -0 import t.nys t.libsvm --shuffle --nan drop --seed 4
    ny -0 import d.nys t.libsvm --shuffle --nan drop --seed 4 --layout dense
    for store in t d; do
        nystream fit $store.nys a --landmarks 30 --quiet
        nystream export $store.nys a -o $store.csv
    done
    alike 1e-5 t.csv d.csv
    for part in labels source; do same_exports "t.nys a --part $part" "d.nys a --part $part"; done
    has t.nys n=599 dropped=1
}

@test "embed takes a sparse file; the same bytes under any memory and threads" {
    text t.libsvm 5000
    agree cmp "embed t.libsvm --landmarks 40 --threads 1 --memory 64M" \
        "embed t.libsvm --landmarks 40 --threads 3" npy
}

# bats test_tags=slow
@test "an import that is killed goes on where it was" {
    text t.libsvm 20000
    for delay in 0.02 0.04 0.06 20; do
        timeout -s KILL $delay nystream import t.nys t.libsvm --memory 32M && break
    done
    nystream import whole.nys t.libsvm
    for store in t whole; do
        ny -0 verify $store.nys
        nystream fit $store.nys a --landmarks 30 --quiet
    done
    same_exports "t.nys a" "whole.nys a"
}

# matrix ORDER FILE [ROWS]: writes one matrix of 300 rows and 900 columns as MatrixMarket, in the
# order of its rows or columns, or in none; "turned": its transpose, in the order of its columns.
matrix() {
    local rows=${3:-300}
    awk -v order="$1" -v rows="$rows" 'BEGIN {
        for (i = 1; i <= rows; i++)
            for (j = i % 7 + 1; j <= 900; j += 11 + (i + j) % 13) {
                key = order == "rows" || order == "turned" ? n : order == "columns" ? j * 100000 + i : i * j % 997
                printf "%d %d %d %d\n", key, order == "turned" ? j : i, order == "turned" ? i : j, (i + j) % 120 + 1
                n++
            }
    }' | sort -n -s | cut -d ' ' -f 2- >entries
    {
        echo '%%MatrixMarket matrix coordinate integer general'
        echo '%metadata_json: {"software_version": "made by a test"}'
        [ "$1" = turned ] && echo "900 $rows $(wc -l <entries)" || echo "$rows 900 $(wc -l <entries)"
        cat entries
    } >"$2"
}

# points STORE: its rows as they are stored, by way of the exact eigenvectors that they have.
points() {
    nystream fit "$1" p --approx exact --kernel linear --map svd --components 5 --precision f64 --restart -q
    nystream export "$1" p -o "$2"
}

@test "MatrixMarket files in any order, gzipped, from a pipe and transposed are the same points" {
    matrix rows rows.mtx
    ny -0 import rows.nys rows.mtx
    has rows.nys format=sparse
    [ "$(field "$output" dtype)" = u8 ] # counts, in their smallest type
    fields n=300 d=900
    points rows.nys rows.csv
    matrix columns columns.mtx
    matrix none none.mtx
    matrix turned turned.mtx
    gzip -k turned.mtx
    ny -0 import columns.nys columns.mtx
    ny -0 import none.nys none.mtx
    ny -0 import turned.nys turned.mtx.gz --transpose
    ny -0 import pipe.nys - --transpose < <(cat turned.mtx)
    for store in columns none turned pipe; do
        points $store.nys $store.csv
        cmp rows.csv $store.csv
    done
    ny -0 transform rows.nys p --input turned.mtx --transpose -o again.csv
    alike 1e-9 rows.csv again.csv
}

# bats test_tags=slow
@test "a matrix that is sorted outside of memory is the same under any budget" {
    matrix columns columns.mtx 4000
    for memory in 32M 64M 512M; do
        rm -rf s.nys
        ny -0 import s.nys columns.mtx --memory $memory
        points s.nys $memory.npy
    done
    cmp 32M.npy 64M.npy
    cmp 32M.npy 512M.npy
}

# bats test_tags=slow
@test "matrices of scipy, by rows and by columns, stored and deflated" {
    /usr/bin/python3 -c 'import scipy.sparse' 2>/dev/null || skip "scipy is not installed"
    matrix rows rows.mtx
    nystream import rows.nys rows.mtx -q
    points rows.nys rows.npy
    /usr/bin/python3 - <<'PY'
import numpy, scipy.io, scipy.sparse
matrix = scipy.io.mmread("rows.mtx").tocsr().astype(numpy.uint8)
scipy.sparse.save_npz("stored.npz", matrix, compressed=False)
scipy.sparse.save_npz("deflated.npz", matrix)
scipy.sparse.save_npz("columns.npz", matrix.tocsc())
wide = matrix.copy()
wide.indices, wide.indptr = wide.indices.astype(numpy.int64), wide.indptr.astype(numpy.int64)
scipy.sparse.save_npz("wide.npz", wide)
scipy.sparse.save_npz("turned.npz", matrix.T.tocsr())
scipy.sparse.save_npz("coo.npz", matrix.tocoo())
PY
    for name in stored deflated columns wide turned; do
        ny -0 import $name.nys $name.npz $([ $name = turned ] && echo --transpose)
        points $name.nys $name.npy
        cmp rows.npy $name.npy
    done
    ny -3 import coo.nys coo.npz
    ny -0 import stored.nys columns.npz --append
    has stored.nys n=600
}

@test "rows out of order are sorted and doubled entries added" {
    printf '%%%%MatrixMarket matrix coordinate real general\n2 6 4\n1 6 1\n1 3 2\n2 5 1\n2 5 1.5\n' >t.mtx
    nystream import t.nys t.mtx -q
    [ "$(shown "t.nys --part points")" = $'0,0,2,0,0,1\n0,0,0,0,2.5,0' ]
}

@test "columns beyond those of the store are refused, or left out: --new-columns drop" {
    printf '%%%%MatrixMarket matrix coordinate real general\n3 4 6\n1 1 2\n1 3 1\n2 2 5\n3 1 1\n3 2 1\n3 3 7\n' >a.mtx
    printf '%%%%MatrixMarket matrix coordinate real general\n2 6 5\n1 6 9\n1 2 4\n1 3 6\n2 5 3\n2 1 1\n' >b.mtx
    printf '0 1:2 3:1\n1 2:5\n0 1:1 2:1 3:7\n' >a.svm
    printf '0 2:4 3:6 6:9\n1 1:1 5:3\n' >b.svm
    for kind in mtx svm; do
        nystream import $kind.nys a.$kind --dims 4 --layout sparse -q
        nystream fit $kind.nys all --map svd --kernel linear --approx exact --components 2 -q
        ny -3 transform $kind.nys all --input b.$kind -o $kind.csv
        ny -3 import $kind.nys b.$kind --append
        ny -0 transform $kind.nys all --input b.$kind -o $kind.csv --new-columns drop --json
        [ "$(field "$output" values_left_out)" = 2 ]
        nystream transform $kind.nys all --input b.$kind -o $kind.csv --new-columns drop -q
        ny transform $kind.nys all --input a.$kind -o a.csv --new-columns drop --json
        [ "$(field "$output" values_left_out)" = 0 ]
        nystream graph $kind.nys near --neighbors 1 --connect -q
        ny transform $kind.nys near --input b.$kind -o rows.csv --new-columns drop --json
        [ "$(field "$output" values_left_out)" = 2 ]
        ny -0 import $kind.nys b.$kind --append --new-columns drop --json
        [ -z "$stderr" ]
        [ "$(field "$output" values_left_out)" = 2 ]
        ny import $kind.nys b.$kind --append --new-columns drop
        [ "$(shown "$kind.nys --part points" | tail -n 2)" = $'0,4,6,0\n1,0,0,0' ]
        nystream import dense.$kind.nys a.$kind --dims 4 --layout dense -q
        nystream import dense.$kind.nys b.$kind --append --new-columns drop -q
        [ "$(shown "dense.$kind.nys --part points" | tail -n 2)" = $'0,4,6,0\n1,0,0,0' ]
    done
    cmp mtx.csv svm.csv
    seq 6 >names.txt # names of columns that are left out go with them
    nystream import named.nys b.mtx --dims 4 --new-columns drop --column-names names.txt -q
    [ "$(nystream export named.nys --part columns -o - -q | xargs)" = "1 2 3 4" ]
    seq -s , 6 >wide.csv
    ny -3 import mtx.nys wide.csv --append
}

@test "new rows are compared with those of the fit, whatever rows have joined since" {
    awk 'BEGIN { for (i = 0; i < 300; i++) print i % 2, i % 9 + 1 ":1", i % 11 + 20 ":2" }' >few.svm
    awk 'BEGIN { for (i = 0; i < 40; i++) { s = i % 2; for (j = 1; j <= 30; j++) s = s " " j ":" i % 5 + 1; print s } }' >full.svm
    nystream import s few.svm --layout sparse -q
    nystream fit s m --map kpca --kernel linear --landmarks 12 --components 2 -q
    ny transform s m --input few.svm -o before.csv
    says "drift of few.svm from the rows of the fit: 0.0"
    nystream import s full.svm --append -q
    ny transform s m --input few.svm -o after.csv
    says "drift of few.svm from the rows of the fit: 0.0"
    cmp before.csv after.csv
}
