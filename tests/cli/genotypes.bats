# Genotypes of PLINK: from .bed files to components, and what is refused; kills in between.
# tests/python/test_genotypes.py compares the numbers with numpy's.
load helper

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    PATH=$NYSTREAM_BUILD/data-tools:$PATH
    genotypes -o cohort --samples 900 --variants 4000
    nystream import cohort.nys cohort.bed -q
    nystream fit cohort.nys pca --map pca --components 6 -q
}

data() { cp -r "$BATS_FILE_TMPDIR"/"$1"* .; }

@test "a file of genotypes becomes components in one command" {
    data cohort
    ny -0 embed cohort.bed -o pca.tsv --map pca --components 6 --json
    fields n=900 components=6 components_above_noise=3 converged=3 scale=binomial
    [ "$(wc -l <pca.tsv)" -eq 900 ]
    writes pca.tsv "cohort.nys pca"
    ny -0 info cohort.nys --json
    fields dtype=genotype n=900 d=4000
    ny -0 export cohort.nys pca -o pca.eigenvec
    [ "$(head -n 2 pca.eigenvec | cut -f 1-3 | tail -n 1 | cut -f 1-2)" = "F0	S0" ]
    nystream embed cohort.bed -o e.eigenvec --map pca --components 6 -q
    [ "$(head -n 1 e.eigenvec | cut -f 1-3)" = "#FID	IID	PC1" ]
    diff <(tail -n +2 e.eigenvec | cut -f 3-) pca.tsv
    diff <(tail -n +2 e.eigenvec | cut -f 1-2) <(awk -v OFS='\t' '{ print $1, $2 }' cohort.fam)
    nystream embed cohort.bed -o e.eigenval --map pca --components 6 -q
    [ "$(wc -l <e.eigenval)" = 6 ]
    nystream export cohort.nys pca -o rows.csv -q
    usage "rows.csv has no ids" embed rows.csv -o rows.eigenvec --map pca
    [[ $stderr != *plan:* ]] # before anything is fitted
    usage "does not act with e.eigenvec" embed cohort.bed -o e.eigenvec --map pca --nan keep
}

@test "further samples of a cohort are others of the same populations" {
    local PATH=$NYSTREAM_BUILD/data-tools:$PATH
    data cohort
    genotypes -o both --samples 903 --variants 4000
    genotypes -o new --samples 3 --first 900 --variants 4000
    diff <(tail -n 3 both.fam) new.fam
    cmp both.bim new.bim
    # three samples are in the last byte of each variant
    diff <(tail -c +4 both.bed | od -An -v -tx1 -w226 | awk '{ print $226 }') \
        <(tail -c +4 new.bed | od -An -v -tx1 -w1 | awk '{ print $1 }')
    nystream transform cohort.nys pca --input new.bed -o new.eigenvec -q
    [ "$(wc -l <new.eigenvec)" = 4 ]
    echo "F9 S9 0 0 0 P0" >>new.fam
    ny -0 transform cohort.nys pca --input new.bed -o more.eigenvec -q
    says "new.bed: the last of 4 samples (.fam) has A1 alone at all variants"
    head -n 2 new.fam >two.fam && cp two.fam new.fam
    ny -3 transform cohort.nys pca --input new.bed -o more.eigenvec -q
    says "new.bed has genotypes of more than 2 samples (.fam)"
}

# exchanged FROM TO EVERY: TO.bed has the samples of FROM.bed, and one in EVERY variants with its
# alleles exchanged in the .bim alone.
exchanged() {
    cp "$1.bed" "$2.bed"
    cp "$1.fam" "$2.fam"
    awk -v OFS='\t' -v every="$3" 'NR % every == 0 { a = $5; $5 = $6; $6 = a } 1' "$1.bim" >"$2.bim"
}

@test "drift: further samples are like those of the fit, and with alleles exchanged they are not" {
    local PATH=$NYSTREAM_BUILD/data-tools:$PATH name told="from the rows of the fit: 1.00 (0: alike, 1: wholly apart):"
    data cohort
    genotypes -o flat --samples 300 --variants 4000 --fst 0
    nystream import flat.nys flat.bed -q
    nystream fit flat.nys pca --map pca --components 6 -q # no component stands out of noise
    for name in 0 0.3 0.7; do
        genotypes -o new --samples 150 --first 900 --variants 4000 --missing $name
        ny -0 transform cohort.nys pca --input new.bed -o new.eigenvec --json
        [ -z "$stderr" ]
        fields drift_rows=150
        awk -v d="$(field "$output" drift)" 'BEGIN { exit !(d < 0.3) }'
        for every in 1 2 10; do
            exchanged new bad $every
            ny -0 transform cohort.nys pca --input bad.bed -o new.eigenvec -q
            says "warning: drift of bad.bed $told"
        done
    done
    genotypes -o new --samples 150 --first 300 --variants 4000 --fst 0
    ny -0 transform flat.nys pca --input new.bed -o new.eigenvec -q
    [ -z "$stderr" ]
    exchanged new bad 2
    ny -0 transform flat.nys pca --input bad.bed -o new.eigenvec -q
    says "warning: drift of bad.bed $told"
    says "bad.bed: 40 of them are A/T or C/G"
}

