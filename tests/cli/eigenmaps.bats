# Tests fit --map eigenmaps: parts, weights, components, refusals, bytes.
load helper

# A path of 30 points, each a neighbour of the next, and three points far away.
path_of_30() {
    awk 'BEGIN {
        for (i = 0; i < 30; i++) printf "%d,0\n", i
        for (i = 0; i < 3; i++) printf "%d,900\n", 900 + i
    }' >p.csv
    nystream import p.nys p.csv --header no -q
    nystream graph p.nys g --neighbors 2 --max-distance 1 -q
}

@test "the cosines of a path: values, vectors, residuals" {
    path_of_30
    ny -0 fit p.nys e --map eigenmaps --graph g --components 3 --precision f64 --json
    says "3 of 33 rows (9.09 %) are not in the largest component"
    has_keys "$output" embedded graph gamma sigma epsilon edge_weights products \
        eigenvector_residuals eigenvalues
    fields embedded=30 gamma=1.0 edge_weights=heat
    nystream export p.nys e --part eigenvalues -o l.csv
    awk '/nan/ { exit 1 } { d = $1 - (1 - cos((NR - 1) * 3.14159265358979 / 29)); if (d * d > 1e-24) exit 1 }
        END { if (NR != 4) exit 1 }' l.csv
    nystream export p.nys e --part eigenvectors -o u.csv
    cut -d, -f2- u.csv | cmp - <(shown "p.nys e")
    # D^½ times 1 and times cosines; the ends have half the degree of the others
    awk -F, '{ r = NR == 1 || NR == 30 ? sqrt(1 / 58) : sqrt(2 / 58); c = cos((NR - 1) * 3.14159265358979 / 29)
        if (($1 - r) ^ 2 > 1e-20 || ($2 ^ 2 - 2 * (r * c) ^ 2) ^ 2 > 1e-20) exit 1 }
        END { if (NR != 30) exit 1 }' u.csv
    seq 0 29 | cmp - <(shown "p.nys e --part rows")
    ny -0 fit p.nys again --map eigenmaps --graph g --components 3
    says "residuals |Lu - lambda u| of at most"
    shows "edge weights" info p.nys e
}

@test "a fit makes its own graph; weights of 1" {
    path_of_30
    nystream fit p.nys named --map eigenmaps --graph g -q
    ny -0 fit p.nys own --map eigenmaps --neighbors 2 --max-distance 1 -q
    same_exports "p.nys named" "p.nys own"
    ny -0 fit p.nys b --map eigenmaps --graph g --edge-weights binary --json -q
    [ "$(field "$output" gamma)" = null ]
    same_exports "p.nys b" "p.nys named" # all edges of the path are equal
    usage "edge-weights: binary → heat" fit p.nys b --map eigenmaps --graph g
}

@test "what eigenmaps refuses" {
    path_of_30
    for option in "--approx exact" "--landmarks 5" "--rank 3" "--certify" "--degree 2"; do
        usage "does not act with --map eigenmaps" fit p.nys e --map eigenmaps --graph g $option
    done
    ny -2 fit p.nys e --map eigenmaps --graph g --kernel linear
    ny -2 fit p.nys e --map eigenmaps --graph g --time 2
    usage "--components 30 needs more rows than 30" fit p.nys e --map eigenmaps --graph g --components 30
    ny -0 fit p.nys e --map eigenmaps --graph g --components 29 -q
    answers 7 "row 0, the first of 30 such rows" fit p.nys f --map eigenmaps --graph g --gamma 1e6
    ny -2 info p.nys f
}

