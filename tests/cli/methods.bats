# Tests every approximation as a user types it: fit, plan, resume, transform, certificate.
load helper
brought="s t.csv"

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    table 3000 5 >t.csv
    nystream import s t.csv -q
}

# A plan that fits, a fit that keeps it, and training rows that come back to where they were.
fits_and_places() { # OPTION…
    ny -0 plan s --json "$@"
    fields fits=true
    ny -0 fit s a --json "$@"
    fields status=done
    nystream export s a -o a.csv
    nystream transform s a --input t.csv -o b.csv
    alike 1e-5 a.csv b.csv
}

@test "orthonystrom" {
    fits_and_places --approx orthonystrom --landmarks 200 --components 5 --map svd
    [[ $output == *'"trace_error": null'* ]]
    ny -0 fit s b --approx orthonystrom --landmarks 200 --select greedy --tolerance 0.3
    says "orthonystrom scales its eigenvalues by n/m"
    fits_and_places --approx orthonystrom --landmarks 200 --map laplacian --restart
    ny -2 fit s c --approx orthonystrom --certify
}

@test "column divided by degrees has the same eigenvalues on any scale of the kernel" {
    for scale in 1 1e4 1e8; do
        awk -F, -v by=$scale '{for (j = 1; j <= NF; j++)
            printf "%.9g%s", by * ($j < 0 ? -$j : $j), j < NF ? "," : "\n"}' t.csv >$scale.csv
        nystream import $scale.nys $scale.csv -q
        ny -0 fit $scale.nys a --approx column --map laplacian --kernel linear --landmarks 50 \
            --components 3
        nystream export $scale.nys a --part eigenvalues -o $scale.values.csv
        alike 1e-5 1.values.csv $scale.values.csv
    done
}

# bats test_tags=slow
@test "ensemble" {
    for weights in uniform exponential ridge; do
        fits_and_places --approx ensemble --landmarks 300 --components 5 --weights $weights --restart
        [[ $output == *'"trace_error": null'* ]]
    done
    [ "$(field "$output" rank)" = 87 ] # 260 of 300 landmarks, in three slices
    fits_and_places --approx ensemble --landmarks 300 --rank 20 --experts 6 --averages landmarks \
        --restart
    [ "$(field "$output" rank_effective)" = 120 ]
    fits_and_places --approx ensemble --landmarks 300 --map diffusion --restart
    fits_and_places --approx ensemble --landmarks 300 --map laplacian --averages landmarks \
        --weights ridge --restart
    usage "the degrees of --averages implicit need the weights before" fit s b --approx ensemble --landmarks 300 --map laplacian --weights ridge
    usage "the last 40 landmarks serve to weigh the experts" fit s b --approx ensemble --landmarks 40 --weights ridge
    usage "--experts 60 needs more landmarks than 50" fit s b --approx ensemble --landmarks 50 --experts 60
    usage "--components 11 needs more experts than 5" fit s b --approx ensemble --landmarks 50 --experts 5 --rank 2 --components 11
    # eigenvalues that are zero are counted, also where the experts have more columns than p
    ny -0 fit s a --approx ensemble --landmarks 60 --experts 3 --kernel linear --precision f64 \
        --components 8 --restart
    says "only 5 of 8 components are above rounding"
    # K near 1: ridge weights are negative, and an embedding of zeros is none
    ny -7 fit s b --approx ensemble --landmarks 61 --components 1 --weights ridge --gamma 1000
    # greedy's number of landmarks is open until it has found them
    fits_and_places --approx ensemble --select greedy --tolerance 0.3 --components 5 --restart
    ny -2 fit s b --experts 5
    ny list s
    [[ $output != *b* ]]
}

# worst A.csv B.csv: prints the largest relative difference.
worst() {
    paste -d, "$1" "$2" | awk -F, '{e = ($1 - $2) / $2; e = e < 0 ? -e : e; if (e > w) w = e} END {print w + 0}'
}

