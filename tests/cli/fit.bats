# plan, fit, select, embed, export, transform.
load helper

result_keys="name status map approx select kernel gamma sigma epsilon seed precision threads n d
    landmarks components rank rank_effective eigenvalues variance trace trace_of trace_error variance_kept
    residual_max residual_mean negative_eigenvalues passes rows_read bytes_read flops seconds stages
    gemm_ratio peak_rss_bytes memory_budget_bytes store_bytes version gram_precision"

@test "products have the vectors of the CPU, or the kernels that OpenBLAS is told" {
    grep -qw avx2 /proc/cpuinfo || skip "this CPU has no AVX2"
    table 300 4 | env -u OPENBLAS_CORETYPE nystream import s - -q
    run --separate-stderr env -u OPENBLAS_CORETYPE nystream fit s a --landmarks 10 --json
    exits 0
    [[ ! $(field "$(nystream info s a --json)" blas) =~ Prescott|Sandybridge|Nehalem|Core2 ]]
    OPENBLAS_CORETYPE=Prescott nystream fit s b --landmarks 10 -q
    [[ $(field "$(nystream info s b --json)" blas) == *Prescott* ]]
}

@test "plan: in words and as JSON, also when it does not fit" {
    store s 3000 8
    ny plan s --landmarks 100
    exits 0
    [ -z "$stderr" ]
    prints "passes"
    prints "memory"
    prints "fits                  yes"
    ny plan s --landmarks 100 --json
    exits 0
    has_keys "$output" fits memory_min_bytes memory_bytes disk_bytes flops passes seconds stages
    [[ $output == *'"fits": true'* ]]
    ny plan s --landmarks 2000 --memory 1M --json
    exits 0
    [[ $output == *'"fits": false'* ]]
    ny plan s --landmarks 2000 --memory 1M
    exits 0
    prints "the smallest budget that works is"
    ny plan missing
    exits 4
}

@test "a budget below all others is answered with the one that works" {
    store s 300 4
    for verb in "fit s a" "fit s b --approx exact --map pca --kernel linear" "graph s g"; do
        for memory in 1M 2M 3M 10M; do
            ny $verb --memory $memory
            exits 8
            [[ $stderr =~ give\ --memory\ ([0-9]+M) ]]
            [ -z "${least-}" ] || [ "$least" = "${BASH_REMATCH[1]}" ]
            least=${BASH_REMATCH[1]}
        done
        ny $verb --memory "$least" -q
        exits 0
        unset least
    done
    ny fit s c --memory 4
    says "give --memory with its unit"
}

# bats test_tags=slow
@test "plan --gamma-grid compares widths, in words and as JSON" {
    store s 500 3
    ny plan s --gamma-grid --landmarks 50
    exits 0
    prints "50 uniform landmarks and 450 other rows"
    prints "trace error"
    [ "$(grep -c '[0-9] %' <<<"$output")" -ge 7 ]
    [ "$(grep -c '^\*' <<<"$output")" -eq 1 ]
    prints "; *: the default width"
    ny plan s --gamma-grid --gamma 0.5 --landmarks 50
    prints "; *: --gamma"
    ny plan s --gamma-grid --sigma 2 --landmarks 50
    prints "; *: --sigma"
    ny plan s --gamma-grid 0.1,10 --landmarks 50
    [[ $output != *"; *:"* ]]
    ny plan s --gamma-grid 0.1,10 --landmarks 50 --json
    exits 0
    has_keys "$output" grid gamma sigma epsilon trace_error top_share effective_rank mean_kernel reading
    [ "$(grep -c '"gamma"' <<<"$output")" -eq 2 ]
    ! grep -q trivial <<<"$output" || false
    ny plan s --gamma-grid 0.1 --landmarks 50 --map laplacian
    prints "hold 90 % of it without the trivial one;"
    ny plan --gamma-grid s --landmarks 50 # the next word is no list
    exits 0
    ny plan --landmarks 50 --gamma-grid -- s
    exits 0
    ny plan s --gamma-grid=1,x
    usage "0.01,0.1,1"
    ny plan s --gamma-grid --time-limit 1h
    usage "--time-limit does not act with --gamma-grid"
    ny plan s --gamma-grid --probe 9
    usage "--probe does not act with --gamma-grid"
    ny plan s --gamma-grid --kernel linear
    usage "does not act on the linear kernel"
    ny fit s a --gamma-grid
    usage "not an option of fit"
    awk 'BEGIN {for (i = 0; i < 50; i++) print i "," 1000 * (i * 7 % 11)}' >unscaled.csv
    nystream import unscaled unscaled.csv -q
    ny plan unscaled --gamma-grid
    exits 0
    says "column 1 of the store (from 0) alone"
}