# bats test_tags=slow
@test "new points are placed beside their neighbours; rows get what they have" {
    "$NYSTREAM_BUILD/data-tools/manifold" swiss-roll -n 2000 -o roll.npy
    nystream import r.nys roll.npy -q
    nystream graph r.nys g --neighbors 8 -q
    "$NYSTREAM_BUILD/data-tools/manifold" swiss-roll -n 2000 -o roll.csv
    awk -F, 'NR <= 500 { printf "%.6f,%s,%s\n", $1 + 0.01, $2, $3 }' roll.csv >near.csv
    for weights in heat binary; do
        nystream fit r.nys e --map eigenmaps --graph g --edge-weights $weights --restart -q
        ny -0 transform r.nys e --input roll.npy -o all.csv -q
        nystream export r.nys e -o e.csv
        cmp e.csv all.csv
        ny -0 transform r.nys e --input near.csv -o near-y.csv -q
        # a row times √d is as noisy as its degree: right within a fifth on the whole
        head -500 e.csv | paste -d, - near-y.csv |
            awk -F, '{ d += ($1 - $3) ^ 2 + ($2 - $4) ^ 2; e += $1 ^ 2 + $2 ^ 2 }
                END { if (NR != 500 || d > 0.04 * e) exit 1 }'
    done
    nystream fit r.nys own --map eigenmaps --neighbors 8 --edge-weights binary -q
    nystream transform r.nys own --input near.csv -o one.csv --memory 40M --threads 1 -q
    cmp near-y.csv one.csv
    printf '0,0,1e6\n' >far.csv
    nystream fit r.nys e --map eigenmaps --graph g --restart -q
    ny -0 transform r.nys e --input far.csv -o far-y.csv
    says "1 new row is so far from all rows of 'e'"
    grep -qx 0,0 far-y.csv
    usage "use 'nystream transform STORE e'" export r.nys e --part model -o e.nym
    echo 1,2 >narrow.csv
    ny -3 transform r.nys e --input narrow.csv -o no.csv
    [ ! -e no.csv ]
}

@test "diffusion of a graph: values, powers, the walk; what it refuses" {
    path_of_30
    ny -0 fit p.nys d --map diffusion --graph g --components 3 --time 2 --precision f64 --json
    fields gamma=1.0 embedded=30
    nystream export p.nys d --part eigenvalues -o l.csv
    awk '/nan/ { exit 1 } { d = $1 - cos((NR - 1) * 3.14159265358979 / 29); if (d * d > 1e-24) exit 1 }
        END { if (NR != 4) exit 1 }' l.csv
    nystream export p.nys d --part eigenvectors -o u.csv
    nystream export p.nys d -o y.csv
    paste -d, u.csv y.csv | awk -F, '/nan/ { exit 1 } { for (k = 1; k <= 3; k++) {
            d = $(k + 4) - $(k + 1) * cos(k * 3.14159265358979 / 29) ^ 2
            if (d * d > 1e-24) exit 1 } }'
    # vectors of the walk: cosines of length √2 beside 1
    ny -0 fit p.nys w --map diffusion --graph g --components 3 --normalize asymmetric
    says "residuals |Lu - lambda u| of at most"
    nystream export p.nys w -o y.csv
    awk -F, '/nan/ { exit 1 } { c = cos((NR - 1) * 3.14159265358979 / 29); d = $1 ^ 2 - 2 * (c * cos(3.14159265358979 / 29)) ^ 2
        if (d * d > 1e-10) exit 1 }' y.csv
    answers 0 "3 new rows are so far from all rows of 'w'" transform p.nys w --input p.csv -o t.csv
    head -30 t.csv | cmp - y.csv
    nystream fit p.nys own --map diffusion --neighbors 2 --max-distance 1 --normalize asymmetric \
        --components 3 -q
    same_exports "p.nys own" "p.nys w"
    usage --edge-weights fit p.nys k --map diffusion --edge-weights binary
    ny -2 fit p.nys d --map diffusion --graph g --row-normalize
    ny -0 fit p.nys d --map diffusion --restart -q
    [ "$(field "$(nystream info p.nys d --json)" graph)" = null ]
    ny -7 fit p.nys d --map diffusion --graph g --components 29 --time 0.5 --restart
    ny -0 plan p.nys --map diffusion --graph g --normalize asymmetric --json
    [ "$(field "$output" landmarks)" = null ]
    ny -0 eval p.nys w --json
}

# makes a chain of 60 clusters of 9, with links of exp(-0.64 gamma)
chain() {
    awk 'BEGIN { for (k = 0; k < 60; k++) for (i = 0; i < 9; i++)
        printf "%.1f,%.1f\n", k + (i % 3 - 1) / 10, int(i / 3) / 10 }' >chain.csv
    nystream import c.nys chain.csv --header no -q
    nystream graph c.nys g --neighbors 9 -q
}

