# Traps of others — links in shared folders, hostile stores — lead neither to a write elsewhere nor
# to a command that hangs; and the binaries are hardened.
load helper

# A store with a result, and what an attacker would have written to.
setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    store s 40
    nystream fit s r --landmarks 5 -q
}

setup() {
    own_folder || return
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

@test "the temporary files of embed are its user's alone, and have no names" {
    mkdir shared
    mkfifo pipe
    exec 7<>pipe
    nystream embed - --format csv -o out.csv --tmpdir shared --memory 32M --landmarks 9 -q <pipe 7>&- &
    local pid=$! file
    table 300000 3 >&7
    await 'file=$(find /proc/$pid/fd -lname "*/shared/*" -print -quit) && [ -n "$file" ]'
    run stat -Lc %a "$file"
    [ -z "$(ls -A shared)" ]
    exec 7>&-
    wait $pid
    [ "$output" = 600 ]
    [ -z "$(ls -A shared)" ]
    [ "$(wc -l <out.csv)" -eq 300000 ]
}

@test "a store whose folder of locks is a link is refused" {
    rm -rf s/locks
    ln -s ../victim s/locks
    table 10 4 >p.csv
    while read -r line; do
        ny -5 $line
    done <<'END'
fit s b --landmarks 5
import s p.csv --append
rm s r
END
    ny -0 info s
    unharmed
}

@test "locks that are links or pipes" {
    mkdir -p s/locks
    ln -sf ../../victim/file s/locks/points.lock
    ln -sf ../../victim/file s/locks/name-b.lock
    ln -sf ../../victim/none s/locks/commit.lock
    table 10 4 >p.csv
    ny -4 import s p.csv --append
    ny -4 fit s b --landmarks 5
    ny -4 rm s r
    unharmed
    mkfifo s/locks/name-r.lock
    run -0 timeout 20 nystream list s
    run -0 timeout 20 nystream info s r
}

@test "a store that is not finished and holds a link is refused" {
    rm -r s/results
    ln -s ../victim s/results.new
    table 10 4 >p.csv
    ny -5 import s p.csv --append
    unharmed
    rm -r s/points s/results.new
    ln -s ../victim s/points.new
    ny -5 import s p.csv
    unharmed
    mkdir t
    ln -s ../victim t/points
    ny -5 import t p.csv
    unharmed
}

@test "control characters and broken UTF-8 reach neither a terminal nor JSON" {
    local name=$'a\xc2\x9b2Jb\xe0\x80\x80c\xed\xa0\x80d\xf0\x80\x80\x80e\x9bf\x7fg\xc3\xa9' words
    ny -4 info "$name"
    says "a?2Jb???c???d????e?f?g"$'\xc3\xa9'
    ny -4 info "$name" --json
    words=$(/usr/bin/python3 -c 'import json, sys; print(ascii(json.loads(sys.stdin.buffer.read().decode())["error"]["file"]))' \
        <<<"$stderr")
    [ "$words" = "'a\\x9b2Jb???c???d????e?f\\x7fg\\xe9'" ]
    [[ $stderr != *$'\xc2\x9b'* ]]
}

@test "the binaries are hardened" {
    [ -z "${NYSTREAM_SANITIZER-}" ] || skip "sanitizers have flags of their own"
    command -v readelf >/dev/null || skip "readelf is not installed"
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