# bats test_tags=slow
@test "a budget that cannot work is exit 8 and names one that does" {
    store s 3000 8
    ny fit s a --landmarks 2000 --memory 1M -q
    exits 8
    local least
    least=$(field "$(nystream plan s --landmarks 2000 --json)" memory_min_bytes)
    ny fit s a --landmarks 2000 --memory "$least" -q
    exits 0
}

@test "fit reports every field, now and later" {
    store s
    ny fit s a --landmarks 50 --components 3 --json
    exits 0
    has_keys "$output" $result_keys
    [ "$(field "$output" status)" = done ]
    [ "$(field "$output" n)" = 300 ]
    [ "$(field "$output" landmarks)" = 50 ]
    ny info s a --json
    exits 0
    has_keys "$output" $result_keys
    ny info s a
    exits 0
    prints "certificate"
    prints "eigenvalues"
}

@test "the same fit again is done at once; another under the same name is refused" {
    store s
    nystream fit s a --landmarks 50 -q
    nystream export s a -o first.npy
    ny fit s a --landmarks 50 -q
    exits 0
    ny fit s a --landmarks 60
    exits 2
    says "landmarks: 50 → 60"
    ny fit s a --landmarks 60 --restart -q
    exits 0
    ny info s a --json
    [ "$(field "$output" landmarks)" = 60 ]
    nystream fit s a --landmarks 50 --restart -q
    nystream export s a -o again.npy
    cmp first.npy again.npy
}

@test "the same options with other contents of the files that they name are refused" {
    store s
    seq 0 10 290 >rows.txt
    nystream fit s a --landmarks-file rows.txt --components 2 -q
    ny fit s a --landmarks-file rows.txt --components 2 -q
    exits 0
    seq 1 10 291 >rows.txt
    ny fit s a --landmarks-file rows.txt --components 2
    exits 2
    says "what --landmarks-file names has changed"
    ny fit s a --landmarks-file rows.txt --components 2 --restart -q
    exits 0
    nystream select s d --landmarks 30 -q
    nystream fit s b --landmarks-from d -q
    nystream select s d --landmarks 30 --seed 1 --restart -q
    ny fit s b --landmarks-from d
    exits 2
    says "what --landmarks-from names has changed"
}

@test "a file that options name is known by what it holds, whatever its path" {
    store s
    mkdir sub
    seq 0 10 290 >rows.txt
    cp rows.txt sub/copy.txt
    nystream fit s a --landmarks-file rows.txt --components 2 -q
    for path in ./rows.txt "$PWD/rows.txt" sub/copy.txt; do
        ny fit s a --landmarks-file "$path" --components 2
        exits 0
        says "'a' is done already, with these options"
    done
    seq 1 10 291 >sub/copy.txt
    ny fit s a --landmarks-file sub/copy.txt --components 2
    usage "(landmarks-file: rows.txt → sub/copy.txt)"
    ny fit s a --landmarks-file ./rows.txt --components 3
    usage "(components: 2 → 3)"
    nystream export s a --part landmark-points -o p.npy -q
    nystream fit s b --landmarks-points p.npy -q
    ny fit s b --landmarks-points ./p.npy
    exits 0
    printf '0\n2\n' >list
    nystream fit s c --features list --landmarks 20 -q
    ny fit s c --features ./list --landmarks 20
    exits 0
    ny fit s c --features variance:2 --landmarks 20
    usage "(features: list → variance:2)"
}