@test "thirty eigenvalues of 1e-12 to 1e-9 are those of a chain" {
    chain
    ny -0 fit c.nys e --map eigenmaps --graph g --gamma 28 --components 30 -q
    [ -z "$stderr" ]
    nystream export c.nys e --part eigenvalues -o v.csv
    # 1 - cos(pi k / 60) of the chain, but for what its ends lack
    awk '{ v[NR - 1] = $1 } END { pi = atan2(0, -1)
        for (k = 2; k <= 30; k++) {
            d = v[k] / v[1] / (1 - cos(pi * k / 60)) * (1 - cos(pi / 60)) - 1
            if (d * d > 1e-4) exit 1
        } }' v.csv
}

@test "eigenvalues that are 0 to rounding come with a warning" {
    chain
    ny -0 fit c.nys e --map eigenmaps --graph g --gamma 60 --components 30 -q
    says "30 of the 30 eigenvalues are 0 to rounding" "--edge-weights binary or a smaller --gamma"
    ny -0 fit c.nys b --map eigenmaps --graph g --edge-weights binary --components 30 -q
    [ -z "$stderr" ]
}

@test "a row that is far from all others is placed at 0, with a warning" {
    (table 200 2 && echo 900,900) >out.csv
    nystream import o.nys out.csv --header no -q
    nystream graph o.nys g --neighbors 6 -q
    ny -0 fit o.nys e --map eigenmaps --graph g -q
    says "1 rows, row 200 the first of them, are so far from all of their neighbours"
    [ "$(shown "o.nys e" | tail -1 | tr , '\n' | awk '$1 ^ 2 > 1e-20' | wc -l)" -eq 0 ]
    ny -0 fit o.nys b --map eigenmaps --graph g --edge-weights binary -q
    [ -z "$stderr" ]
}

@test "eigenvalue 1 says nothing about new points" {
    printf '0,0\n1,0\n-1,0\n0,1\n0,-1\n' >star.csv
    nystream import s.nys star.csv --header no -q
    nystream graph s.nys g --neighbors 1 -q
    nystream fit s.nys e --map eigenmaps --graph g -q
    ny -7 transform s.nys e --input star.csv -o y.csv
    says "eigenvector 1 of 'e' says nothing about new points: its eigenvalue is 1"
}

@test "any threads and budgets give the same bytes, and too small a budget says what it takes" {
    table 4000 3 >t.csv
    nystream import p.nys t.csv -q
    nystream graph p.nys g --neighbors 6 -q
    ny -0 fit p.nys a --map eigenmaps --graph g --components 4 --threads 1 -q
    too_little fit p.nys b --map eigenmaps --graph g --components 4 --threads 3 --memory 28M
    ny -0 fit p.nys b --map eigenmaps --graph g --components 4 --threads 3 --memory "$least" -q
    same_exports "p.nys a --part eigenvectors" "p.nys b --part eigenvectors"
    ny -0 plan p.nys --map eigenmaps --graph g --json
    [ "$(field "$output" landmarks)" = null ]
}

# bats test_tags=slow
@test "interrupted and gone on with, as often as it takes: the same bytes" {
    table 20000 2 >t.csv
    nystream import p.nys t.csv -q
    nystream graph p.nys g --neighbors 6 -q
    local options="--map eigenmaps --graph g --components 20" code=143 stops=-1 wait=0.1
    nystream fit p.nys whole $options -q
    while [ "$code" -eq 143 ] && [ "$stops" -lt 20 ]; do
        nystream fit p.nys broken $options -q &
        sleep "$wait"
        kill -s TERM $! || true
        code=0
        wait $! || code=$?
        stops=$((stops + 1))
        wait=0.$((2 + stops))
    done
    [ "$stops" -gt 0 ]
    nystream fit p.nys broken $options -q
    same_exports "p.nys whole --part eigenvectors" "p.nys broken --part eigenvectors"
    same_exports "p.nys whole --part eigenvalues" "p.nys broken --part eigenvalues"
}
