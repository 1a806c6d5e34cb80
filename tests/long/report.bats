# Tests a report in a browser: it is drawn, can be pointed at, moved and zoomed, without errors.
load helper

browse() { # FILE.html OPTION…: headless, in a profile of its own
    local file=$1
    shift
    timeout 120 chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --no-first-run \
        --user-data-dir="$BATS_TEST_TMPDIR/profile" --virtual-time-budget=60000 "$@" "file://$PWD/$file"
}

# probed FILE.html: writes what tests/long/report_probe.js saw to seen.json.
probed() {
    command -v chromium >/dev/null || skip "no chromium"
    {
        sed '/<head>/a <script>window.errors = []; addEventListener("error", e => errors.push(e.message)); console.error = m => errors.push(m)</script>' "$1"
        echo '<script>'
        cat "$BATS_TEST_DIRNAME/report_probe.js"
        echo '</script>'
    } >probed.html
    browse probed.html --window-size=1000,1400 --dump-dom "${@:2}" >dom.html 2>browser.log
    sed -n '/<pre id="seen">/,/<\/pre>/p' dom.html | sed 's/.*<pre id="seen">//; s/<\/pre>.*//' >seen.json
    [ -s seen.json ] || { cat browser.log dom.html >&2; return 1; }
    grep -q '"errors": \[\]' seen.json
    grep -q '"requests": \[\]' seen.json
    grep -q '"ready": true' seen.json
}

# page_of NAME "IMPORT OPTION…" FIT OPTION…: makes page.html of a fit of the rows of NAME.csv.
page_of() {
    nystream import "$1" "$1.csv" $2 -q
    nystream fit "$1" a "${@:3}" -q
    nystream report "$1" -o page.html
}

# asked FILE.html <SCRIPT: prints the lines that the script puts into `told` of the page's first plot.
asked() {
    command -v chromium >/dev/null || skip "no chromium"
    local script
    script=$(cat)
    {
        cat "$1" - <<'JS'
<script>
(async () => {
  const figure = document.querySelector('figure.plot'), canvas = figure.querySelector('canvas'), told = [];
  const pause = () => new Promise(done => setTimeout(done, 50));
  const key = async (name, more) => { canvas.dispatchEvent(new KeyboardEvent('keydown', { key: name, cancelable: true, ...more })); await pause(); };
  const choose = async (name, text) => {
    const select = figure.querySelector('.' + name);
    select.value = [...select.options].find(o => o.textContent === text).value;
    select.dispatchEvent(new Event('change'));
    await pause();
  };
  const press = async (name) => { figure.querySelector('.' + name).click(); await pause(); };
  const caption = () => figure.querySelector('figcaption').textContent.split('.')[0];
  const entries = () => [...figure.querySelectorAll('.key button')].map(b => b.textContent).join();
  for (let i = 0; i < 100 && !figure.dataset.ready; i++) await pause();
  await pause();
JS
        printf '%s\n' "$script"
        cat <<'JS'
  return told;
})().catch(e => [e.stack]).then(told => {
  const out = document.createElement('pre');
  out.id = 'told';
  out.textContent = told.join('\n');
  document.body.replaceChildren(out);
});
</script>
JS
    } >asked.html
    browse asked.html --window-size=1000,1400 --dump-dom "${@:2}" 2>browser.log |
        sed -n '/<pre id="told">/,/<\/pre>/p' | sed 's/.*<pre id="told">//; s/<\/pre>.*//; s/&lt;/</g'
}

# ink NAME: prints how many pixels of points were seen.
ink() {
    sed -nE "/^ \"$1\": \{/,/\}/s/.*\"count\": ([0-9]+).*/\1/p" seen.json
}

# check_tips FILE.csv: "row, label, component 1, component 2" of what was pointed at agrees.
check_tips() {
    sed -nE 's/.*"told": "row ([0-9,]+); label: ([^;]*);.* component 1: ([^;]*); component 2: ([^;"]*)".*/\1|\2|\3|\4/p' seen.json |
        sed 's/−/-/g' >told
    [ "$(wc -l <told)" -gt 20 ]
    awk -F'[,|]' 'NR == FNR {x[NR - 1] = $1; y[NR - 1] = $2; label[NR - 1] = $3; next}
        {
            n = split($0, part, "|"); gsub(",", "", part[1]); row = part[1] + 0
            if (label[row] != part[2] || (x[row] - part[3]) ^ 2 > 1e-5 || (y[row] - part[4]) ^ 2 > 1e-5) {
                print "row " row ": " $0 ", not " x[row], y[row], label[row]; bad = 1
            }
        } END {exit bad}' "$1" told
}