below() { # VALUE BOUND
    awk -v a="$1" -v b="$2" 'BEGIN {exit !(a != "" && a + 0 <= b)}'
}

# bats test_tags=slow
@test "projected with its randomized solver" {
    for map in svd "kpca --averages implicit" "kpca --averages landmarks" pca laplacian \
        "diffusion --averages landmarks"; do
        fits_and_places --inner randomized --landmarks 250 --select uniform --components 4 \
            --map $map --power 9 --restart
        below "$(field "$output" inner_residual)" 1e-2
        by=$(field "$output" inner_passes)
        [ "$by" -ge 1 ]
        [ "$by" -le 10 ]
        trace=$(field "$output" trace_error)
        nystream export s a --part eigenvalues -o a.csv
        ny -0 fit s e --landmarks 250 --select uniform --components 4 --map $map --restart --json
        fields inner_passes=null inner_residual=null
        below "$(field "$output" trace_error)" "$trace" # of all pairs, not of the four alone
        nystream export s e --part eigenvalues -o e.csv
        below "$(worst a.csv e.csv)" 3e-4
    done
    # the state is gone, and the exact solver runs without a message
    nystream fit s f --landmarks 250 --select uniform --components 4 --map diffusion \
        --averages landmarks --inner exact -q
    same_exports "s f" "s e"
    ny -0 fit s g --inner randomized --landmarks 250 --power 1 --components 20 --oversample 0
    says "raise --power"
    ny plan s --json --inner randomized --landmarks 250 --power 3 --select uniform
    [ "$(field "$output" passes)" = 5 ]
}

# bats test_tags=slow
@test "exact" {
    head -n 600 t.csv >few.csv
    rm -r s
    nystream import s few.csv -q
    rm t.csv
    cp few.csv t.csv
    for map in svd kpca laplacian; do
        fits_and_places --approx exact --components 4 --map $map --restart
        fields landmarks=600 select=all
        [[ $output == *'"trace_error": 0.'* ]]
        fit=$output
        ny plan s --approx exact --components 4 --map $map --json
        [ "$(field "$fit" passes)" = "$(field "$output" passes)" ]
        [ "$(field "$fit" rows_read)" = $((600 * $(field "$output" passes))) ]
        [ "$(field "$fit" flops)" = "$(field "$output" flops)" ]
    done
    ny plan s --approx exact
    says "transform compares each new point with all of them"
    ny -2 export s a --part model -o a.nym
    [ ! -e a.nym ]
    usage "--averages does not act with --approx exact" fit s b --approx exact --averages implicit
    least=$(field "$(nystream plan s --json --approx exact 2>/dev/null)" memory_min_bytes)
    answers 8 "this fit needs $least bytes" fit s b --approx exact --memory $((least - 1))
    ny -0 fit s b --approx exact --memory "$least" --threads 1
    nystream fit s c --approx exact --threads 2 -q
    same_exports "s b" "s c"
    # a fit that is killed on the way goes on to the same result
    for moment in 0.02 0.05 0.1; do
        nystream fit s e --approx exact --threads 2 -q 2>/dev/null &
        pid=$!
        sleep $moment
        kill -TERM $pid 2>/dev/null || true
        wait $pid || true
    done
    nystream fit s e --approx exact -q
    same_exports "s b" "s e"
    # projected with all rows gives the same
    nystream fit s d --select all -q
    for name in b d; do nystream export s $name -o $name.csv; done
    alike 1e-5 b.csv d.csv
}