@test "dense points in f64, and a kernel so wide that all of K is nearly one" {
    store s 600 2
    local options
    for options in "--precision f64" "--precision f64 --map svd" "--map svd --gamma 1e-6" \
        "--map svd --gamma 1e-12"; do
        ny fit s a --restart --landmarks 300 $options --json
        exits 0
        awk -v e="$(field "$output" trace_error)" 'BEGIN {exit !(e >= 0 && e < 1e-6)}'
    done
}

@test "column sampling does not take rounding for components" {
    store s 600 3
    ny fit s a --approx column --map svd --kernel linear --landmarks 60 --components 6 --json
    exits 0
    [ "$(field "$output" rank_effective)" = 3 ]
    [ "$(field "$output" gram_precision)" = f64 ]
}

# bats test_tags=slow
@test "every option of fit acts: the bytes or the figures differ, or it is refused" {
    store s
    nystream fit s base --landmarks 40 -q
    nystream export s base -o base.csv
    local options case=0
    for options in "--map svd" "--map pca" "--approx nystrom" "--approx column" "--landmarks 41" \
        "--select greedy --tolerance 0.01" "--components 3" "--rank 5" "--kernel laplacian" \
        "--kernel polynomial" "--kernel polynomial --degree 2" "--kernel polynomial --coef0 3" \
        "--kernel cosine" "--kernel linear" "--gamma 3" "--sigma 2" "--epsilon 5" \
        "--averages landmarks" "--affine" "--scale standard" "--scale unit" "--seed 1"; do
        case=$((case + 1))
        [[ $options == *--landmarks* || $options == *greedy* ]] || options="--landmarks 40 $options"
        ny fit s r$case $options -q
        exits 0
        nystream export s r$case -o r$case.csv
        if cmp -s base.csv r$case.csv; then
            echo "$options changes nothing" >&2
            return 1
        fi
    done
    nystream fit s poly3 --landmarks 40 --kernel polynomial -q
    nystream fit s poly2 --landmarks 40 --kernel polynomial --degree 2 -q
    nystream export s poly3 -o poly3.csv
    nystream export s poly2 -o poly2.csv
    run ! cmp -s poly3.csv poly2.csv
    nystream fit s f64 --landmarks 40 --precision f64 -q
    nystream export s f64 -o f64.npy
    [[ $(npy_header f64.npy) == *"'<f8'"*"(300, 2)"* ]]
}

@test "values whose distances overflow or underflow are refused with the cure" {
    local power scale
    for power in 200 -200; do
        awk -v e=$power 'BEGIN {for (i = 0; i < 50; i++) printf "%de%d,%de%d\n", i, e, i * 7 % 11, e}' >huge.csv
        nystream import huge$power huge.csv --dtype f64 -q
        for scale in none standard; do
            ny fit huge$power a --scale $scale
            exits 3
            says "the range of f64"
            says "--scale unit"
        done
        ny fit huge$power a --scale unit -q
        exits 0
    done
}

@test "rows whose kernel values overflow are told as such, not as a kernel that is none" {
    local kernel rule
    { table 300 3; echo 1e300,1e300,1e300; } >far.csv
    nystream import s far.csv --dtype f64 -q
    for kernel in linear cosine polynomial; do
        for rule in rpcholesky greedy; do
            ny fit s a --kernel $kernel --select $rule --landmarks 40
            exits 7
            says "rescale the data (--scale unit)"
            [[ $stderr != *semi-definite* ]]
        done
    done
}