@test "few points: each is what it says" {
    table 300 64 | awk -F, '{for (j = 1; j <= 64; j++) printf "%d,", $j * 255; print "c" NR % 4}' >t.csv
    nystream import s t.csv --label-column 65 --dtype u8 -q
    nystream fit s a --landmarks 40 --components 3 --certify -q
    nystream eval s a --measures clusters -q >/dev/null
    nystream report s -o page.html
    probed page.html
    nystream export s a -o y.csv
    awk -F, 'NR == FNR {label[NR] = $65; next} {print $1 "," $2 "," label[FNR]}' t.csv y.csv >wanted.csv
    check_tips wanted.csv
    # an image is that of its row
    row=$(sed -nE 's/.*"told": "row ([0-9]+);.*/\1/p' seen.json | head -n 1)
    image=$(sed -nE 's/.*"image": "([0-9 ]+)".*/\1/p' seen.json | head -n 1)
    [ "$image" = "$(sed -n $((row + 1))p t.csv | cut -d, -f1-64 | tr , ' ')" ]
    grep -q '"left": true' seen.json
    [ "$(ink first)" -gt 2000 ]
    [ "$(ink zoomed)" -gt 0 ]
    [ "$(ink zoomed)" -ne "$(ink first)" ]
    [ "$(ink moved)" -ne "$(ink zoomed)" ]
    [ "$(ink whole)" -eq "$(ink first)" ]
    [ "$(ink keys)" -ne "$(ink first)" ]
    [ "$(ink again)" -eq "$(ink first)" ]
    [ "$(ink without)" -lt $(($(ink first) * 9 / 10)) ]
    [ "$(ink turned)" -gt 2000 ]
    [ "$(grep -cE '^  "c[0-3]",?$' seen.json)" -eq 4 ]
    for tint in density label cluster residual 'component 3'; do grep -qE "\"$tint\"" seen.json; done
}

@test "many points, on a phone and in the dark" {
    table 30000 3 | awk -F, '{print $0 "," int($1 * 12)}' >t.csv
    nystream import s t.csv --label-column 4 -q
    nystream fit s a --landmarks 60 --components 4 -q
    nystream export s a -o y.csv
    awk -F, 'NR == FNR {label[NR] = $4; next} {print $1 "," $2 "," label[FNR]}' t.csv y.csv >wanted.csv
    nystream report s -o page.html
    for options in "--window-size=1000,1400" "--window-size=390,800" "--blink-settings=preferredColorScheme=0"; do
        probed page.html "$options"
        check_tips wanted.csv
        [ "$(ink first)" -gt 5000 ]
        [ "$(ink whole)" -eq "$(ink first)" ]
        [ "$(ink without)" -lt "$(ink first)" ]
        grep -q '"11"' seen.json
        # the first pair of components has an image of all points
        [ "$(sed -n '/"pairs": \[/,/\]/p' seen.json | grep -cE '^  [0-9]{3,}')" -eq 1 ]
    done
}

@test "a path over the points, and its rows as images" {
    table 300 64 | awk -F, '{$1 += NR / 20; print}' OFS=, >t.csv
    nystream import s t.csv -q
    nystream fit s i --map isomap --neighbors 5 --landmarks 40 -q
    nystream report s -o page.html --path 3,290
    probed page.html
    grep -q '"hasPath": true' seen.json
    grep -q '"pathDrawn": true' seen.json
    grep -q "\"strip\": \"$(nystream path s i --from 3 --to 290 | cut -f1 | paste -sd' ')\"" seen.json
    nystream report s -o page.html
    probed page.html
    grep -q '"hasPath": false' seen.json
    grep -q '"pathDrawn": false' seen.json
}

@test "labels that are scripts are words" {
    table 60 3 | awk -F, '{print $0 ",\"</script><script>errors.push(1)</script><img src=x onerror=errors.push(2)>" NR % 2 "\""}' >t.csv
    nystream import s t.csv --label-column 4 -q
    nystream fit s a --landmarks 20 -q
    nystream report s -o page.html --title '<script>errors.push(3)</script>'
    probed page.html
    grep -q 'told.*label: &lt;/script&gt;&lt;script&gt;' seen.json
}

