# Reports as those read them who hear them, use no mouse, or have a small screen: what Chromium tells
# a screen reader, where the Tab key goes, contrasts, and widths. tests/support/page_faults.py looks.
# bats file_tags=slow
load helper

# A file cannot be skipped as a whole.
need_browser() {
    command -v chromium >/dev/null || skip "no chromium: data-tools/setup browser"
    /usr/bin/python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null || skip "no python3"
}

# faults FILE.html…: prints a line for each that page_faults.py found.
faults() {
    timeout 240 /usr/bin/python3 "$BATS_TEST_DIRNAME/../support/page_faults.py" "$@"
}

# A page with all that a report can have: results side by side, images, a path, clusters, a graph.
full_page() {
    table 300 64 | awk -F, '{$1 += NR / 20; print $0, (NR % 3 ? "left" : "a name that is too long for one line of a small screen")}' OFS=, >t.csv
    nystream import s t.csv --label-column 65 -q
    nystream fit s a-result-whose-name-is-as-long-as-names-of-result-may-ever-be-64 --landmarks 40 --components 9 --certify --probe 8 -q
    nystream graph s near --neighbors 5 -q 2>/dev/null
    nystream fit s isomap --map isomap --graph near --landmarks 30 -q
    nystream fit s groups --map laplacian --landmarks 40 --components 3 -q
    nystream eval s groups --measures clusters -q >/dev/null
    nystream select s chosen --landmarks 9 -q
    nystream report s -o full.html --path 3,290 -q
}

@test "a report can be heard, gone through by keys, and read on a small screen, light and dark" {
    need_browser
    full_page
    nystream report s groups -o one.html -q
    run -0 faults full.html one.html
    [ -z "$output" ]
}

@test "what is wrong on a page is noticed" {
    need_browser
    table 60 3 | awk -F, '{print $0 ",c" NR % 3}' >t.csv
    nystream import s t.csv --label-column 4 -q
    nystream fit s a --landmarks 20 --components 3 -q # a scree plot has three or more
    nystream report s -o good.html -q
    sed -e 's/<main>/<div>/; s/<\/main>/<\/div>/' \
        -e 's/<h3>Cost<\/h3>/<h5>Cost<\/h5>/' \
        -e 's/role="img" aria-label="Scree[^"]*"/role="img"/' \
        -e 's/aria-label="Zoom in">+/aria-label="">/' \
        -e 's/<select class="tint">/<select class="tint" tabindex="3">/' \
        -e 's/<th scope="row">/<td>/g; s/<th scope="col"[^>]*>/<td>/g' \
        -e 's/<caption class="unseen">All figures[^<]*</<caption></' \
        -e 's/--soft: #5a5a66/--soft: #9a9aa6/' \
        -e 's/e.shiftKey/e.altKey/' \
        -e 's/:focus-visible {.*}/:focus-visible { outline: none; }/' \
        -e 's/<h3>Made with/<p style="width: 30rem">wide<\/p>&/' good.html >bad.html
    run -1 faults bad.html
    for words in "0 main landmarks" "heading 'Cost' of level 5 follows one of level 3" "no name: image" \
        "no name: button" "does not go in the order of reading" "has no header cells" "no name: table" \
        'contrast of "' "Shift with an arrow does not go" "has no outline" \
        "400 pixels, light: it is 496 pixels wide in a window of 400"; do
        [[ $output == *"$words"* ]] || { echo "not noticed: $words" "$output"; false; }
    done
}