@test "points that f32 cannot tell apart are refused, and f64 is not" {
    { table 300 3; echo 1e12,1e12,1e12; } >far.csv
    nystream import s far.csv --dtype f64 -q
    ny fit s a --landmarks 40 --gamma 4
    exits 7
    says "f32 cannot tell these points apart"
    says "--precision f64"
    ny fit s a --landmarks 40 --gamma 4 --precision f64 -q
    exits 0
}

@test "a column that makes up the distances alone is named" {
    table 300 3 | awk -F, '{print $1 "," 100 * $2 "," $3}' >unscaled.csv
    nystream import s unscaled.csv -q
    ny fit s a
    exits 0
    says "column 1 of the store (from 0) alone makes up 99"
    { echo a,income,c && cat unscaled.csv; } >named.csv
    nystream import named.nys named.csv -q
    ny fit named.nys map --landmarks 10
    says "column 'income' alone makes up 99"
    says "--scale standard"
    # The result tells it for good.
    ny info named.nys map
    [[ $output == *"dominant columns      column 'income' alone makes up 99"*"distances between rows"* ]]
    ny report named.nys map -o page.html
    grep -q "<strong>The picture is one of few columns:</strong> column &#39;income&#39; alone makes up 99" page.html
    ny fit s b --kernel laplacian
    says "column 1 of the store (from 0) alone"
    ny fit s c --scale standard
    exits 0
    [[ $stderr != *"alone makes up"* ]]
    ny info s c
    exits 0
    [[ $output != *"dominant columns"* ]]
    ny fit s d --map pca
    exits 0
    [[ $stderr != *"alone makes up"* ]]
    # So it is where neighbours are looked for.
    ny graph named.nys near
    says "column 'income' alone makes up 99"
    ny fit named.nys flat --map isomap --connect
    says "column 'income' alone makes up 99"
    ny info named.nys flat
    [[ $output == *"dominant columns      column 'income' alone makes up 99"* ]]
    ny graph named.nys scaled --scale none
    exits 0
    [[ $stderr != *"alone makes up"* ]]
    ny graph named.nys angles --metric cosine
    exits 0
    [[ $stderr != *"alone makes up"* ]]
}

@test "nothing to fit is exit 3" {
    echo 1,2 >one.csv
    nystream import one one.csv -q
    ny fit one a
    exits 3
    printf '1,2\n1,2\n1,2\n' >same.csv
    nystream import same same.csv -q
    ny fit same a
    exits 3
    ny fit missing a
    exits 4
}

@test "names of results are checked" {
    store s
    ny fit s ../escape --landmarks 10 -q
    exits 2
    ny fit s "a b" --landmarks 10 -q
    exits 2
    ny fit s a.b_c-1 --landmarks 10 -q
    exits 0
}

@test "landmarks above the number of rows become all of them, with a warning" {
    store s 100
    ny fit s a --landmarks 1000
    exits 0
    says "warning: "
    ny info s a --json
    [ "$(field "$output" landmarks)" = 100 ]
}

@test "select, and fits from a selection and from a file" {
    store s
    ny select s dictionary --landmarks 30 -q
    exits 0
    silent
    ny fit s from --landmarks-from dictionary -q
    exits 0
    ny fit s plain --landmarks 30 -q
    exits 0
    nystream export s from -o from.npy
    nystream export s plain -o plain.npy
    cmp from.npy plain.npy
    nystream export s plain --part landmarks -o landmarks.npy
    [[ $(npy_header landmarks.npy) == *"'<u8'"*"(30,)"* ]]
    ny fit s file --landmarks-file landmarks.npy -q
    exits 0
    nystream export s file -o file.npy
    cmp file.npy plain.npy
    ny fit s none --landmarks-from nothing
    exits 2
    ny fit s none --landmarks-file missing.npy
    exits 4
    ny select s dictionary --landmarks 31
    exits 2
    says "landmarks: 30 → 31"
    ny select s greedy --select greedy --tolerance 0.05 --json
    exits 0
    has_keys "$output" landmarks residual_max
}

