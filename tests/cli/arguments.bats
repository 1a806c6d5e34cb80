# The command line itself: verbs, options, operands, and what is said about wrong ones.
load helper

@test "no verb at all" {
    ny
    usage "a verb is missing"
    says "usage: nystream VERB"
}

@test "an unknown verb is refused with the nearest one" {
    ny fti
    usage "unknown verb 'fti'; did you mean 'fit'?"
    ny imprt a b
    usage "did you mean 'import'?"
    ny exprot
    usage "did you mean 'export'?"
    ny frobnicate
    usage "unknown verb 'frobnicate'; \`nystream help\` lists the verbs"
    ny help fti
    usage "did you mean 'fit'?"
}

@test "verbs and options of other programs are not taken" {
    ny cluster s g
    usage "unknown verb 'cluster'; use nystream eval --clusters K"
    ny predict s a
    usage "unknown verb 'predict'; use nystream transform"
    ny fit s a --sweep 5
    usage "--sweep is not an option of fit"
    ny fit s a --map umap
    usage "--map is one of "
    says "not 'umap'"
    ny fit s a --approx lanczos
    usage "--approx is one of"
}

@test "an unknown option is refused with the nearest one" {
    ny fit s a --lanmarks 5
    usage "unknown option --lanmarks of fit; did you mean --landmarks?"
    ny fit s a --comp 5
    usage "did you mean --components?"
    ny fit s a --n-components=5
    usage "did you mean --components?"
    ny import s f --xyzzy
    usage "unknown option --xyzzy of import; \`nystream help import --all\` lists its options"
    ny import s f -x
    usage "unknown option -x of import"
}

@test "an option of another verb is named as such" {
    ny fit s a --append
    usage "--append is not an option of fit (import has it); \`nystream help fit --all\` lists its options"
    ny fit s a --clusters 5
    usage "--clusters is not an option of fit (eval and transform have it)"
    ny info s --kernel rbf
    usage "--kernel is not an option of info"
    ny rm s a --memory 2G
    usage "--memory is not an option of rm; "
}

@test "a wrong value is refused, with what would be right" {
    ny fit s a --kernel rbff
    usage "--kernel is one of "
    says "not 'rbff'; did you mean 'rbf'?"
    ny fit s a --landmarks 0
    usage "--landmarks is a whole number, at least 1, not '0'"
    ny fit s a --landmarks ten
    usage "--landmarks is a whole number, at least 1, not 'ten'"
    ny fit s a --tolerance=-1
    usage "--tolerance is a number above 0, not '-1'"
    ny fit s a --gamma 0
    usage "--gamma is a number above 0 or auto, not '0'"
    ny fit s a --memory much
    usage "--memory is a size such as 512M or 2G, not 'much'"
    ny fit s a --threads 0
    usage "--threads is a whole number, at least 1"
    ny transform s g --input f -o x.npy --recall 0x1
    usage "--recall is a share, above 0 and up to 1, not '0x1'"
    ny import s f --nan maybe
    usage "--nan is one of error|drop"
    ny export s a --part embeding -o x
    usage "did you mean 'embedding'?"
}

@test "a missing value, a value too many" {
    ny fit s a --landmarks
    usage "--landmarks needs a value (M)"
    ny fit s a --landmarks-file=
    usage "--landmarks-file needs a value (F.npy)"
    ny export s a -o
    usage "--output needs a value (FILE)"
    ny export s a --output=
    usage "--output needs a value (FILE)"
    ny fit s a --quiet=yes
    usage "--quiet takes no value, not 'yes'"
    ny fit s a --certify=perhaps
    usage "--certify is one of yes|no, not 'perhaps'"
}

@test "two spellings of the width" {
    ny fit s a --gamma 1 --sigma 2
    usage "--sigma and --gamma are two spellings of one width"
    ny fit s a --epsilon 1 --gamma 2
    usage "--gamma and --epsilon are two spellings of one width"
}

@test "missing operands are named, with the usage line" {
    local verb
    for verb in import info verify plan fit select transform export list rm; do
        ny $verb
        usage "$verb needs STORE"
        [ $verb = plan ] || says "usage: nystream $verb STORE"
    done
    for verb in fit select export rm; do
        ny $verb s
        usage "$verb needs NAME"
    done
    ny import s
    usage "import needs FILE"
    ny embed
    usage "embed needs FILE"
    ny list ""
    usage "STORE of list is empty"
}

@test "where NAME is missing, the results that there are" {
    local verb
    store s
    ny plot s
    usage "plot needs NAME"
    [[ $stderr != *" has "* ]]
    nystream fit s b --landmarks 20 -q
    nystream fit s a --landmarks 20 -q
    for verb in fit plot eval rm export select; do
        ny $verb s
        usage "$verb needs NAME"
        says "; s has 'a', 'b'"
    done
}

