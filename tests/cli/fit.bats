# plan, fit, select, embed, export, transform.
load helper

result_keys="name status map approx select kernel gamma sigma epsilon seed precision threads n d
    landmarks components rank rank_effective eigenvalues variance trace trace_of trace_error variance_kept
    residual_max residual_mean negative_eigenvalues passes rows_read bytes_read flops seconds stages
    gemm_ratio peak_rss_bytes memory_budget_bytes store_bytes version gram_precision"

@test "products have the vectors of the CPU, or the kernels that OpenBLAS is told" {
    grep -qw avx2 /proc/cpuinfo || skip "this CPU has no AVX2"
    table 300 4 | env -u OPENBLAS_CORETYPE nystream import s - -q
    run -0 --separate-stderr env -u OPENBLAS_CORETYPE nystream fit s a --landmarks 10 --json
    [[ ! $(field "$(nystream info s a --json)" blas) =~ Prescott|Sandybridge|Nehalem|Core2 ]]
    OPENBLAS_CORETYPE=Prescott nystream fit s b --landmarks 10 -q
    [[ $(field "$(nystream info s b --json)" blas) == *Prescott* ]]
}

@test "plan: in words and as JSON, also when it does not fit" {
    store s 3000 8
    ny -0 plan s --landmarks 100
    [ -z "$stderr" ]
    prints "passes" "memory" "fits                  yes"
    ny -0 plan s --landmarks 100 --json
    has_keys "$output" fits memory_min_bytes memory_bytes disk_bytes flops passes seconds stages
    [[ $output == *'"fits": true'* ]]
    ny -0 plan s --landmarks 2000 --memory 1M --json
    [[ $output == *'"fits": false'* ]]
    shows "the smallest budget that works is" plan s --landmarks 2000 --memory 1M
    ny -4 plan missing
}

@test "a budget below all others is answered with the one that works" {
    store s 300 4
    for verb in "fit s a" "fit s b --approx exact --map pca --kernel linear" "graph s g"; do
        for memory in 1M 2M 3M 10M; do
            ny -8 $verb --memory $memory
            [[ $stderr =~ give\ --memory\ ([0-9]+M) ]]
            [ -z "${least-}" ] || [ "$least" = "${BASH_REMATCH[1]}" ]
            least=${BASH_REMATCH[1]}
        done
        ny -0 $verb --memory "$least" -q
        unset least
    done
    ny fit s c --memory 4
    says "give --memory 32M or more"
}

# bats test_tags=slow
@test "plan --gamma-grid compares widths, in words and as JSON" {
    store s 500 3
    ny -0 plan s --gamma-grid --landmarks 50
    prints "50 uniform landmarks and 450 other rows" "trace error"
    [ "$(grep -c '[0-9] %' <<<"$output")" -ge 7 ]
    [ "$(grep -c '^\*' <<<"$output")" -eq 1 ]
    prints "; *: the default width"
    shows "; *: --gamma" plan s --gamma-grid --gamma 0.5 --landmarks 50
    ny plan s --gamma-grid 0.1,10 --landmarks 50
    [[ $output != *"; *:"* ]]
    ny -0 plan s --gamma-grid 0.1,10 --landmarks 50 --json
    has_keys "$output" grid gamma sigma epsilon trace_error top_share effective_rank mean_kernel reading
    [ "$(grep -c '"gamma"' <<<"$output")" -eq 2 ]
    ! grep -q trivial <<<"$output" || false
    ny plan s --gamma-grid 0.1 --landmarks 50 --map laplacian
    prints "hold 90 % of it without the trivial one;"
    ny -0 plan --gamma-grid s --landmarks 50 # the next word is no list
    ny -0 plan --landmarks 50 --gamma-grid -- s
    usage "0.01,0.1,1" plan s --gamma-grid=1,x
    ny -2 plan s --gamma-grid --time-limit 1h
    ny -2 plan s --gamma-grid --probe 9
    ny -2 plan s --gamma-grid --kernel linear
    usage "not an option of fit" fit s a --gamma-grid
    awk 'BEGIN {for (i = 0; i < 50; i++) print i "," 1000 * (i * 7 % 11)}' >unscaled.csv
    nystream import unscaled unscaled.csv -q
    answers 0 "column 1 of the store (from 0) alone" plan unscaled --gamma-grid
}