@test "one component, one value, several results" {
    printf '1,2\n1,2\n1,2\n3,2\n' >t.csv
    nystream import s t.csv -q
    nystream fit s a --map pca --approx exact -q
    nystream fit s b --components 1 --landmarks 2 -q
    nystream report s a b -o page.html
    probed page.html
    nystream report s b a -o page.html
    probed page.html
}

@test "map, spectrum, certificate and cost are on the first screen, in true proportions" {
    table 2500 8 | awk -F, '{$1 *= 4; print $0 ",c" NR % 12}' OFS=, >t.csv
    nystream import s t.csv --label-column 9 -q
    nystream fit s kpca --landmarks 300 --components 10 --certify -q
    nystream fit s pca --map pca --approx exact --components 3 -q
    for name in kpca pca; do
        nystream report s $name -o page.html
        for size in 1200,900 1400,900 1920,1080; do
            probed page.html --window-size=$size
            grep -q '"below": \[\]' seen.json
            grep -q '"sideways": false' seen.json
            grep -q '"broken": 0' seen.json
        done
    done
    # pca: a step across is as long as the same step upwards
    sed -nE 's/.*"scales": "([^,]*),([^"]*)".*/\1 \2/p' seen.json |
        awk '{ok = $1 > 0 && $1 / $2 < 1.01 && $1 / $2 > .99} END {exit !ok}'
    probed page.html --window-size=400,800
    grep -q '"sideways": false' seen.json
    grep -q '"broken": 0' seen.json
}

@test "in the dark, each colour stands out from the paper" {
    table 3000 4 | awk -F, '{print $0 ",c" NR % 11}' >t.csv
    page_of t "--label-column 5" --landmarks 60 --components 3
    probed page.html --blink-settings=preferredColorScheme=0
    grep -q '"dark": true' seen.json
    sed -nE 's/.*"contrast": ([0-9.]+).*/\1/p' seen.json | awk '{print; ok = $1 >= 3} END {exit !ok}'
}

@test "printed, all of it is there" {
    command -v chromium >/dev/null || skip "no chromium"
    table 300 3 >t.csv
    page_of t "" --landmarks 20
    browse page.html --print-to-pdf=page.pdf --no-pdf-header-footer 2>browser.log
    head -c 5 page.pdf | grep -q '%PDF-'
    [ "$(stat -c %s page.pdf)" -gt 10000 ]
}

@test "points outside the axes, and points without a place, are told; the whole has all that have one" {
    table 3000 3 | awk -F, 'NR == 6 {$1 = 1e6} NR == 8 {$2 = -3e5} 1' OFS=, >t.csv
    page_of t "" --map pca --landmarks 3
    asked page.html >told <<'JS'
  told.push(caption());
  await press('whole');
  told.push(caption());
  await press('whole');
  told.push(caption());
  canvas.dispatchEvent(new MouseEvent('dblclick'));
  await pause();
  told.push(caption());
  await press('in');
  await key('0');
  told.push(caption());
JS
    cat told
    out='All 3,000 points; 2 outside the axes' all='All 3,000 points'
    [ "$(cat told)" = "$(printf '%s\n' "$out" "$all" "$out" "$all" "$all")" ]
    # a row that no landmark reaches has no place; of many rows the image knows all
    { table 300 3; printf '%d,0,0\n' 10000 -10000; } >u.csv
    nystream import u u.csv -q
    nystream fit u i --map laplacian --gamma 1 --landmarks 20 --select uniform -q
    nystream report u i -o page.html
    asked page.html >told <<<'told.push(caption());'
    cat told
    grep -qx 'All 302 points; 2 without a place' told
    table 20000 3 | awk -F, 'NR % 5000 == 6 {$1 = 1e6} 1' OFS=, >m.csv
    page_of m "" --map pca --landmarks 3
    asked page.html >told <<<'told.push(caption());'
    cat told
    grep -qx '6,000 of 20,000 points can be pointed at; the image behind them counts all; 4 outside the axes' told
}

@test "a map in true proportions is not the smaller for each change of the window" {
    table 300 3 >t.csv
    page_of t "" --map pca --approx exact
    asked page.html >told <<'JS'
  const shaped = async shape => {
    canvas.style.aspectRatio = shape;
    await new Promise(requestAnimationFrame);
    await pause();
    return canvas.dataset.scales;
  };
  const before = canvas.dataset.scales;
  told.push(await shaped('3') !== before);
  await shaped('1');
  told.push(await shaped('') === before);
  await press('in');
  const near = canvas.dataset.scales;
  await shaped('3');
  told.push(near !== before, await shaped('') === near);
JS
    cat told
    [ "$(sort -u told)" = true ]
}

