# Traps of others — links in shared folders, hostile stores — lead neither to a write elsewhere nor
# to a command that hangs; and the binaries are hardened.
load helper

# A store with a result, and what an attacker would have written to.
setup_file() {
    load helper
    cd "$BATS_FILE_TMPDIR" || return
    store s 40
    nystream fit s r --landmarks 5 -q
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache NO_COLOR=1 LC_ALL=C
    cp -r "$BATS_FILE_TMPDIR/s" .
    mkdir victim
    echo precious >victim/file
    cp s/points/data.mdb victim
    stamp=$(cksum victim/*)
}

unharmed() {
    [ "$(cksum victim/*)" = "$stamp" ] && return
    echo "the victim is now:" >&2
    ls -la victim >&2
    return 1
}

@test "an output replaces a link, and what the link leads to stays" {
    table 10 4 >p.csv
    local command
    for command in "export s r -o out.csv" "export s r --part model -o out.nym" \
        "transform s r --input p.csv -o out.csv" "embed p.csv -q -o out.csv"; do
        ln -sf victim/file ${command##* }
        nystream $command
        [ ! -L ${command##* } ]
        [ -s ${command##* } ]
    done
    ln -s "$PWD/victim/none" new.csv
    nystream export s r -o new.csv
    [ ! -L new.csv ]
    unharmed
}

@test "the temporary store of embed is its user's alone, and is gone afterwards" {
    mkdir shared
    mkfifo pipe
    exec 7<>pipe
    table 100 3 >&7
    nystream embed - --format csv -o out.csv --tmpdir shared -q <pipe 7>&- &
    local pid=$! tries=0
    until [ -n "$(ls -A shared)" ] || [ $((tries += 1)) -gt 100 ]; do sleep 0.05; done
    run stat -c %a shared/.nystream-*
    exec 7>&-
    wait $pid
    [ "$output" = 700 ]
    [ -z "$(ls -A shared)" ]
    [ "$(wc -l <out.csv)" -eq 100 ]
}

@test "a store whose folder of locks is a link is refused" {
    rm -rf s/locks
    ln -s ../victim s/locks
    local line
    table 10 4 >p.csv
    while read -r line; do
        ny $line
        exits 5
        says "s/locks is not a plain directory"
    done <<'END'
fit s b --landmarks 5
import s p.csv --append
rm s r
END
    ny info s
    exits 0
    unharmed
}

@test "locks that are links or pipes" {
    mkdir -p s/locks
    ln -sf ../../victim/file s/locks/points.lock
    ln -sf ../../victim/file s/locks/name-b.lock
    ln -sf ../../victim/none s/locks/commit.lock
    table 10 4 >p.csv
    ny import s p.csv --append
    exits 4
    ny fit s b --landmarks 5
    exits 4
    ny rm s r
    exits 4
    unharmed
    mkfifo s/locks/name-r.lock
    run timeout 20 nystream list s
    [ "$status" -eq 0 ]
    run timeout 20 nystream info s r
    [ "$status" -eq 0 ]
}

@test "a store that is not finished and holds a link is refused" {
    rm -r s/results
    ln -s ../victim s/results.new
    table 10 4 >p.csv
    ny import s p.csv --append
    exits 5
    says "results.new is not a plain directory"
    unharmed
    rm -r s/points s/results.new
    ln -s ../victim s/points.new
    ny import s p.csv
    exits 5
    says "points.new is not a plain directory"
    unharmed
    mkdir t
    ln -s ../victim t/points
    ny import t p.csv
    exits 5
    unharmed
}

# bats test_tags=slow
@test "the measurements of the machine replace a link in the cache folder" {
    mkdir -p cache/nystream
    ln -s "$PWD/victim/file" cache/nystream/calibration.json
    ny bench -q
    exits 0
    [ ! -L cache/nystream/calibration.json ]
    [ "$(ls -A cache/nystream)" = calibration.json ]
    unharmed
    echo '[1, 2]' >cache/nystream/calibration.json
    ny plan s --json
    exits 0
}

@test "a cache folder that cannot be is no failure, and no other folder is written" {
    mkdir empty
    cd empty
    local long
    long=/$(printf 'x%.0s' {1..1100})
    for XDG_CACHE_HOME in relative "$long" /dev/null ""; do
        HOME=relative ny plan ../s --json
        exits 0
    done
    [ -z "$(ls -A)" ]
}

@test "control characters and broken UTF-8 reach neither a terminal nor JSON" {
    local name=$'a\xc2\x9b2Jb\xe0\x80\x80c\xed\xa0\x80d\xf0\x80\x80\x80e\x9bf\x7fg\xc3\xa9' words
    ny info "$name"
    exits 4
    says "a?2Jb???c???d????e?f?g"$'\xc3\xa9'
    ny info "$name" --json
    exits 4
    words=$(/usr/bin/python3 -c 'import json, sys; print(ascii(json.loads(sys.stdin.buffer.read().decode())["error"]["file"]))' \
        <<<"$stderr")
    [ "$words" = "'a\\x9b2Jb???c???d????e?f\\x7fg\\xe9'" ]
    [[ $stderr != *$'\xc2\x9b'* ]]
}

@test "the binaries are hardened" {
    [ -z "${NYSTREAM_SANITIZER-}" ] || skip "sanitizers have flags of their own"
    command -v readelf >/dev/null || skip "readelf is not installed"
    local file header
    for file in "$NYSTREAM_BUILD/nystream" "$NYSTREAM_BUILD/libnystream.so"; do
        header=$(readelf -hldW "$file")
        [[ $header =~ Type:\ +DYN ]]
        [[ $header =~ GNU_RELRO ]]
        [[ $header =~ GNU_STACK[\ 0-9a-fx]+RW\ + ]]
        [[ $header =~ NOW ]]
        [[ $header != *RPATH* && $header != *RUNPATH* && $header != *TEXTREL* ]]
        readelf -sW --dyn-syms "$file" | grep -q '__stack_chk_fail'
        readelf -sW --dyn-syms "$file" | grep -qE '__(memcpy|snprintf|read|strcpy)_chk'
    done
    [[ $(readelf -hdW "$NYSTREAM_BUILD/nystream") =~ PIE ]]
    [ "$(uname -m)" = x86_64 ] || return 0
    readelf -nW "$NYSTREAM_BUILD/base/memory.o" | grep -q 'IBT, SHSTK'
}
