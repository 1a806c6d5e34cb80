# The generators and judges of data-tools, against answers known from elsewhere.
# bats file_tags=slow
load helper

setup() {
    PATH=$NYSTREAM_BUILD/data-tools:$PATH
    cd "$BATS_TEST_TMPDIR" || exit
}

# An IDX set of three 4 x 4 images (a dot, a bar, a square) with labels 7 1 0.
make_images() {
    {
        printf '\0\0\10\3\0\0\0\3\0\0\0\4\0\0\0\4'
        printf '\0\0\0\0\0\377\0\0\0\0\0\0\0\0\0\0'
        printf '\0\0\200\0\0\0\200\0\0\0\200\0\0\0\200\0'
        printf '\0\0\0\0\0\100\100\0\0\100\100\0\0\0\0\0'
    } >images
    printf '\0\0\10\1\0\0\0\3\7\1\0' >labels
}

refute() {
    ! "$@"
}

# bytes FILE SKIP COUNT: prints bytes as numbers, on one line
bytes() {
    od -An -v -tu1 -w"$3" -j "$2" -N "$3" "$1"
}

@test "infinite-digits: the first images are the originals" {
    make_images
    gzip -k images
    infinite-digits images.gz -n 3 -o out
    cmp images out
}

@test "infinite-digits: any slice of the endless list can be made by itself" {
    make_images
    infinite-digits images labels -n 9000 --seed 3 --labels-out all.labels >all
    infinite-digits images labels --first 8190 -n 10 --seed 3 --labels-out part.labels -o part
    cmp <(tail -c +$((17 + 8190 * 16)) all | head -c 160) <(tail -c +17 part)
    # labels repeat with the originals: 8190 is a multiple of 3
    [ "$(bytes part.labels 8 10 | xargs)" = "7 1 0 7 1 0 7 1 0 7" ]
    [ "$(stat -c %s all.labels)" -eq 9008 ]
    infinite-digits images labels --first 8190 -n 10 --seed 4 -o other
    refute cmp -s part other
}

@test "infinite-digits: without displacement only shifts by one pixel remain" {
    make_images
    infinite-digits images --alpha 0 --first 3 -n 300 -o out
    # image 3k is the dot, in one of nine places round (1,1); all nine occur
    for ((i = 0; i < 300; i += 3)); do
        bytes out $((16 + 16 * i)) 16
    done | awk '
        { lit = 0; for (k = 1; k <= 16; k++) if ($k) { lit++; where = k - 1; value = $k }
          if (lit != 1 || value != 255 || where % 4 > 2 || where > 10) exit 1
          seen[where] }
        END { n = 0; for (w in seen) n++; if (n != 9) exit 1 }'
}

@test "infinite-digits: npy holds the same pixels" {
    make_images
    infinite-digits images -n 20 -o out.idx
    infinite-digits images -n 20 --format npy -o out.npy
    cmp <(tail -c +17 out.idx) <(tail -c +129 out.npy)
    head -c 128 out.npy | grep -aq "'descr': '|u1', 'fortran_order': False, 'shape': (20, 16)"
}

@test "infinite-digits: of some classes only" {
    make_images
    infinite-digits images labels --classes 7,0 -n 5 --labels-out kept.labels -o kept
    cmp <(tail -c +17 kept | head -c 16) <(tail -c +17 images | head -c 16)
    cmp <(tail -c +33 kept | head -c 16) <(tail -c +49 images | head -c 16)
    [ "$(bytes kept.labels 8 5 | xargs)" = "7 0 7 0 7" ]
    run -3 infinite-digits images labels --classes 5 -n 5 -o none
}

