# The end of an output's name says how it is written; other endings are refused before any work.
load helper

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    table 300 4 >t.csv
    nystream import s t.csv -q
    nystream fit s a --landmarks 20 -q
    nystream graph s g --neighbors 3 -q
    nystream export s a -o a.csv
}

setup() { file_folder; }

# bats test_tags=slow
@test "csv.gz is gzip of the csv, the same bytes each time, and is read again" {
    ny -0 export s a -o a.csv.gz
    gzip -dc a.csv.gz | cmp - a.csv
    cp a.csv.gz once
    sleep 1.1 # a time in the header would differ
    nystream export s a -o A.CSV.GZ
    cmp once A.CSV.GZ
    nystream import packed a.csv.gz -q
    [ "$(field "$(nystream info packed --json)" n)" = 300 ]
}

@test "tsv has tabs where csv has commas" {
    ny -0 export s a -o a.tsv
    tr '\t' , <a.tsv | cmp - a.csv
    nystream import tabs a.tsv -q
    [ "$(field "$(nystream info tabs --json)" d)" = 2 ]
}

@test "transform and embed write them, too" {
    for end in csv csv.gz tsv; do
        ny -0 transform s a --input t.csv -o placed.$end
        ny -0 embed t.csv -o one.$end --landmarks 20 -q
    done
    gzip -dc placed.csv.gz | cmp - placed.csv
    gzip -dc one.csv.gz | cmp - one.csv
    tr '\t' , <one.tsv | cmp - one.csv
    printf '.1,.2,.3,.4\n' | nystream transform s a --input - -o piped.csv.gz
    [ "$(gzip -dc piped.csv.gz | wc -l)" -eq 1 ]
}

# refused COMMAND… FILE: checks for exit 2, and that nothing is written.
refused() {
    usage "${*: -1}: " "$@"
    [ ! -e "${*: -1}" ]
}

@test "other endings of regular files are refused, with those that there are" {
    for end in parquet txt npz mtx tsv.gz npy.gz bin xlsx; do
        for call in "export s a" "transform s a --input t.csv" "embed t.csv"; do refused $call -o e.$end; done
    done
    refused export s g --part neighbors -o near.mtx
    refused export s g --part distances -o near.npz
    for file in m.nysm m.npy; do refused export s a --part model -o $file; done
    for file in p.gif p; do refused plot s a -o $file; done
    for file in r.pdf r; do refused report s -o $file; done
    refused export s a -o e
    : >old.bin
    ny -2 export s a -o old.bin
}

@test "the refusal comes before any work, and as JSON where that is asked for" {
    usage "e.parquet" embed missing.csv -o e.parquet
    ny -2 export nowhere a -o e.parquet --json
    [ "$(field "$stderr" kind)" = usage ]
}

@test "standard output, pipes and devices have no ending" {
    nystream export s a -o a.npy
    nystream export s a -o - | cmp - a.npy
    nystream export s a -o /dev/stdout | cmp - a.npy
    nystream export s a -o >(cat >piped.npy)
    for _ in 1 2 3 4 5; do cmp -s piped.npy a.npy && break || sleep 0.5; done
    cmp piped.npy a.npy
    nystream export s a -o /dev/null
    nystream plot s a -o /dev/null
    nystream report s -o /dev/null
}

@test "a reader that has had enough is no error to talk about" {
    table 60000 4 >big.csv
    nystream import big big.csv -q
    nystream fit big a --landmarks 5 -q
    for verb in "export big a -o -" "export big a -o /dev/stdout" "transform big a --input big.csv -o -" \
        "help --man"; do
        run bash -c "nystream $verb 2>err | head -c 10 >/dev/null; exit \${PIPESTATUS[0]}"
        [ ! -s err ]
        [[ $verb == help* ]] || [ "$status" -eq 4 ]
    done
}

@test "--format of an output is its name" {
    for verb in "export s a" "plot s a" "report s"; do
        ny -2 $verb --format csv -o x
    done
    ny export s a --format csv -o x
}