@test "fit reports every field, now and later" {
    store s
    ny -0 fit s a --landmarks 50 --components 3 --json
    has_keys "$output" $result_keys
    fields status=done n=300 landmarks=50
    ny -0 info s a --json
    has_keys "$output" $result_keys
    ny -0 info s a
    prints "certificate" "eigenvalues"
}

@test "the same fit again is done at once; another under the same name is refused" {
    store s
    nystream fit s a --landmarks 50 -q
    nystream export s a -o first.npy
    ny -0 fit s a --landmarks 50 -q
    usage "landmarks: 50 → 60" fit s a --landmarks 60
    ny -0 fit s a --landmarks 60 --restart -q
    has "s a" landmarks=60
    nystream fit s a --landmarks 50 --restart -q
    writes first.npy "s a"
}

@test "the same options with other contents of the files that they name are refused" {
    store s
    seq 0 10 290 >rows.txt
    nystream fit s a --landmarks-file rows.txt --components 2 -q
    ny -0 fit s a --landmarks-file rows.txt --components 2 -q
    usage "(landmarks-file: rows.txt → ./rows.txt)" fit s a --landmarks-file ./rows.txt --components 2
    seq 1 10 291 >rows.txt
    ny -2 fit s a --landmarks-file rows.txt --components 2
    ny -0 fit s a --landmarks-file rows.txt --components 2 --restart -q
    nystream select s d --landmarks 30 -q
    nystream fit s b --landmarks-from d -q
    nystream select s d --landmarks 30 --seed 1 --restart -q
    ny -2 fit s b --landmarks-from d
}

@test "dense points in f64, and a kernel so wide that all of K is nearly one" {
    store s 600 2
    for options in "--precision f64" "--precision f64 --map svd" "--map svd --gamma 1e-6" \
        "--map svd --gamma 1e-12"; do
        ny -0 fit s a --restart --landmarks 300 $options --json
        awk -v e="$(field "$output" trace_error)" 'BEGIN {exit !(e >= 0 && e < 1e-6)}'
    done
}

@test "column sampling does not take rounding for components" {
    store s 600 3
    ny -0 fit s a --approx column --map svd --kernel linear --landmarks 60 --components 6 --json
    fields rank_effective=3 gram_precision=f64
}

@test "values whose distances overflow or underflow are refused with the cure" {
    for power in 200 -200; do
        awk -v e=$power 'BEGIN {for (i = 0; i < 50; i++) printf "%de%d,%de%d\n", i, e, i * 7 % 11, e}' >huge.csv
        nystream import huge$power huge.csv --dtype f64 -q
        for scale in none standard; do
            ny -3 fit huge$power a --scale $scale
        done
        ny -0 fit huge$power a --scale unit -q
    done
}

@test "rows whose kernel values overflow are told as such, not as a kernel that is none" {
    { table 300 3; echo 1e300,1e300,1e300; } >far.csv
    nystream import s far.csv --dtype f64 -q
    for kernel in linear cosine polynomial; do
        for rule in rpcholesky greedy; do
            ny -7 fit s a --kernel $kernel --select $rule --landmarks 40
            [[ $stderr != *semi-definite* ]]
        done
    done
}

@test "points that f32 cannot tell apart are refused, and f64 is not" {
    { table 300 3; echo 1e12,1e12,1e12; } >far.csv
    nystream import s far.csv --dtype f64 -q
    ny -7 fit s a --landmarks 40 --gamma 4
    ny -0 fit s a --landmarks 40 --gamma 4 --precision f64 -q
}

@test "products with a kernel that f32 cannot tell apart are refused, and f64 is not" {
    for offset in 30 1000000; do
        table 900 6 | awk -F, -v OFS=, -v CONVFMT=%.12g -v by=$offset '{for (i = 1; i <= NF; i++) $i += by; print}' |
            nystream import s$offset - --format csv --dtype f64 -q
    done
    for method in "randomized --kernel linear" "gaussian --landmarks 40 --kernel polynomial"; do
        ny -0 fit s30 a --components 2 --approx $method -q --restart
        ny -7 fit s1000000 b --components 2 --approx $method --precision f32
        ny -0 fit s1000000 a --components 2 --approx $method --precision f64 -q --restart
    done
}

