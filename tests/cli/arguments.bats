# The command line itself. What is said about wrong verbs, options and operands is in the sessions of
# tests/cli/transcripts.
load helper

@test "options before and after operands, joined and apart, and -- to end them" {
    store s
    ny -0 fit --landmarks 20 s --components=3 a --quiet
    has "s a" landmarks=20 components=3
    ny -0 export -qo out.csv s a
    ny -0 export s a -oout2.csv
    cmp out.csv out2.csv
    ny -4 list -- --json
}

@test "the last of an option that is given twice counts" {
    store s
    ny -0 fit s a --landmarks 10 --landmarks 25 --no-affine --affine -q
    has "s a" landmarks=25
}

@test "usage errors as JSON, wherever --json stands" {
    ny -2 fti --json
    [ "$stderr" = '{"error":{"code":2,"kind":"usage","message":"unknown verb '"'fti'; did you mean 'fit'"'?","file":null,"line":null}}' ]
    ny -2 fit s a --lanmarks 5 --json
    [ "${#stderr_lines[@]}" -eq 1 ]
    has_keys "$stderr" error code kind message
    ny -2 fit s --json
    [ "${#stderr_lines[@]}" -eq 1 ]
}

@test "started through the dynamic loader, the command runs the verb, also after its restart" {
    [ -z "${NYSTREAM_SANITIZER-}" ] || skip "its runtime wants to be loaded first"
    loader=$(readelf -l "$NYSTREAM_BUILD/nystream" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
    # An OpenBLAS that takes this CPU for an old one, which the command starts anew for.
    echo 'char *openblas_get_corename(void) { return "Prescott"; }' >core.c
    ${CC:-gcc} -shared -fPIC -o core.so core.c
    store s
    LD_PRELOAD=$PWD/core.so run -0 --separate-stderr "$loader" "$NYSTREAM_BUILD/nystream" fit s a --landmarks 20 --json
    [ "$(field "$output" name)" = a ]
    LD_PRELOAD=$PWD/core.so run --separate-stderr nystream list s
    [ "$output" = "a	done" ]
}
