# Genotypes of PLINK: from .bed files to components, and what is refused; kills in between.
# tests/python/test_genotypes.py compares the numbers with numpy's.
load helper

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    PATH=$NYSTREAM_BUILD/data-tools:$PATH
    genotypes -o cohort --samples 900 --variants 4000
    genotypes -o wide --samples 3000 --variants 12000 --seed 2
    nystream import cohort.nys cohort.bed -q
    nystream fit cohort.nys pca --map pca --components 6 -q
}

data() { cp -r "$BATS_FILE_TMPDIR"/"$1"* .; }

@test "a file of genotypes becomes components in one command" {
    data cohort
    ny -0 embed cohort.bed -o pca.tsv --map pca --components 6 --json
    fields n=900 components=6 components_above_noise=3 scale=binomial
    [ "$(wc -l <pca.tsv)" -eq 900 ]
    nystream export cohort.nys pca -o own.tsv -q
    cmp pca.tsv own.tsv
    ny -0 info cohort.nys --json
    fields dtype=genotype n=900 d=4000
    ny -0 export cohort.nys pca -o pca.eigenvec
    [ "$(head -n 2 pca.eigenvec | cut -f 1-3 | tail -n 1 | cut -f 1-2)" = "F0	S0" ]
    usage "embed keeps no names" embed cohort.bed -o e.eigenvec --map pca
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
    head -c 1000 cohort.bed >cut.bed
    cp cohort.bim cut.bim
    cp cohort.fam cut.fam
    ny -3 import cut.nys cut.bed
    says "cut.bed has not the size of 900 samples (.fam) at 4000 variants (.bim)"
    ny -3 fit other.nys m --map pca --features maf:0.1
}

# Runs a command until it ends by itself, killed again and again.
through_kills() {
    local wait kills=0
    for wait in 0.06 0.09 0.13 0.17 0.25 0.3 0.4 0.5 100; do
        if timeout -s KILL "$wait" "$@" 2>/dev/null; then break; fi
        kills=$((kills + 1))
    done
    [ $kills -gt 0 ] && [ $kills -lt 9 ]
}

@test "imports and fits that are killed come to the same bytes" {
    data wide
    nystream import whole.nys wide.bed -q --memory 48M
    nystream fit whole.nys pca --map pca --components 4 -q
    through_kills nystream import killed.nys wide.bed -q --memory 48M
    through_kills nystream fit killed.nys pca --map pca --components 4 -q
    for part in points ids labels columns; do
        nystream export whole.nys --part "$part" -o "whole.$part.csv" -q
        nystream export killed.nys --part "$part" -o "killed.$part.csv" -q
        cmp "whole.$part.csv" "killed.$part.csv"
    done
    nystream export whole.nys pca -o whole.npy -q
    nystream export killed.nys pca -o killed.npy -q
    cmp whole.npy killed.npy
}