@test "keys with Ctrl, Alt and Meta are left to the browser" {
    table 300 3 >t.csv
    page_of t "" --map pca --approx exact
    asked page.html >told <<'JS'
  const taken = async (name, more) => {
    const event = new KeyboardEvent('keydown', { key: name, cancelable: true, ...more }), before = canvas.dataset.scales;
    canvas.dispatchEvent(event);
    await pause();
    told.push([event.defaultPrevented, canvas.dataset.scales !== before].join());
  };
  await taken('+', { ctrlKey: true });
  await taken('-', { metaKey: true });
  await taken('0', { ctrlKey: true });
  await taken('ArrowLeft', { altKey: true });
  await taken('+');
JS
    cat told
    [ "$(paste -sd' ' told)" = "false,false false,false false,false false,false true,true" ]
}

@test "numbers beside the axes have the digits of their step, and powers of ten only where they must" {
    awk 'BEGIN {for (i = 0; i < 120000; i++) print i % 997 "," 1e9 * (i % 991)}' >t.csv
    page_of t "" --map pca --approx exact
    asked page.html >told <<'JS'
  const drawn = [];
  CanvasRenderingContext2D.prototype.fillText = function (text) { drawn.push([this.textAlign, text]); };
  const numbers = align => drawn.filter(d => d[0] === align && /^[-−0-9.,e]+$/.test(d[1])).map(d => d[1]);
  const differ = list => new Set(list).size === list.length && !list.join().includes('-');
  await choose('across', 'row');
  drawn.length = 0;
  await choose('upwards', 'component 1');
  told.push(numbers('center').join(' '), numbers('right').join(' '));
  for (let k = 0; k < 25; k++) {
    drawn.length = 0;
    await press('in');
    told.push(differ(numbers('center')) && differ(numbers('right')));
  }
JS
    cat told
    head -n 1 told | grep -qx '0 10,000 20,000 .* 100,000 110,000 120,000'
    sed -n 2p told | grep -qE '^−[1-9](\.[0-9])?e11 .* 0(\.0)? .* [1-9](\.[0-9])?e11$'
    [ "$(grep -cx true told)" -eq 25 ]
}

@test "a scale names values that rows have" {
    awk 'BEGIN {for (i = 0; i < 2000; i++) print cos(i) "," sin(2 * i) "," (i == 1999 ? 1e6 : i / 8)}' >t.csv
    page_of t "--label-column 3" --map pca --approx exact
    asked page.html >told <<'JS'
  await choose('tint', 'label');
  told.push(figure.querySelector('.key').textContent);
JS
    cat told
    grep -qE '^0[0-9.]+ or more$' told
    [ "$(sed -E 's,^0|[.].*,,g' told)" -le 400 ]
    awk 'BEGIN {for (i = 0; i < 200; i++) print cos(i) "," sin(2 * i) "," (i % 4 ? i / 8 : "")}' >u.csv
    page_of u "--label-column 3" --map pca --approx exact
    asked page.html >told <<'JS'
  await choose('tint', 'label');
  told.push(entries(), figure.querySelector('.key button').title);
JS
    [ "$(paste -sd' ' told)" = "none 50 rows" ]
    # of many rows it knows the values of those alone that can be pointed at
    awk 'BEGIN {for (i = 0; i < 20000; i++) print cos(i) "," sin(2 * i) "," (i % 4 ? i / 8 : "")}' >m.csv
    page_of m "--label-column 3" --map pca --approx exact
    asked page.html >told <<'JS'
  await choose('tint', 'label');
  told.push(figure.querySelector('.key button').title);
JS
    grep -qE '^1,[0-9]{3} rows of those that can be pointed at$' told
}

@test "points without a label are in the key, and can be hidden" {
    table 300 3 | awk -F, '{print $0 "," (NR % 3 ? "" : "c" NR % 2)}' >t.csv
    page_of t "--label-column 4" --landmarks 20
    asked page.html >told <<'JS'
  const shown = () => [...canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data].join();
  told.push(entries());
  const before = shown(), none = figure.querySelectorAll('.key button')[2];
  none.click();
  await pause();
  told.push(none.title, shown() !== before, document.activeElement.textContent, document.activeElement.ariaPressed);
  document.activeElement.click();
  await pause();
  told.push(shown() === before);
JS
    cat told
    [ "$(paste -sd' ' told)" = "c1,c0,others 200 rows true others false true" ]
}