# The scatter matrix of few columns, at any n; the same as projected on a basis of them.
@test "exact principal components" {
    fits_and_places --approx exact --map pca --components 3
    [[ $output == *'"landmarks": null'* ]]
    [ "$(field "$output" kernel)" = linear ]
    nystream fit s b --approx projected --map pca --landmarks 300 --components 3 -q
    agree "alike 1e-5" "export s a --part eigenvalues" "export s b --part eigenvalues"
    nystream export s a --part model -o a.nym
    usage "has no landmarks" export s a --part landmarks -o l.npy
    # what does not exist is zero, as with landmarks
    for how in exact projected; do
        ny -0 fit s c --approx $how --map pca --components 6 --restart
        says "warning: only 5 of 6 components are above rounding: the others are zero"
        nystream export s c --part eigenvalues -o $how.csv
        [ "$(shown "s c" | cut -d, -f6 | sort -u)" = 0 ]
    done
    alike 1e-5 exact.csv projected.csv
    # its model has no landmarks: with many columns, d² is more than its bytes
    rm -r s
    table 300 120 >wide.csv
    nystream import s wide.csv -q
    ln -sf wide.csv t.csv
    fits_and_places --approx exact --map pca --components 3
    nystream export s a --part model -o a.nym
    nystream transform a.nym --input wide.csv -o c.csv
    cmp b.csv c.csv
}

@test "components of an indefinite kernel hold no share of the trace" {
    store small 60 2
    for map in svd kpca; do
        ny -0 fit small f --map $map --approx exact --kernel polynomial --degree 2 --coef0 -2 \
            --components 3 --restart
        says "the kernel is not positive semidefinite on these points"
        [ "$(field "$(nystream info small f --json)" variance_kept)" = null ]
        nystream info small f | grep -q "exact: K itself was decomposed"
        nystream info small f | { ! grep -q "components hold"; }
    done
    # of a kernel without negative eigenvalues nothing is told
    ny -0 fit small f --map svd --approx exact --kernel polynomial --components 3 --restart
    [[ $stderr != *semidefinite* ]]
    nystream info small f | grep -q "exact; the 3 components hold"
}

@test "degrees and sums that are no use are told by what the fit has" {
    store small 60 2
    ny -7 fit small f --map laplacian --approx exact --kernel polynomial --degree 3 --coef0 -2
    says "of 60 rows have a degree that is not positive"
    awk -F, '{for (j = 1; j <= NF; j++) printf "%s%s", $j * 1e20, j < NF ? "," : "\n"}' t.csv >huge.csv
    nystream import huge.nys huge.csv -q
    ny -7 fit huge.nys f --kernel linear --map svd --precision f64
    ny -0 fit huge.nys f --kernel linear --map svd --precision f64 --select uniform
}

# kept SKIP: checks that variance_kept is the sum of the components' eigenvalues over the trace.
kept() {
    nystream export small f --part eigenvalues -o l.csv
    awk -v t="$(field "$output" trace)" -v v="$(field "$output" variance_kept)" -v skip="$1" '
        NR > skip {sum += $1}
        END {d = sum / t - v; if (d < 0) d = -d; exit !(v > 0 && v < 1.001 && d < 1e-6)}' l.csv
}

# bats test_tags=slow
@test "the variance that components hold is no error, and a figure of its own" {
    store small 300 6
    for map in svd pca kpca laplacian diffusion; do
        local skip=0
        [ $map != laplacian ] && [ $map != diffusion ] || skip=1
        ny -0 fit small f --map $map --approx exact --components 3 --restart --json
        [ "$(field "$output" trace_error)" = 0.0 ]
        kept $skip
        nystream info small f | grep -q "exact; the 3 components hold [0-9.]* % of the "
        nystream info small f | { ! grep -q "what the landmarks leave out"; }
        nystream report small f -o f.html -q
        grep -q "exact; the 3 components hold" f.html
        ! grep -q "what the landmarks leave out" f.html || false
        ny fit small f --map $map --landmarks 40 --components 3 --restart --json
        kept $skip
        [ $map = svd ] || [ $map = pca ] || [[ $(field "$output" trace_error) != 0.0 ]] # six columns
        nystream info small f | grep -q " the 3 components hold [0-9.]* % of the "
    done
    ny fit small f --map kpca --approx nystrom --landmarks 40 --certify --components 3 --restart --json
    kept 0
    ny fit small f --map eigenmaps --neighbors 8 --restart --json
    fields variance_kept=null trace_error=null
}