@test "drift of genotypes: the samples of the fit themselves, which do not shrink, are no drift" {
    local PATH=$NYSTREAM_BUILD/data-tools:$PATH file
    genotypes -o weak --samples 200 --variants 5000 --fst 0.01
    genotypes -o new --samples 150 --first 200 --variants 5000 --fst 0.01
    nystream import weak.nys weak.bed -q
    nystream fit weak.nys pca --map pca --components 6 -q
    for file in weak new; do
        ny -0 transform weak.nys pca --input $file.bed -o new.eigenvec --json
        [ -z "$stderr" ]
        awk -v d="$(field "$output" drift)" 'BEGIN { exit !(d < 0.25) }'
    done
}

@test "drift of genotypes: an update tells it as transform does, and rows with few genotypes do not count" {
    local PATH=$NYSTREAM_BUILD/data-tools:$PATH placed
    data cohort
    genotypes -o new --samples 150 --first 900 --variants 4000 --missing 0.2
    exchanged new bad 2
    for name in new bad; do
        cp -r cohort.nys $name.nys
        ny -0 transform $name.nys pca --input $name.bed -o new.eigenvec --json
        placed=$output
        nystream import $name.nys $name.bed --append -q
        ny -0 fit $name.nys pca --update frozen -q
        if [ $name = new ]; then [ -z "$stderr" ]; else says "warning: drift of the new rows from the rows of the fit: 1.00"; fi
        ny -0 info $name.nys pca --json
        fields "drift=$(field "$placed" drift)" "drift_trace_error=$(field "$placed" drift_trace_error)"
    done
    genotypes -o few --samples 150 --first 900 --variants 4000 --missing 0.9
    ny -0 transform cohort.nys pca --input few.bed -o new.eigenvec --json
    [ -z "$stderr" ]
    fields drift=null
}

@test "noise is told by the squares of all eigenvalues, also after an update" {
    local PATH=$NYSTREAM_BUILD/data-tools:$PATH
    genotypes -o flat --samples 120 --variants 20000 --fst 0
    nystream import flat.nys flat.bed -q
    ny -0 fit flat.nys pca --map pca --components 3 --json
    fields components_above_noise=0
    genotypes -o few --samples 100 --variants 6000 --fst 0
    genotypes -o other --samples 20 --variants 6000 --fst 0 --seed 2
    nystream import few.nys few.bed -q
    nystream fit few.nys pca --map pca --components 4 -q
    cp few.bim other.bim
    sed -i 's/^F/G/' other.fam
    nystream import few.nys other.bed --append -q
    ny -0 fit few.nys pca --update full --json # noisier beside the frequencies of the first
    fields components_above_noise=4
}

@test "a store of genotypes takes two bits a genotype" {
    data cohort.nys
    nystream verify cohort.nys -q
    [ "$(stat -c %s cohort.nys/points/data.mdb)" -lt $((900 * 4000 / 4 * 3 / 2)) ]
}

@test "rows of other files do not join genotypes, nor genotypes other rows" {
    data cohort
    seq -s, 4000 >row.csv
    ny -3 import cohort.nys row.csv --append
    nystream import other.nys row.csv -q
    ny -3 import other.nys cohort.bed --append
    usage "dtype" import third.nys cohort.bed --dtype f32
    ny -3 fit other.nys m --map pca --features maf:0.1
    mkfifo pipe.bed
    cp cohort.bim pipe.bim
    cp cohort.fam pipe.fam
    (cat cohort.bed && echo more) >pipe.bed &
    ny -3 import pipe.nys pipe.bed
    for name in strand twice; do
        cp cohort.bed $name.bed
        cp cohort.fam $name.fam
    done
    tr ACGT TGCA <cohort.bim >strand.bim
    ny -0 transform cohort.nys pca --input strand.bed -o out.npy -q
    says "warning: strand.bed: of the columns of cohort.nys it lacks 3960, which are missing"
    awk 'NR != 2 { line = $0 } { print line }' cohort.bim >twice.bim
    ny -3 transform cohort.nys pca --input twice.bed -o out.npy
    says "twice.bed has several columns called 'rs0_A'; leave one of them"
    truncate -s 1000 cohort.bed
    ny -3 import cut.nys cohort.bed
    says "cohort.bed has not the size of 900 samples (.fam) at 4000 variants (.bim)"
}