@test "export writes every part, as npy and csv, to a file and to stdout" {
    table 300 4 >t.csv
    awk 'BEGIN {for (i = 0; i < 300; i++) print i % 3}' >labels.txt
    nystream import s t.csv --labels labels.txt -q
    nystream fit s a --select greedy --tolerance 0.05 --components 3 -q
    local part
    for part in embedding eigenvectors eigenvalues landmarks labels residuals source rows; do
        ny export s a --part $part -o $part.npy -q
        exits 0
        silent
        [ -s $part.npy ]
    done
    ny export s a --part model -o a.nym -q
    exits 0
    silent
    nystream export s a --part model -o - | cmp - a.nym
    [[ $(npy_header embedding.npy) == *"'<f4'"*"(300, 3)"* ]]
    [[ $(npy_header eigenvectors.npy) == *"(300, 3)"* ]]
    [[ $(npy_header eigenvalues.npy) == *"(3,)"* ]]
    [[ $(npy_header residuals.npy) == *"(300,)"* ]]
    [[ $(npy_header source.npy) == *"'<u8'"*"(300,)"* ]]
    ny export s a -o e.csv
    exits 0
    [ "$(wc -l <e.csv)" -eq 300 ]
    [ "$(head -n 1 e.csv | tr -cd , | wc -c)" -eq 2 ]
    nystream export s a -o - >stdout.npy
    cmp stdout.npy embedding.npy
}

@test "export of what is not there, to where it cannot be" {
    store s
    nystream fit s first --landmarks 10 -q
    ny export s frist -o x.npy
    usage first
    ny export s first -o no/such/folder/x.npy
    exits 4
    says no/such/folder
    ny export s first --part residuals -o x.npy
    [ "$status" -eq 2 ] || [ "$status" -eq 0 ]
    ny export missing first -o x.npy
    exits 4
    mkdir taken.npy
    ny export s first -o taken.npy
    exits 4
    run ls
    [[ $output != *tmp* ]]
}

@test "transform places the training rows where the embedding has them" {
    store s
    nystream fit s a --landmarks 40 -q
    nystream export s a -o e.csv
    ny transform s a --input s.csv -o t.csv -q
    exits 0
    silent
    paste -d, e.csv t.csv | awk -F, '{
        for (j = 1; j <= 2; j++) {d = $j - $(j + 2); if (d < 0) d = -d; if (d > 1e-5) bad++}
    } END {exit bad > 0 || NR != 300}'
    nystream export s a --part model -o a.nym
    ny transform a.nym --input s.csv -o m.csv
    exits 0
    cmp m.csv t.csv
    run --separate-stderr bash -c 'nystream transform a.nym --input - --format csv -o p.csv <s.csv'
    exits 0
    cmp p.csv t.csv
    npy_u8 50 4 >new.npy
    nystream transform a.nym --input new.npy -o t.npy
    [[ $(npy_header t.npy) == *"(50, 2)"* ]]
    nystream transform a.nym --input new.npy -o - | cmp - t.npy
    run --separate-stderr bash -c 'nystream transform a.nym --input - --format csv -o - <s.csv'
    usage "the header of an .npy file needs the number of rows"
}

@test "transform counts the rows of a text file for an npy on stdout" {
    store s
    nystream fit s a --landmarks 40 -q
    nystream transform s a --input s.csv -o file.npy
    nystream transform s a --input s.csv -o - >stdout.npy
    cmp file.npy stdout.npy
    nystream transform s a --input s.csv -o - | cmp file.npy -
    nystream fit s w --approx randomized --components 2 -q
    nystream transform s w --input s.csv -o file.npy
    nystream transform s w --input s.csv -o - | cmp file.npy -
}