@test "a column that makes up the distances alone is named" {
    table 300 3 | awk -F, '{print $1 "," 100 * $2 "," $3}' >unscaled.csv
    nystream import s unscaled.csv -q
    answers 0 "column 1 of the store (from 0) alone makes up 99" fit s a
    { echo a,income,c && cat unscaled.csv; } >named.csv
    nystream import named.nys named.csv -q
    ny fit named.nys map --landmarks 10
    says "column 'income' alone makes up 99" "--scale standard"
    # The result tells it for good.
    ny info named.nys map
    [[ $output == *"dominant columns      column 'income' alone makes up 99"*"distances between rows"* ]]
    ny report named.nys map -o page.html
    grep -q '<th scope="row">dominant columns</th><td>column &#39;income&#39; alone makes up 99' page.html
    ny fit s b --kernel laplacian
    says "column 1 of the store (from 0) alone"
    for call in "fit s d --map pca" "fit s c --scale standard" "graph named.nys scaled --scale none" "graph named.nys angles --metric cosine"; do
        ny -0 $call
        [[ $stderr != *"alone makes up"* ]]
    done
    ny -0 info s c
    [[ $output != *"dominant columns"* ]]
    # So it is where neighbours are looked for.
    ny graph named.nys near
    says "column 'income' alone makes up 99"
    ny fit named.nys flat --map isomap --connect
    says "column 'income' alone makes up 99"
    shows "dominant columns      column 'income' alone makes up 99" info named.nys flat
}

@test "landmarks above the number of rows become all of them, with a warning" {
    store s 100
    answers 0 "warning: " fit s a.b_c-1 --landmarks 1000
    has "s a.b_c-1" landmarks=100
}

@test "select, and fits from a selection and from a file" {
    store s
    ny -0 select s dictionary --landmarks 30 -q
    silent
    ny -0 fit s from --landmarks-from dictionary -q
    ny -0 fit s plain --landmarks 30 -q
    same_exports "s from" "s plain"
    nystream export s plain --part landmarks -o landmarks.npy
    [[ $(npy_header landmarks.npy) == *"'<u8'"*"(30,)"* ]]
    ny -0 fit s file --landmarks-file landmarks.npy -q
    same_exports "s plain" "s file"
    usage "landmarks: 30 → 31" select s dictionary --landmarks 31
    ny -0 select s greedy --select greedy --tolerance 0.05 --json
    has_keys "$output" landmarks residual_max
}

@test "export writes every part, as npy and csv, to a file and to stdout" {
    table 300 4 >t.csv
    awk 'BEGIN {for (i = 0; i < 300; i++) print i % 3}' >labels.txt
    nystream import s t.csv --labels labels.txt -q
    nystream fit s a --select greedy --tolerance 0.05 --components 3 -q
    for part in embedding eigenvectors eigenvalues landmarks labels residuals source rows; do
        ny -0 export s a --part $part -o $part.npy -q
        silent
        [ -s $part.npy ]
    done
    ny -0 export s a --part model -o a.nym -q
    silent
    nystream export s a --part model -o - | cmp - a.nym
    [[ $(npy_header embedding.npy) == *"'<f4'"*"(300, 3)"* ]]
    [[ $(npy_header eigenvectors.npy) == *"(300, 3)"* ]]
    [[ $(npy_header eigenvalues.npy) == *"(3,)"* ]]
    [[ $(npy_header residuals.npy) == *"(300,)"* ]]
    [[ $(npy_header source.npy) == *"'<u8'"*"(300,)"* ]]
    ny -0 export s a -o e.csv
    [ "$(wc -l <e.csv)" -eq 300 ]
    [ "$(head -n 1 e.csv | tr -cd , | wc -c)" -eq 2 ]
    nystream export s a -o - >stdout.npy
    cmp stdout.npy embedding.npy
}