@test "manifold: points of a swiss roll lie on the sheet, and the same seed gives the same bytes" {
    manifold swiss-roll -n 500 --seed 5 -o a.npy --parameters p.npy
    manifold swiss-roll -n 500 --seed 5 -o b.npy
    manifold swiss-roll -n 500 --seed 6 -o c.npy
    cmp a.npy b.npy
    refute cmp -s a.npy c.npy
    # r = t on the spiral; the arc length of r = t, integrated by plain steps
    paste <(od -An -v -tf4 -w12 -j 128 a.npy) <(od -An -v -tf4 -w8 -j 128 p.npy) | awk '
        NR % 50 == 1 {
            t = sqrt($1 * $1 + $3 * $3); s = 0
            for (k = 0; k < 20000; k++) { u = t * (k + 0.5) / 20000; s += sqrt(1 + u * u) * t / 20000 }
            d = s - $4; h = $2 - $5
            if (t < 4.712 || t > 14.138 || d * d > 1e-4 || h * h > 1e-8) exit 1
            x = t * cos(t) - $1; if (x * x > 1e-4) exit 1
        }
        END { if (NR != 500) exit 1 }'
}

# rows FILE COLUMNS: prints the float32 values of an npy file
rows() {
    od -An -v -tf4 -w$((4 * $2)) -j 128 "$1"
}

# on_shape KIND COLUMNS KNOWN CONDITION: of each point x in $1 …, what is known of it after that
on_shape() {
    manifold "$1" -n 500 --seed 5 -o x.npy --parameters known.npy
    paste <(rows x.npy "$2") <(rows known.npy "$3") | awk '
        function near(a, b) { return (a - b) ^ 2 < 1e-10 }
        BEGIN { pi = atan2(0, -1) }
        !('"$4"') { print "row " NR ": " $0; exit 1 }
        END { if (NR != 500) exit 1 }'
}

@test "manifold: points of every other kind satisfy their equations" {
    on_shape s-curve 3 2 'near($1, sin($4)) && near($2, $5) && near($1 ^ 2 + (1 - ($3 < 0 ? -$3 : $3)) ^ 2, 1) && $3 * $4 <= 0'
    on_shape fishbowl 3 2 'near($1 ^ 2 + $2 ^ 2 + 2.25 * $3 ^ 2, 1) && $3 <= 2 / 3 * cos(pi / 4) + 1e-6 && near($4, 2 * pi * (NR - 1) / 500)'
    on_shape halo 3 1 '$4 == (NR > 400) && ($4 ? $1 ^ 2 + $2 ^ 2 + ($3 + 0.069) ^ 2 < 0.3 : near($1 ^ 2 + $2 ^ 2 + $3 ^ 2, 1) && $3 > cos(0.8 * pi) - 1e-6)'
    on_shape spiral 2 1 'near($1, (r = sqrt($1 ^ 2 + $2 ^ 2)) * cos(5 * pi * r)) && r >= 0.0999 && $3 > r && $3 < 5 * pi * r'
    on_shape spheres 3 1 '$4 == (NR - 1) % 3 && near(($1 - 3 * $4) ^ 2 + $2 ^ 2 + $3 ^ 2, 1)'
    manifold spheres --pieces 2 --dimension 1 -n 10 -o circles.npy
    [ "$(stat -c %s circles.npy)" -eq $((128 + 10 * 2 * 4)) ]
}

@test "manifold: classes are labels of an import, noise is noise" {
    manifold halo -n 50 --parameters class.npy -o - | nystream import s.nys - --labels class.npy -q
    nystream info s.nys --json | grep -q '"labels": true'
    manifold spiral -n 400 --noise 0.01 -o noisy.npy
    manifold spiral -n 400 -o clean.npy
    paste <(rows noisy.npy 2) <(rows clean.npy 2) | awk '
        { s += ($1 - $3) ^ 2 + ($2 - $4) ^ 2 } END { s = sqrt(s / 800); exit !(s > 0.009 && s < 0.011) }'
}