@test "operands too many" {
    ny fit s a b
    usage "fit takes STORE NAME only, and 'b' is one operand too many"
    ny list s a
    usage "list takes STORE only, and 'a' is one operand too many"
    ny bench now
    usage "bench takes no operands, and 'now' is one operand too many"
    ny info s a b
    usage "'b' is one operand too many"
}

@test "what export, transform and embed cannot do without" {
    ny export s a
    usage "export needs -o OUT.npy, or -o OUT.csv, .csv.gz or .tsv"
    ny embed f.csv
    usage "embed needs -o"
    ny transform s
    usage "transform needs NAME after the store, or a model MODEL.nym"
    ny transform s a -o x.npy
    usage "transform needs --input FILE"
    ny transform model.nym --input f.csv
    usage "transform needs -o"
    ny embed f.csv -o - --json
    exits 2
    says "both write to the standard output"
    ny embed f.csv -o /dev/stdout --json
    exits 2
    says "--json and -o /dev/stdout both write to the standard output"
}

@test "options before and after operands, joined and apart, and -- to end them" {
    store s
    ny fit --landmarks 20 s --components=3 a --quiet
    exits 0
    ny info s a --json
    [ "$(field "$output" landmarks)" = 20 ]
    [ "$(field "$output" components)" = 3 ]
    ny export -qo out.csv s a
    exits 0
    ny export s a -oout2.csv
    exits 0
    cmp out.csv out2.csv
    ny list -- --json
    exits 4
    says "--json"
}

@test "the last of an option that is given twice counts" {
    store s
    ny fit s a --landmarks 10 --landmarks 25 --no-affine --affine -q
    exits 0
    ny info s a --json
    [ "$(field "$output" landmarks)" = 25 ]
}

@test "options that could not act are refused" {
    store s
    ny fit s a --degree 2
    usage "--degree does not act on the rbf kernel"
    ny fit s a --tolerance 0.1
    usage "--tolerance does not act with --select rpcholesky"
    ny fit s a --select greedy --tolerance 0.1 --no-pilot
    usage "--pilot does not act with --select greedy and --tolerance"
    ny fit s a --components 9 --rank 5
    usage "--components 9 is more than --rank 5"
    ny plan s --gamma-grid=0.1,0x10
    usage "--gamma-grid is auto or a list of positive numbers such as 0.01,0.1,1, not '0.1,0x10'"
    ny plan s --map pca --kernel rbf
    usage "--map pca has the linear kernel"
    ny select s a --select given
    usage "--select given needs --landmarks-file F.npy, --landmarks-points P.npy or --landmarks-from NAME"
    ny embed f -o x.npy --select given
    usage "--select given needs --landmarks-file F.npy or --landmarks-points P.npy"
    [[ $stderr != *landmarks-from* ]]
}

@test "usage errors as JSON, wherever --json stands" {
    ny fti --json
    exits 2
    [ "$stderr" = '{"error":{"code":2,"kind":"usage","message":"unknown verb '"'fti'; did you mean 'fit'"'?","file":null,"line":null}}' ]
    ny fit s a --lanmarks 5 --json
    exits 2
    [ "${#stderr_lines[@]}" -eq 1 ]
    has_keys "$stderr" error code kind message
    ny fit s --json
    exits 2
    [ "${#stderr_lines[@]}" -eq 1 ]
}

@test "started through the dynamic loader, the command runs the verb, also after its restart" {
    local loader
    [ -z "${NYSTREAM_SANITIZER-}" ] || skip "its runtime wants to be loaded first"
    loader=$(readelf -l "$NYSTREAM_BUILD/nystream" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
    # An OpenBLAS that takes this CPU for an old one, which the command starts anew for.
    echo 'char *openblas_get_corename(void) { return "Prescott"; }' >core.c
    ${CC:-gcc} -shared -fPIC -o core.so core.c
    store s
    LD_PRELOAD=$PWD/core.so run --separate-stderr "$loader" "$NYSTREAM_BUILD/nystream" fit s a --landmarks 20 --json
    exits 0
    [ "$(field "$output" name)" = a ]
    LD_PRELOAD=$PWD/core.so run --separate-stderr nystream list s
    [ "$output" = "a	done" ]
}

@test "a table in the place of a store is told from a name that is missing" {
    echo 1,2 >table.csv
    ny plot table.csv
    usage "plot needs a store and NAME, but table.csv is a file; 'nystream import STORE table.csv' makes a store of it"
    ny fit table.csv
    usage "fit needs a store and NAME"
}