@test "transform places the training rows where the embedding has them" {
    store s
    nystream fit s a --landmarks 40 -q
    nystream export s a -o e.csv
    ny -0 transform s a --input s.csv -o t.csv -q
    silent
    within 1e-5 e.csv t.csv
    nystream export s a --part model -o a.nym
    ny -0 transform a.nym --input s.csv -o m.csv
    cmp m.csv t.csv
    run -0 --separate-stderr bash -c 'nystream transform a.nym --input - --format csv -o p.csv <s.csv'
    cmp p.csv t.csv
    npy_u8 50 4 >new.npy
    nystream transform a.nym --input new.npy -o t.npy
    [[ $(npy_header t.npy) == *"(50, 2)"* ]]
    nystream transform a.nym --input new.npy -o - | cmp - t.npy
    run -2 --separate-stderr bash -c 'nystream transform a.nym --input - --format csv -o - <s.csv'
}

@test "transform counts the rows of a text file for an npy on stdout" {
    store s
    nystream fit s a --landmarks 40 -q
    nystream fit s w --approx randomized --components 2 -q
    for name in a w; do
        nystream transform s $name --input s.csv -o file.npy
        nystream transform s $name --input s.csv -o - >stdout.npy
        cmp file.npy stdout.npy
        nystream transform s $name --input s.csv -o - | cmp file.npy -
    done
}