@test "genotypes and other numbers are not compared, nor prepared as others are" {
    data cohort
    nystream export cohort.nys pca --part model -o pca.nym -q
    awk 'BEGIN { for (r = 1; r <= 30; r++) for (i = 1; i <= 4000; i++) printf "%d%s", (i + r) % 3, i < 4000 ? "," : "\n" }' >rows.csv
    nystream import rows.nys rows.csv -q
    nystream fit rows.nys other --landmarks 20 -q
    nystream export rows.nys other --part model -o other.nym -q
    ny -3 transform cohort.nys pca --input rows.csv -o out.npy
    says "rows.csv has numbers that are no genotypes, but cohort.nys has genotypes of PLINK"
    ny -3 transform pca.nym --input rows.csv -o out.npy
    ny -3 transform other.nym --input cohort.bed -o out.npy
    for call in "transform rows.nys other --input cohort.bed -o out.npy" "fit cohort.nys m --model other.nym" \
        "fit cohort.nys m --landmarks-points rows.csv --gamma 1" "import cohort.nys rows.csv --append" \
        "import both.nys rows.csv cohort.bed" "import both.nys cohort.bed rows.csv"; do
        ny -3 $call
    done
    for option in "--layout sparse" "--rows total:1" "--values log1p"; do
        usage "${option% *} does not act with genotypes" import other.nys cohort.bed $option
    done
    usage "--until does not act with genotypes" fit cohort.nys m --until sums --gamma 1 \
        --landmarks-points cohort.bed
}

# bats file_tags=slow
@test "landmarks of genotypes are those of a file, of a result, or of a model" {
    data cohort
    nystream fit cohort.nys own --landmarks 40 --select uniform --gamma 0.0001 -q
    nystream export cohort.nys own --part model -o own.nym -q
    nystream fit cohort.nys again --model own.nym -q
    nystream fit cohort.nys from --landmarks-from own --gamma 0.0001 -q
    nystream fit cohort.nys all --landmarks-points cohort.bed --gamma 0.0001 -q
    nystream fit cohort.nys exact --approx exact --gamma 0.0001 -q
    for name in own again from all exact; do
        nystream export cohort.nys $name -o $name.csv -q
    done
    near own.csv again.csv
    near own.csv from.csv
    near all.csv exact.csv
}

# Runs a command until it ends by itself, killed again and again. An import may be killed between
# its last commit and its end: the next one then finds all the points.
through_kills() {
    local wait status=137 kills=0
    for wait in 0.03 0.06 0.09 0.13 0.17 0.25 0.3 0.4 0.5 100; do
        status=0
        timeout -s KILL "$wait" "$@" 2>errors || status=$?
        [ $status -eq 137 ] || break
        kills=$((kills + 1))
    done
    [ $kills -gt 0 ]
    [ $status -eq 0 ] || grep -q "already holds 3000 points" errors
}

@test "imports and fits that are killed come to the same bytes" {
    PATH=$NYSTREAM_BUILD/data-tools:$PATH genotypes -o wide --samples 3000 --variants 12000 --seed 2
    nystream embed wide.bed -o wide.eigenvec --map pca --components 2 -q
    diff <(tail -n +2 wide.eigenvec | cut -f 1-2) <(awk -v OFS='\t' '{ print $1, $2 }' wide.fam)
    nystream import whole.nys wide.bed -q --memory 48M
    nystream fit whole.nys pca --map pca --components 4 -q
    through_kills nystream import killed.nys wide.bed -q --memory 48M
    through_kills nystream fit killed.nys pca --map pca --components 4 -q
    for part in ids labels columns; do
        same_exports "whole.nys --part $part" "killed.nys --part $part" csv
    done
    same_exports "whole.nys --part points" "killed.nys --part points"
    same_exports "whole.nys pca" "killed.nys pca"
}

@test "shards of fewer rows than columns have the p-values of one store" {
    local PATH=$NYSTREAM_BUILD/data-tools:$PATH store round wait
    data cohort
    genotypes -o more --samples 500 --variants 4000 --seed 5
    cp cohort.bim more.bim
    nystream import one.nys cohort.bed -q
    nystream import one.nys more.bed --append -q
    nystream import two.nys --shard 0/2 cohort.bed -q
    nystream import two.nys --shard 1/2 more.bed -q
    for store in one two; do
        ny -0 fit $store.nys pca --map pca --components 12 --json -q
        fields side=rows components=12
        sed -n '/"component_p_values"/,/]/p' <<<"$output" | grep -oE '[0-9][0-9.e-]*' >$store.txt
    done
    [ "$(wc -l <one.txt)" -eq 12 ]
    awk '$1 > 0.01' one.txt | grep -q . # of components that are noise
    paste one.txt two.txt | awk '{ d = $1 - $2; if (d * d > 1e-6 * $1 * $1 + 1e-40) exit 1 }'
    nystream export two.nys pca -o two.csv -q
    for round in 1 2 3 4; do # a shard may have come farther in a pass than the other
        nystream rm two.nys pca -q
        for wait in 0.08 0.11 0.14 0.17 0.2 0.23 100; do
            ! timeout -s TERM $wait nystream fit two.nys pca --map pca --components 12 -q || break
        done
        writes two.csv "two.nys pca"
    done
}