@test "knn-accuracy: agrees with a plain search" {
    manifold swiss-roll -n 300 --seed 1 -o train.npy
    manifold swiss-roll -n 80 --seed 2 -o test.npy
    rows train.npy 3 | awk '{print int($2) % 3}' >train.labels
    rows test.npy 3 | awk '{print int($2) % 3}' >test.labels
    for k in 1 4; do
        expected=$(paste <(rows train.npy 3; rows test.npy 3) <(cat train.labels test.labels) | awk -v k=$k '
            NR <= 300 { x[NR] = $1; y[NR] = $2; z[NR] = $3; label[NR] = $4; next }
            {
                split("", used); split("", votes)
                for (r = 0; r < k; r++) {
                    best = 0
                    for (i = 1; i <= 300; i++) {
                        if (i in used) continue
                        d = (x[i] - $1) ^ 2 + (y[i] - $2) ^ 2 + (z[i] - $3) ^ 2
                        if (!best || d < least) { best = i; least = d }
                    }
                    used[best]; votes[label[best]]++; order[r] = label[best]
                }
                guess = order[0]         # of tied classes the one met first
                for (r = 1; r < k; r++) if (votes[order[r]] > votes[guess]) guess = order[r]
                right += guess == $4
            }
            END { printf "%d of 80", right }')
        run knn-accuracy train.npy train.labels test.npy test.labels --k $k
        echo "$output, expected $expected"
        [ "$status" -eq 0 ]
        [[ $output == *"($expected,"* ]]
    done
}

@test "knn-accuracy: labels that are words are the same ones in both files" {
    printf '0,0\n0,1\n10,10\n10,11\n' >train.csv
    printf 'cat\ncat\ndog\ndog\n' >train.labels
    printf '10,10.2\n0,0.2\n' >test.csv
    printf 'dog\ncat\n' >test.labels
    run -0 knn-accuracy train.csv train.labels test.csv test.labels
    [[ $output == "accuracy 1.0000 (2 of 2, "* ]]
    printf 'dog\nfish\n' >test.labels # a class that the training points do not have
    run knn-accuracy train.csv train.labels test.csv test.labels
    [[ $output == "accuracy 0.5000 (1 of 2, "* ]]
    printf '0\n0\n1\n1\n' >train.labels
    run -3 knn-accuracy train.csv train.labels test.csv test.labels
    [[ $output == *"test.labels"* ]]
}

@test "knn-accuracy: a row without a label is refused" {
    printf '0,0\n0,1\n10,10\n10,11\n' >train.csv
    printf '10,10.2\n0,0.2\n' >test.csv
    for lacking in train test; do
        printf '0\n1\n1\n1\n' >train.labels
        printf '0\n1\n' >test.labels
        sed -i 2s/1/nan/ $lacking.labels
        run -3 knn-accuracy train.csv train.labels test.csv test.labels
        [[ $output == *"$lacking.labels has no label for row 1 (from 0)"* ]]
    done
}

@test "without a library all tools but its own are built" {
    mkdir bin
    printf '%s\n' '#!/bin/sh' 'case "$*" in *hdf5*|*libjpeg*) exit 1 ;; esac' \
        "exec $(command -v pkg-config) \"\$@\"" >bin/pkg-config
    chmod +x bin/pkg-config
    PATH=$PWD/bin:$PATH run -0 make -n -C "$BATS_TEST_DIRNAME/../.." tools BUILD="$PWD/new"
    [[ $output == *"new/data-tools/ply-rows"* && $output != *"new/data-tools/image-rows"* ]]
    [[ $output == *"not built: nystream-hdf5 image-rows; data-tools/setup tools"* ]]
    PATH=$PWD/bin:$PATH run make -n -C "$BATS_TEST_DIRNAME/../.." all BUILD="$PWD/new"
    [[ $output == *"new/nystream"* && $output != *"nystream-hdf5"* ]]
    pkg-config --exists hdf5 libpng libjpeg || return 0
    run make -n -C "$BATS_TEST_DIRNAME/../.." tools BUILD="$PWD/new"
    [[ $output == *"new/data-tools/image-rows"* && $output != *"not built"* ]]
    run make -n -C "$BATS_TEST_DIRNAME/../.." all BUILD="$PWD/new"
    [[ $output == *"new/nystream-hdf5"* ]]
}

@test "setup asks Python itself what it has, of any version" {
    sed "s|/usr/bin/python3|$PWD/python3|" "$BATS_TEST_DIRNAME/../../data-tools/setup" >setup
    printf '#!/bin/sh\n[ "$*" = "-c import ensurepip" ]\n' >python3
    chmod +x python3 setup
    [[ " $(./setup --missing python) " != *" python3-venv "* ]]
    printf '#!/bin/sh\nexit 1\n' >python3
    [[ " $(./setup --missing python) " == *" python3-venv "* ]]
}

@test "setup goes on without what the tests can do without, and says so" {
    mkdir bin
    printf '%s\n' '#!/bin/sh' 'case "$*" in *umap*) exit 100 ;; *" other"*) touch there ;; esac' >bin/apt-get
    printf '#!/bin/sh\necho 0\n' >bin/id
    chmod +x bin/*
    for package in umap-learn umap-needed; do
        sed "/^build  cmd:make/,/^fresh/d; s|^needs='|&\npython file:there other\npython file:nowhere $package|" \
            "$BATS_TEST_DIRNAME/../../data-tools/setup" >setup-$package
    done
    PATH=$PWD/bin:$PATH run -0 bash setup-umap-learn python
    [[ $output == *"without umap-learn, which cannot be installed here"*"setup: done" ]]
    [ -e there ]
    PATH=$PWD/bin:$PATH run -1 bash setup-umap-needed python
    [[ $output == *"Install by hand"*umap-needed* ]]
}

@test "cells: an archive and a pipe have the same rows, and the wanted number of non-zeros" {
    local options="--cells 3000 --features 2000 --mean 150 --types 4 --seed 7"
    cells $options -o a.npz --labels-out types.txt
    cells $options -o again.npz
    cmp a.npz again.npz
    nystream import a.nys a.npz --labels types.txt -q
    cells $options -o - | nystream import b.nys - --dims 2000 --dtype i16 -q
    same_exports "a.nys --part points" "b.nys --part points"
    [ "$(cells $options -o - | cut -d' ' -f1 | cksum)" = "$(cksum <types.txt)" ]
    [ "$(sort -u types.txt | xargs)" = "0 1 2 3" ]
    # 150 within 4 %, values above 1 in counts alone
    cells $options -o - | awk '{n += NF - 1} END {exit !(n > NR * 144 && n < NR * 156)}'
    cells $options -o - | grep -q ':[2-9]'
    refute grep -q ':[2-9]' <(cells $options --binary -o -)
    # row i depends on i alone, and on the seed
    cmp <(cells $options -o - | head -n 9) <(cells $options --cells 9 -o -)
    refute cmp -s <(cells $options -o - | head -n 9) <(cells $options --cells 9 --seed 8 -o -)
}

@test "cells: each type has a large eigenvalue, and no other direction has" {
    cells --cells 2000 --features 5000 --mean 400 --types 6 --binary -o c.npz
    nystream import c.nys c.npz -q
    nystream fit c.nys s --map svd --approx exact --kernel cosine --components 7 -q
    nystream export c.nys s --part eigenvalues -o values.csv -q
    awk '{v[NR] = $1} END {exit !(v[6] > 2 * v[7])}' values.csv
}

needs_hdf5() {
    [ -x "$NYSTREAM_BUILD/nystream-hdf5" ] || skip "nystream-hdf5 is not built: no libhdf5"
    export ASAN_OPTIONS=detect_leaks=0 # libhdf5 keeps memory
}

@test "cells: an .h5ad has the rows of the archive, names, and types as labels" {
    needs_hdf5
    local options="--cells 3000 --features 2000 --mean 150 --types 4 --seed 7"
    for kind in "" --binary; do
        rm -rf ./*.nys
        cells $options $kind -o a.npz --labels-out types.txt
        cells $options $kind -o a.h5ad --labels-out again.txt
        cmp types.txt again.txt
        nystream import a.nys a.npz --labels types.txt -q
        nystream import b.nys a.h5ad --label-column type -q
        for s in a b; do
            nystream info $s.nys --json | grep -E '"(n|d|dtype|layout|mean_square_norm)"' >$s.info
        done
        cmp a.info b.info
        for part in points labels; do same_exports "a.nys --part $part" "b.nys --part $part"; done
    done
    grep -q u8 a.info
    [ "$(nystream export b.nys --part ids -o - -q | sed -n '1p;$p' | xargs)" = "cell0 cell2999" ]
    [ "$(nystream export b.nys --part columns -o - -q | sed -n '1p;$p' | xargs)" = "gene0 gene1999" ]
    sleep 1 # no time is in it
    cells $options --binary -o again.h5ad
    cmp a.h5ad again.h5ad
}

@test "cells: Python's anndata reads the .h5ad" {
    needs_hdf5
    /usr/bin/python3 -c 'import anndata' 2>/dev/null || skip "no anndata in /usr/bin/python3"
    cells --cells 500 --features 300 --mean 20 --types 200 --labels-out types.txt -o a.h5ad
    cells --cells 500 --features 300 --mean 20 --types 200 -o a.npz
    /usr/bin/python3 - <<'END'
import anndata, numpy, scipy.sparse
a = anndata.read_h5ad("a.h5ad")
wanted = scipy.sparse.load_npz("a.npz")
assert isinstance(a.X, scipy.sparse.csr_matrix) and (a.X != wanted).nnz == 0
assert list(a.obs_names[[0, 499]]) == ["cell0", "cell499"] and list(a.var.columns) == []
assert list(a.var_names[[0, 299]]) == ["gene0", "gene299"] and list(a.obs.columns) == ["type"]
assert list(a.obs["type"].cat.categories) == [str(t) for t in range(200)]
assert numpy.array_equal(a.obs["type"].astype(int), numpy.loadtxt("types.txt", dtype=int))
backed = anndata.read_h5ad("a.h5ad", backed="r")
assert (backed.X[7:9] != wanted[7:9]).nnz == 0
a.write_h5ad("b.h5ad")
END
    nystream import a.nys a.h5ad -q
    nystream import b.nys b.h5ad -q
    same_exports "a.nys --part points" "b.nys --part points"
}

@test "cells: mistakes leave no file" {
    refuse() {
        local wanted=$1
        shift
        run -2 "$@"
        [[ $output == *"$wanted"* ]]
    }
    refuse "Say where to" cells --cells 3
    refuse "half of --features" cells --features 10 --mean 6 -o a.npz
    refuse "must be positive" cells --types 0 -o a.npz
    for out in a.npz a.h5ad; do
        run -4 cells -o missing/$out
        run -4 bash -c "trap '' XFSZ; ulimit -f 1000; cells -o $out"
        [[ $output == "cannot write $out: File too large" ]]
    done
    [ -z "$(ls)" ]
}

@test "two outputs of one name are refused, however it is spelled" {
    apart() {
        run "$@"
        echo "$*: exit $status, $output"
        [ "$status" -eq 2 ]
        [[ $output == *"both go to "*": give two names"* ]]
    }
    make_images
    mkdir set folder
    apart manifold spiral -o x.npy --parameters x.npy
    apart manifold spiral -o folder/../x.npy --parameters ./x.npy
    apart cells -o x.npz --labels-out "$PWD/x.npz"
    apart infinite-digits images labels -n 3 -o x --labels-out ./x
    apart infinite-digits images labels -n 3 --labels-out -
    [ "$(ls | xargs)" = "folder images labels set" ]
    manifold spiral -o x.npy --parameters folder/x.npy
    make_image png gray 3 2 10 set/a.png
    apart image-rows set -o y --files y
    apart image-rows set -o y --labels y
    apart image-rows set -o y --files z --labels ./z
    [ "$(ls | xargs)" = "folder images labels set x.npy" ]
    image-rows set -o y --files z --labels -
}

# Two leads, 11 times: 1 … 11 and 101 … 111, as int16 npy.
make_series() {
    local i header="{'descr': '<i2', 'fortran_order': False, 'shape': (11, 2), }"
    printf '\223NUMPY\1\0\166\0%-117s\n' "$header"
    for ((i = 1; i <= 11; i++)); do
        printf "\\$(printf %o $i)\\0\\$(printf %o $((100 + i)))\\0"
    done
}

# points FILE: prints the int16 values of an npy file, three on a line
points() {
    tail -c +129 "$1" | od -An -v -td2 -w6 | awk '{print $1, $2, $3}'
}

@test "windows: of one lead, not crossing recordings, and a last one that is shorter" {
    make_series >s.npy
    windows s.npy --length 3 --record 4 -o w.npy
    [ "$(points w.npy)" = "$(printf '%s\n' '1 2 3' '2 3 4' '5 6 7' '6 7 8' '9 10 11')" ]
    [[ $(head -c 128 w.npy) == *"'<i2'"*"(5, 3)"* ]]
    windows - --length 3 --stride 4 --lead 1 <s.npy >v.npy
    [ "$(points v.npy)" = "$(printf '%s\n' '101 102 103' '105 106 107' '109 110 111')" ]
    [[ $(head -c 128 v.npy) == *"(3, 3)"* ]]
}

@test "windows: a pipe into import keeps their type" {
    make_series >s.npy
    windows s.npy --length 3 | "$NYSTREAM_BUILD/nystream" import s.nys - -q
    "$NYSTREAM_BUILD/nystream" info s.nys --json | grep -q '"dtype": "i16"'
    "$NYSTREAM_BUILD/nystream" info s.nys --json | grep -q '"n": 9'
}

@test "windows: of a text, of one column, farther apart than they are long" {
    seq 200000 >s.csv
    windows s.csv --length 3 --stride 70000 -o w.npy
    [ "$(tail -c +129 w.npy | od -An -v -tf4 -w12 | xargs)" = "1 2 3 70001 70002 70003 140001 140002 140003" ]
    windows s.csv --length 3 --stride 65537 --record 66000 -o w.npy
    [ "$(tail -c +129 w.npy | od -An -v -tf4 -w12 | awk '{print $1, $3}' | xargs)" = \
        "1 3 65538 65540 66001 66003 131538 131540 132001 132003 197538 197540 198001 198003" ]
    run windows - <s.csv
    [ "$status" -eq 2 ] && [[ $output == *"give a file, or npy"* ]]
}

@test "windows: a series that ends early leaves no file" {
    make_series >s.npy
    head -c 150 s.npy | { run windows - --length 3 -o w.npy; [ "$status" -eq 3 ]; }
    [ "$(ls -A)" = s.npy ]
}

# refused STATUS TEXT COMMAND…: checks for that exit, that sentence, and no output
refused() {
    local wanted=$1 text=$2
    shift 2
    run "$@" -o none.npy
    [ "$status" -eq "$wanted" ] && [[ $output == *"$text"* ]] && [ ! -e none.npy ] && return
    echo "$*: exit $status, $output" >&2
    return 1
}

# make_image as in external/make_image.c, where image-rows is built
make_image() {
    [ -x "$NYSTREAM_BUILD/data-tools/image-rows" ] || skip "image-rows is not built: no libpng, libjpeg"
    export ASAN_OPTIONS=detect_leaks=0 # what libpng and libjpeg keep when the tool ends with an error
    [ -x "$BATS_FILE_TMPDIR/make_image" ] ||
        cc "$BATS_TEST_DIRNAME/external/make_image.c" $(pkg-config --cflags libpng libjpeg) \
            -o "$BATS_FILE_TMPDIR/make_image" $(pkg-config --libs libpng libjpeg)
    "$BATS_FILE_TMPDIR/make_image" "$@"
}

@test "image-rows: gray images in folders, in order, with their paths and classes" {
    mkdir -p set/cat set/ant
    make_image png gray 3 2 10 set/cat/b.png
    make_image png gray 3 2 20 set/cat/a.PNG
    make_image jpeg gray 3 2 77 set/ant/z.jpeg
    touch set/readme.txt
    image-rows set -o x.npy --files files --labels labels
    [[ $(npy_header x.npy) == *"'|u1'"*"(3, 6)"* ]]
    [ "$(bytes x.npy 128 18 | xargs)" = "77 77 77 77 77 77 20 21 22 23 24 25 10 11 12 13 14 15" ]
    [ "$(xargs <files)" = "set/ant/z.jpeg set/cat/a.PNG set/cat/b.png" ]
    [ "$(xargs <labels)" = "ant cat cat" ]
    image-rows set | nystream import s.nys - --labels labels -q
}

@test "image-rows: color as in the files, or for all" {
    mkdir set
    make_image png color 2 1 10 set/a.png
    image-rows set -o x.npy
    [ "$(bytes x.npy 128 6 | xargs)" = "110 10 10 111 11 11" ]
    make_image png gray 2 1 10 set/b.png
    refused 3 "set/b.png is gray, set/a.png is not: say --gray or --color" image-rows set
    image-rows set --color -o x.npy
    [ "$(bytes x.npy 134 6 | xargs)" = "10 10 10 11 11 11" ]
    image-rows set --gray -o x.npy
    [[ $(npy_header x.npy) == *"(2, 2)"* ]]
    [ "$(bytes x.npy 130 2 | xargs)" = "10 11" ]
}

@test "image-rows: a PNG whose picture is whole is read, whatever else in it is damaged" {
    mkdir set
    make_image png gray 3 2 10 a.png
    # a note whose checksum is wrong, behind the signature and the header
    { head -c 33 a.png; printf '\0\0\0\5tEXta\0bcd\1\2\3\4'; tail -c +34 a.png; } >set/a.png
    run -0 image-rows set -o x.npy
    [ "$(bytes x.npy 128 6 | xargs)" = "10 11 12 13 14 15" ]
    # the picture itself is cut short
    perl -0777 -pe 's/(....)IDAT/pack("N", unpack("N", $1) - 4) . "IDAT"/se' a.png >set/a.png
    refused 3 "set/a.png cannot be read as PNG" image-rows set
    head -c -20 a.png >set/a.png
    refused 3 "set/a.png cannot be read as PNG" image-rows set
}

@test "image-rows: what cannot be a row is named" {
    mkdir set empty
    make_image png gray 3 2 10 set/a.png
    make_image png gray 2 3 10 set/b.png
    refused 3 "set/b.png has 2 x 3 pixels, set/a.png 3 x 2" image-rows set
    head -c 50 set/a.png >set/b.png
    refused 3 "set/b.png cannot be read as PNG" image-rows set
    rm set/b.png
    make_image jpeg gray 3 2 10 whole.jpg
    head -c -20 whole.jpg >set/c.jpg
    refused 3 "set/c.jpg cannot be read as JPEG" image-rows set
    seq 9 >set/c.jpg
    refused 3 "set/c.jpg cannot be read as JPEG" image-rows set
    refused 3 "empty has no image" image-rows empty
    refused 4 "missing" image-rows missing
    refused 2 "not both" image-rows set --gray --color
}

# ply FORMAT: prints the header of three points with a colour, after one camera
ply() {
    printf '%s\n' ply "format $1 1.0" 'comment by hand' 'element camera 1' 'property short id' \
        'element vertex 3' 'property float x' 'property float y' 'property float z' \
        'property uchar red' 'element face 1' 'property list uchar int vertex_indices' end_header
}

# prints the same points in binary: a float of 1.5 or -2, then the others
binary_ply() {
    ply binary_little_endian
    printf '\7\0'
    printf '\0\0\300\77\0\0\0\300\0\0\0\0\377'
    printf '\0\0\0\0\0\0\300\77\0\0\0\300\1'
    printf '\0\0\0\300\0\0\0\0\0\0\300\77\2'
    printf '\3\0\0\0\0\1\0\0\0\2\0\0\0'
}

text_ply() {
    ply ascii
    printf '%s\n' 7 '1.5 -2 0 255' '0 1.5 -2 1' '-2 0 1.5e0 2' '3 0 1 2'
}

@test "ply-rows: the points of a text and of a binary file, in any columns" {
    binary_ply >b.ply
    text_ply >t.ply
    ply-rows b.ply -o b.npy
    [ "$(rows b.npy 3 | xargs)" = "1.5 -2 0 0 1.5 -2 -2 0 1.5" ]
    text_ply | sed 's/$/\r/' | gzip | ply-rows - | cmp - b.npy
    ply-rows t.ply --properties red,x | nystream import s.nys - -q
    ply-rows t.ply --properties red,x -o c.npy
    [ "$(rows c.npy 2 | xargs)" = "255 1.5 1 0 2 -2" ]
    head -n -1 t.ply >m.ply # its last point is the last line
    head -c -1 m.ply | ply-rows - | cmp - b.npy
    sed 's/property float x/property double x/' t.ply | ply-rows - >d.npy
    [[ $(npy_header d.npy) == *"'<f8'"*"(3, 3)"* ]]
}

@test "ply-rows: what is wrong is named by its line, and what to do" {
    text_ply >t.ply
    binary_ply >b.ply
    while IFS='|' read -r make text; do
        eval "$make" >f
        refused 3 "$text" ply-rows f
    done <<'END'
head -n -3 t.ply|f ends in line 16, before its last point
head -n -3 t.ply; printf '0 1.5'|line 16: z of the point is ""
sed 's/^0 1.5/0 nine/' t.ply|line 16: y of the point is "nine"
sed 's/^0 1.5 -2 1/0 1.5 -2 1 1/' t.ply|line 16: the point has more than its 4 numbers
head -c -40 b.ply|it has 0 of its 3 points
sed 's/vertex 3/vertex 2000000000000000/' b.ply|of its 2000000000000000 points
sed 's/little/big/' b.ply|line 2: the format is neither
sed 's/short id/list uchar short id/' b.ply|lists before its points
seq 9|nystream import
sed 's/element vertex 3/element vertex 0/' t.ply|no points
END
    head -c -16 b.ply | refused 3 "it has 2 of its 3 points" ply-rows -
    refused 2 "x y z red. Not q" ply-rows t.ply --properties x,q
}

# A WFDB record r of two signals, three times: 1 -1 | 2047 -2048 | 256 100, packed in 212; their
# sums are 2304 and -1949. Then the same in format 16, as s.
make_record() {
    printf '%s\n' '# a comment' 'r 2 360 3' 'r.dat 212 200 12 0 1 2304 0 one' \
        'r.dat 212 200 12 0 -1 -1949 0 two' >r.hea
    printf '\1\360\377\377\207\0\0\1\144' >r.dat
    sed 's/^r/s/; s/^s.dat 212/s.dat 16+4/' r.hea >s.hea
    printf 'head\1\0\377\377\377\7\0\370\0\1\144\0' >s.dat
}

@test "wfdb-rows: signals of both formats, and on to windows" {
    make_record
    wfdb-rows r.hea -o r.npy
    [[ $(npy_header r.npy) == *"'<i2'"*"(3, 2)"* ]]
    [ "$(tail -c +129 r.npy | od -An -v -td2 | xargs)" = "1 -1 2047 -2048 256 100" ]
    wfdb-rows s.hea | cmp - r.npy
    [ "$(wfdb-rows "$PWD/r.hea" | windows - --lead 1 --length 2 | tail -c +129 | od -An -td2 | xargs)" = \
        "-1 -2048 -2048 100" ]
}

@test "wfdb-rows: damage and what is not read are named" {
    make_record
    while IFS='|' read -r change text; do
        sed "$change" r.hea >f.hea
        refused 3 "$text" wfdb-rows f.hea
    done <<'END'
s/2304/2305/|the checksum of signal 0
s/360 3/360 4/|it has 3 of the 4 times
s/ 212 / 310 /|line 3: the format is neither 16 nor 212
4,$d|line 4: the header ends
s:^r.dat:/etc/r.dat:|beside the header
s/^r 2/r 65/|1 to 64 signals
s:^r 2:r/3 2:|in segments
END
    mv r.dat gone
    refused 4 "r.dat" wfdb-rows r.hea
    refused 4 "missing.hea" wfdb-rows missing.hea
}