@test "embed: one shot, the same bytes as in steps, and nothing left behind" {
    mkdir work
    table 300 4 >work/t.csv
    cd work
    ny -0 embed t.csv -o e.npy -q
    silent
    [ "$(ls -A)" = "e.npy
t.csv" ]
    nystream import ../s t.csv -q
    nystream fit ../s a -q
    writes e.npy "../s a"
    ny -0 embed t.csv -o e2.npy --landmarks 20 --components 3 --json
    has_keys "$output" landmarks components eigenvalues
    [[ $(npy_header e2.npy) == *"(300, 3)"* ]]
    mkdir ../scratch
    ny -0 embed t.csv -o e4.npy --tmpdir ../scratch -q
    [ -z "$(ls -A ../scratch)" ]
}

# Rows that are mapped in their file, and copies of others; 5 MB of each, so that pages are given back.
# bats test_tags=slow
@test "embed: rows of any file, to the same bytes as in steps" {
    npy_u8 90000 60 >dense.npy
    "$NYSTREAM_BUILD/data-tools/sparse-text" -n 9000 --terms 3000 --length 90 --topics 5 -o words.svm
    table 300 4 >t.csv
    sed '7s/[^,]*/nan/' t.csv >nan.csv
    while read -r line; do
        read -r file import <<<"$line"
        nystream embed $line -o one.npy --landmarks 40 --memory 128M -q
        nystream import s $file $import -q
        nystream fit s a --landmarks 40 -q
        nystream export s a -o steps.npy -q
        cmp one.npy steps.npy || { echo "$line" >&2; return 1; }
        rm -r s
    done <<'END'
dense.npy
dense.npy --nan drop
dense.npy --layout sparse
dense.npy --dtype f64 --rows unit
dense.npy --columns 3-50
words.svm
words.svm --layout dense
words.svm --rows total:10 --values log1p
nan.csv --nan drop --values sqrt
END
    nystream embed - -o pipe.npy --dims 3000 --landmarks 40 -q < <(cat words.svm)
    nystream embed words.svm -o one.npy --dims 3000 --landmarks 40 --threads 1 -q
    cmp one.npy pipe.npy
}

# bats test_tags=slow
@test "bench measures" {
    ny -0 bench
    [ -n "$output" ]
    ny -0 bench --json
    [[ $output == "{"*"}" ]]
}

# expect JSON STAGE FORMULA: checks that its seconds are at least those of its products, by the
# rates of the plan, and at most that plus the time of small stages.
expect() {
    local rates
    rates=$(sed -nE 's/^ *"([a-z0-9_]+)": ([0-9.e+-]+),?$/-v \1=\2/p' <<<"$1" | grep -E 'flops=|exp(32|64)=|write')
    awk $rates -v s="$(field "$1" "$2")" "BEGIN {want = $3; exit !(want > 0 && s / want > 0.999 && s < 2 * want + 0.02)}"
}

@test "plan: a tile is priced by its way, and a Gram by its precision" {
    local landmarks="--select uniform --landmarks 200" W="4e4 * 20 / gemm64_flops + 2e4 / exp64"
    npy_u8 2000 20 >b.npy
    nystream import b b.npy -q
    store s 2000 3
    # 2,000 × 200 entries of bytes, or of three columns; 2,000 · 200² of the Gram
    expect "$(nystream plan b --json --approx projected $landmarks)" accumulate \
        "$W + 1.6e7 / bytes_flops + 4e5 / exp32 + 8e7 / gram64_flops"
    expect "$(nystream plan b --json --approx column $landmarks)" accumulate \
        "$W + 1.6e7 / bytes_flops + 4e5 / exp32 + 8e7 / gram64_flops"
    expect "$(nystream plan s --json --approx nystrom $landmarks)" project \
        "2.4e6 / direct_flops + 4e5 / exp32 + 1.28e7 / gemm32_flops + 16000 / disk_write_bytes"
}

@test "plan: its rates say whether they were measured" {
    store s 20000 3
    [[ $(nystream plan s --json --landmarks 2000) == *'"measured": true'* ]]
    [[ $(nystream plan s --json --landmarks 20) == *'"measured": false'* ]]
}

@test "rpcholesky leaves a smaller error than uniform, and stops at the rank of K" {
    awk 'BEGIN {srand(1); for (i = 0; i < 4000; i++) {s = i % 50 ? 1 : 30; print s * rand() "," s * rand() "," s * rand()}}' >t.csv
    nystream import s t.csv -q
    ny fit s u --select uniform --landmarks 60 --gamma 0.01 --json -q
    local uniform=$(field "$output" trace_error)
    ny -0 fit s r --select rpcholesky --landmarks 60 --gamma 0.01 --json -q
    awk -v u="$uniform" -v r="$(field "$output" trace_error)" 'BEGIN {exit !(r > 0 && 20 * r < u)}'
    ny -0 select s linear --select rpcholesky --kernel linear --landmarks 20 --json
    [ "$(field "$output" landmarks)" = 3 ]
    says '{"warning"'
    ny select s same --select rpcholesky --kernel linear --landmarks 20 -q
    says "warning: 3 landmarks represent all rows, so no more are taken (of at most 20)"
    ny select s untyped --select rpcholesky --kernel linear -q
    silent
    ny select s untyped --select rpcholesky --kernel linear --restart
    says "3 landmarks represent all rows"
    ny -7 select s indefinite --select rpcholesky --kernel polynomial --coef0 -1000 --degree 1 --gamma 1
    ny -2 fit s c --select rpcholesky --tolerance 0.1
}

@test "weighted landmarks follow the diagonal of the map's matrix" {
    table 3000 3 >t.csv
    nystream import s t.csv -q
    ny fit s u --select uniform --landmarks 50 --map svd -q
    ny -0 fit s w --select weighted --landmarks 50 --map svd -v
    says "weighted selection is uniform here"
    nystream export s u --part landmarks -o u.csv
    writes u.csv "s w --part landmarks"
    for map in kpca laplacian; do
        ny -0 fit s $map --select weighted --landmarks 50 --map $map --json -q
        [ "$(field "$output" landmarks)" = 50 ]
        nystream export s $map --part landmarks -o $map.csv
    done
    ! cmp -s kpca.csv laplacian.csv || false
    ! cmp -s kpca.csv u.csv
}

@test "--certify takes a pass more, and no kernel that is none" {
    store s
    ny -0 fit s exact --select greedy --tolerance 0.2 --gamma 0.3 --certify --json -q
    fields passes=4
    ny -7 fit s not --select uniform --landmarks 20 --kernel polynomial --coef0 -1 --degree 2 --certify
}

@test "greedy finds the tolerance that gives --landmarks" {
    store s
    answers 0 "30 landmarks: tolerance" fit s size --select greedy --landmarks 30 -v
    has "s size" landmarks=30
    [ "$(field "$output" pilot_tolerance_high)" = null ] # too few rows for one
    awk -v a="$(field "$output" residual_max)" -v b="$(field "$output" tolerance)" \
        'BEGIN {exit !(a > 0 && a <= b * 1.000001)}'
    ny plan s --select greedy --landmarks 30 --json
    fields landmarks=30 landmarks_estimated=false
    ny -0 select s default --select greedy -q
    ny -0 select s a --select greedy --landmarks 50 --kernel linear --no-affine
    says "warning: 4 landmarks span all rows, up to rounding: the rank of K does not allow 50"
    has "s a" landmarks=4
}

@test "greedy begins with a pilot, or at 1 as the paper does" {
    table 6000 5 >t.csv
    nystream import s t.csv -q
    ny -0 select s a --select greedy --landmarks 200 --json -q
    [ "$(field "$output" landmarks)" = 200 ]
    awk -v a="$(field "$output" tolerance)" -v b="$(field "$output" pilot_tolerance_high)" \
        'BEGIN {exit !(a > 0 && a < 1 && b > a / 2 && b < 2 * a)}'
    ny -0 select s b --select greedy --landmarks 200 --no-pilot --json -q
    fields landmarks=200 pilot_tolerance_high=null
    # both work if the first row represents all of them, to a tolerance of 1
    head -n 300 t.csv >few.csv
    nystream import few few.csv -q
    ny -0 select few a --select greedy --landmarks 50 --affine --gamma 1e-4 --no-pilot --json -q
    ny -0 select few b --select greedy --landmarks 50 --affine --gamma 1e-4 --json -q
}

# ideal_us NAME OPTIONS: prints the time that the products of a fit by one thread would take, in
# microseconds: the seconds of its passes over "time over ideal".
ideal_us() {
    ny -0 fit s "$1" "${@:2}" --threads 1 --json -q
    awk -v degrees="$(field "$output" degrees)" -v accumulate="$(field "$output" accumulate)" \
        -v project="$(field "$output" project)" -v ratio="$(field "$output" gemm_ratio)" \
        'BEGIN { print 1e6 * (degrees + accumulate + project) / ratio }'
}

# about A B: A is B, to the little that a stage takes after the ratio is reported.
about() {
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > .999 * b && a < 1.1 * b) }' ||
        { echo "$1, not $2" >&2; return 1; }
}