@test "transform refuses what does not fit the model" {
    store s
    nystream fit s a --landmarks 40 -q
    table 10 5 >wide.csv
    ny transform s a --input wide.csv -o x.npy
    exits 3
    says 'wide.csv has 5 columns of points, but the model was fitted on 4'
    [ ! -e x.npy ]
    ny transform s a --input missing.csv -o x.npy
    exits 4
    ny transform s b --input s.csv -o x.npy
    exits 2
    echo nonsense >bad.nym
    ny transform bad.nym --input s.csv -o x.npy
    [ "$status" -eq 3 ] || [ "$status" -eq 5 ]
    ny transform missing.nym --input s.csv -o x.npy
    exits 4
}

@test "embed: one shot, the same bytes as in steps, and nothing left behind" {
    mkdir work
    table 300 4 >work/t.csv
    cd work
    ny embed t.csv -o e.npy -q
    exits 0
    silent
    [ "$(ls -A)" = "e.npy
t.csv" ]
    nystream import ../s t.csv -q
    nystream fit ../s a -q
    nystream export ../s a -o ../steps.npy
    cmp e.npy ../steps.npy
    ny embed t.csv -o e2.npy --landmarks 20 --components 3 --json
    exits 0
    has_keys "$output" landmarks components eigenvalues
    [[ $(npy_header e2.npy) == *"(300, 3)"* ]]
    ny embed missing.csv -o e3.npy
    exits 4
    ny embed t.csv -o e3.npy --tmpdir ../no/such
    exits 4
    mkdir folder
    ny embed huge.csv -o folder
    exits 4
    says "folder is a directory"
    ny embed huge.csv -o no/such/e.npy
    exits 4
    says no/such/e.npy
    rmdir folder
    [ "$(ls -A)" = "e.npy
e2.npy
t.csv" ]
    mkdir ../scratch
    ny embed t.csv -o e4.npy --tmpdir ../scratch -q
    exits 0
    [ -z "$(ls -A ../scratch)" ]
}

# bats test_tags=slow
@test "bench measures" {
    ny bench
    exits 0
    [ -n "$output" ]
    ny bench --json
    exits 0
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

# bats test_tags=slow
@test "plan: rates kept when the machine was much slower do not count" {
    local rates key
    store s 20000 3
    rates=$(nystream bench --json)
    key=$(sed -n 's/.*"key": "\(.*\)",/\1/p' <<<"$rates")
    printf '{"%s": {"gemm32_flops": 1e6, "gram32_flops": 1e6, "gemm64_flops": 1e6, "gram64_flops": 1e6,
        "bytes_flops": 1e6, "direct_flops": 1e6, "exp32": 1e6, "exp64": 1e6,
        "eigen_flops": 1e6, "disk_write_bytes": 1e6}}' "$key" >"$XDG_CACHE_HOME/nystream/calibration.json"
    awk -v s="$(field "$(nystream plan s --json --landmarks 500)" seconds)" 'BEGIN {exit !(s < 5)}'
}

@test "plan: its rates say whether they were measured" {
    export XDG_CACHE_HOME=$PWD/cache # no rates of another test
    store s 20000 3
    [[ $(nystream plan s --json --landmarks 2000) == *'"measured": true'* ]]
    [[ $(nystream plan s --json --landmarks 20) == *'"measured": false'* ]]
}

@test "rpcholesky leaves a smaller error than uniform, and stops at the rank of K" {
    awk 'BEGIN {srand(1); for (i = 0; i < 4000; i++) {s = i % 50 ? 1 : 30; print s * rand() "," s * rand() "," s * rand()}}' >t.csv
    nystream import s t.csv -q
    ny fit s u --select uniform --landmarks 60 --gamma 0.01 --json -q
    local uniform=$(field "$output" trace_error)
    ny fit s r --select rpcholesky --landmarks 60 --gamma 0.01 --json -q
    exits 0
    awk -v u="$uniform" -v r="$(field "$output" trace_error)" 'BEGIN {exit !(r > 0 && 20 * r < u)}'
    ny select s linear --select rpcholesky --kernel linear --landmarks 20 --json
    exits 0
    [ "$(field "$output" landmarks)" = 3 ]
    says '{"warning"'
    ny select s same --select rpcholesky --kernel linear --landmarks 20 -q
    says "warning: 3 landmarks represent all rows, so no more are taken (of at most 20)"
    ny select s untyped --select rpcholesky --kernel linear -q
    silent
    ny select s untyped --select rpcholesky --kernel linear --restart
    says "3 landmarks represent all rows"
    ny select s indefinite --select rpcholesky --kernel polynomial --coef0 -1000 --degree 1 --gamma 1
    exits 7
    ny fit s c --select rpcholesky --tolerance 0.1
    exits 2
}

@test "weighted landmarks follow the diagonal of the map's matrix" {
    table 3000 3 >t.csv
    nystream import s t.csv -q
    ny fit s u --select uniform --landmarks 50 --map svd -q
    ny fit s w --select weighted --landmarks 50 --map svd -v
    exits 0
    says "weighted selection is uniform here"
    nystream export s u --part landmarks -o u.csv
    nystream export s w --part landmarks -o w.csv
    cmp u.csv w.csv
    local map
    for map in kpca laplacian; do
        ny fit s $map --select weighted --landmarks 50 --map $map --json -q
        exits 0
        [ "$(field "$output" landmarks)" = 50 ]
        nystream export s $map --part landmarks -o $map.csv
    done
    ! cmp -s kpca.csv laplacian.csv || false
    ! cmp -s kpca.csv u.csv
}

@test "--certify measures the residuals of greedy on the final dictionary" {
    store s
    ny fit s loose --select greedy --tolerance 0.2 --gamma 0.3 --json -q
    exits 0
    local loose=$(field "$output" residual_mean) max=$(field "$output" residual_max)
    ny fit s exact --select greedy --tolerance 0.2 --gamma 0.3 --certify --json -q
    exits 0
    [ "$(field "$output" passes)" = 4 ]
    awk -v a="$loose" -v b="$(field "$output" residual_mean)" 'BEGIN {exit !(b > 0 && b < a)}'
    awk -v a="$max" -v b="$(field "$output" residual_max)" 'BEGIN {exit !(b > 0 && b <= a && a <= 0.2001)}'
    nystream export s loose --part landmarks -o a.csv
    nystream export s exact --part landmarks -o b.csv
    cmp a.csv b.csv
    ny fit s c --approx column --certify -q
    exits 2
}

@test "--certify measures the residuals of landmarks that any rule chose" {
    store s
    ny fit s greedy --select greedy --tolerance 0.2 --gamma 0.3 --map svd --certify --json -q
    exits 0
    local max=$(field "$output" residual_max) mean=$(field "$output" residual_mean)
    ny fit s given --select given --landmarks-from greedy --gamma 0.3 --map svd --certify --json -q
    exits 0
    awk -v a="$max" -v b="$(field "$output" residual_max)" -v c="$mean" \
        -v d="$(field "$output" residual_mean)" 'BEGIN {exit !(a > 0 && (a - b)^2 < 1e-16 && (c - d)^2 < 1e-16)}'
    nystream export s given --part residuals -o given.npy
    ny fit s u --select uniform --landmarks 20 --gamma 0.3 --certify
    exits 0
    says "of k(x,x) = 1: "
    ny fit s not --select uniform --landmarks 20 --kernel polynomial --coef0 -1 --degree 2 --certify
    exits 7
    says "--select uniform without --certify"
}

@test "greedy finds the tolerance that gives --landmarks" {
    store s
    ny fit s size --select greedy --landmarks 30 -v
    exits 0
    says "30 landmarks: tolerance"
    ny info s size --json
    [ "$(field "$output" landmarks)" = 30 ]
    [ "$(field "$output" pilot_tolerance_high)" = null ] # too few rows for one
    awk -v a="$(field "$output" residual_max)" -v b="$(field "$output" tolerance)" \
        'BEGIN {exit !(a > 0 && a <= b * 1.000001)}'
    ny plan s --select greedy --landmarks 30 --json
    [ "$(field "$output" landmarks)" = 30 ]
    [ "$(field "$output" landmarks_estimated)" = false ]
    ny select s default --select greedy -q
    exits 0
}

@test "greedy begins with a pilot, or at 1 as the paper does" {
    table 6000 5 >t.csv
    nystream import s t.csv -q
    ny select s a --select greedy --landmarks 200 --json -q
    exits 0
    [ "$(field "$output" landmarks)" = 200 ]
    awk -v a="$(field "$output" tolerance)" -v b="$(field "$output" pilot_tolerance_high)" \
        'BEGIN {exit !(a > 0 && a < 1 && b > a / 2 && b < 2 * a)}'
    ny select s b --select greedy --landmarks 200 --no-pilot --json -q
    exits 0
    [ "$(field "$output" landmarks)" = 200 ]
    [ "$(field "$output" pilot_tolerance_high)" = null ]
    # both work if the first row represents all of them, to a tolerance of 1
    head -n 300 t.csv >few.csv
    nystream import few few.csv -q
    ny select few a --select greedy --landmarks 50 --affine --gamma 1e-4 --no-pilot --json -q
    exits 0
    ny select few b --select greedy --landmarks 50 --affine --gamma 1e-4 --json -q
    exits 0
}

@test "greedy ends at the rank of K, with a warning" {
    store s
    ny select s a --select greedy --landmarks 50 --kernel linear --no-affine
    exits 0
    says "warning: 4 landmarks span all rows, up to rounding: the rank of K does not allow 50"
    ny info s a --json
    [ "$(field "$output" landmarks)" = 4 ]
}

# ideal_us NAME OPTIONS: prints the time that the products of a fit by one thread would take, in
# microseconds: the seconds of its passes over "time over ideal".
ideal_us() {
    ny fit s "$1" "${@:2}" --threads 1 --json -q
    exits 0
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
    # half of the tiles of K, n(n + 2048)d/4e10, and K times 21 columns, 42n^2/1e11
    about "$(ideal_us e --approx gaussian --landmarks 20)" 4915.8
}

# bats test_tags=slow
@test "an exact fit writes its rows without a pass behind that of K, as the model places them" {
    store s 2100 6
    head -n 40 s.csv >more.csv
    for how in "--map svd --kernel polynomial" "--map kpca --precision f64" "--map kpca"; do
        ny fit s e $how --approx exact --components 4 --restart --json
        exits 0
        [ "$(field "$output" passes)" = 1 ]
        ny plan s $how --approx exact --components 4 --json
        [ "$(field "$output" passes)" = 1 ]
        nystream export s e -o rows.csv -q
        nystream transform s e --input s.csv -o placed.csv -q
        near rows.csv placed.csv
    done
    # Degrees of a divided kernel, and averages of a probe, take one more.
    for how in "--map laplacian" "--map kpca --probe 20"; do
        ny fit s p $how --approx exact --components 4 --restart --json
        exits 0
        [ "$(field "$output" passes)" -ge 2 ]
        nystream export s p -o rows.csv -q
        nystream transform s p --input s.csv -o placed.csv -q
        near rows.csv placed.csv
    done
    # New rows are placed by the model, and those that were there stay.
    nystream export s e -o before.csv -q
    nystream import s more.csv --append -q
    ny fit s e --update frozen --json
    exits 0
    [ "$(field "$output" trace_error)" = 0.0 ]
    nystream export s e -o after.csv -q
    head -n 2100 after.csv | cmp - before.csv
    near <(tail -n 40 after.csv) <(head -n 40 before.csv)
}

@test "what has no landmarks is not refused for them" {
    table 400 30 >wide.csv
    nystream import wide wide.csv -q
    for options in "--map pca" "--map pca --tol 1e-6"; do
        ny fit wide a $options --memory 1M
        exits 8
        says "MiB), but the budget is 1.0 MiB; give --memory "
        [[ $stderr != *landmarks* ]]
    done
}