@test "time over ideal compares passes with the products that they make" {
    # of 3000 rows, 3 columns, 100 landmarks, by the rates that are guessed for so short a fit:
    # 2nmd/4e10 for C, 2nm/1e11 for a column of C Y, nm^2/4e10 for C'C
    local C=45 Y=6 G=750
    table 3000 3 >t.csv
    nystream import s t.csv -q
    about "$(ideal_us a --landmarks 100 --approx nystrom)" $((C + 2 * Y))
    about "$(ideal_us b --landmarks 100)" $((2 * C + 2 * Y + G))
    about "$(ideal_us c --landmarks 100 --map laplacian)" $((3 * C + 3 * Y + G))
    about "$(ideal_us d --landmarks 100 --inner randomized)" $((C + 2 * Y + 2 * (C + 64 * Y)))
    # half of the tiles of K, n(n + 2048)d/4e10, and K times 85 columns, 170n^2/1e11
    about "$(ideal_us e --approx gaussian --landmarks 20)" 16435.8
}

# bats test_tags=slow
@test "an exact fit writes its rows without a pass behind that of K, as the model places them" {
    store s 2100 6
    head -n 40 s.csv >more.csv
    # Degrees of a divided kernel, and averages of a probe, take one pass more.
    for how in "--map laplacian" "--map kpca --probe 20" "--map svd --kernel polynomial" "--map kpca --precision f64" "--map kpca"; do
        ny -0 fit s e $how --approx exact --components 4 --restart --json
        if [[ $how == *@(laplacian|probe)* ]]; then
            [ "$(field "$output" passes)" -ge 2 ]
        else
            fields passes=1
            ny plan s $how --approx exact --components 4 --json
            fields passes=1
        fi
        agree near "export s e" "transform s e --input s.csv"
    done
    # New rows are placed by the model, and those that were there stay.
    nystream export s e -o before.csv -q
    nystream import s more.csv --append -q
    ny -0 fit s e --update frozen --json
    fields trace_error=0.0
    nystream export s e -o after.csv -q
    head -n 2100 after.csv | cmp - before.csv
    near <(tail -n 40 after.csv) <(head -n 40 before.csv)
}
