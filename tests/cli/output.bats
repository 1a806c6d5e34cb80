# Tests where messages and data go, and what happens when they cannot go there.
load helper

@test "a closed or full standard output is exit 4" {
    store s
    run -4 bash -c 'nystream info s >&- 2>err'
    grep -q "cannot write to the standard output" err
    [ -w /dev/full ] || skip "no /dev/full"
    run -4 bash -c 'nystream info s >/dev/full 2>err'
    grep -q "No space left" err
    run -4 bash -c 'nystream info s --json >/dev/full 2>err'
    grep -q '"code":4' err
}

@test "a pipe that nobody reads is exit 4, without a word" {
    mkfifo pipe
    run -4 bash -c 'exec 3<>pipe; exec 4>pipe 3<&-; nystream help --man >&4 2>err'
    [ ! -s err ]
    store s
    run -4 bash -c 'exec 3<>pipe; exec 4>pipe 3<&-; nystream info s --json >&4 2>err'
    grep -q "Broken pipe" err # a program reads these
}

@test "export to a closed standard output is exit 4" {
    store s
    nystream fit s a --landmarks 20 -q
    run -4 bash -c 'nystream export s a -o - >&- 2>err'
    [ -s err ]
}

@test "a closed standard error harms nothing" {
    table 100 3 >t.csv
    run -0 bash -c 'nystream import s t.csv 2>&-'
    run -0 bash -c 'nystream fit s a --landmarks 10 2>&- >&-'
    ny -0 verify s
}

# A pipe of packets gives each write() apart; lines of several processes (mpirun) are mixed up by write().
@test "each line of words is written at once" {
    run python3 -c 'import os, subprocess
read, write = os.pipe2(os.O_DIRECT)
ended = subprocess.run(["nystream", "embed", "data.csv"], stderr=write, timeout=20)
os.close(write)
writes = list(iter(lambda: os.read(read, 65536), b""))
assert ended.returncode == 2 and writes[0].startswith(b"nystream: embed needs -o"), writes
assert len(writes) > 1 and all(text.count(b"\n") == 1 and text.endswith(b"\n") for text in writes), writes'
    [ "$status" -eq 0 ]
}

@test "errors as one JSON object with file and line" {
    printf '1,2\n3,4\n5,x\n' >bad.csv
    ny -3 import s bad.csv --json
    [ "${#stderr_lines[@]}" -eq 1 ]
    has_keys "$stderr" error code kind message file line
    [ "$(field "$stderr" code)" = 3 ]
    [ "$(field "$stderr" kind)" = bad-input ]
    [ "$(field "$stderr" file)" = bad.csv ]
    [ "$(field "$stderr" line)" = 3 ]
    [ -z "$output" ]
    ny -4 info 'no "such" store' --json
    [[ $stderr == *'no \"such\" store'* ]]
}

@test "progress is a line each ten seconds on a pipe, and none when quiet" {
    store s
    ny -0 fit s a --landmarks 20
    [[ $stderr != *$'\r'* ]]
    need_terminal
    TERM=xterm run -0 script -qec "nystream fit s b --landmarks 20" typescript </dev/null
    [[ $output == *$'\r'*"%"* ]]
    [[ $output != *$'\033['* ]]
    TERM=xterm run script -qec "nystream fit s c --landmarks 20 --quiet" typescript </dev/null
    [ -z "$output" ]
}

@test "a plan does not begin on the line of progress" {
    need_terminal
    table 300 3 >t.csv
    TERM=xterm run -0 script -qec "nystream embed t.csv -o out.npy --landmarks 20" typescript </dev/null
    [[ $output == *$'\r'import* ]]
    [[ $output == *$'\rnystream: plan: '* ]]
}

@test "with --json no words are on the standard error" {
    store s
    nystream fit s a --landmarks 20 -q
    ny -0 rm s a --json --verbose
    [ -z "$stderr" ]
}

@test "with --json, verbs without another report name what they wrote or removed" {
    store s
    nystream fit s a --landmarks 20 -q
    ny -0 export s a -o a.npy --json
    [ "$output" = "{\"file\": \"a.npy\", \"bytes\": $(stat -c %s a.npy), \"rows\": 300, \"columns\": 2, \"type\": \"float32\"}" ]
    ny -0 plot s a -o a.png --json
    [ "$output" = "{\"file\": \"a.png\", \"bytes\": $(stat -c %s a.png), \"rows\": null, \"columns\": null, \"type\": null}" ]
    [ -z "$stderr" ]
    nystream export s a -o - --json | cmp - a.npy # nothing is mixed into the data
    nystream fit s b --landmarks 20 -q
    ny -0 rm s a b --json
    [ "$output" = '{"removed": ["a", "b"]}' ]
    ny -2 rm s a --json
    [ -z "$output" ]
}

@test "a path as long as a path may be is told whole, with what to do" {
    local folder=$(printf 'x%.0s' {1..199}) path=/nowhere
    while [ ${#path} -lt 3800 ]; do path+=/$folder; done
    ny -4 info "$path" --json
    [[ $stderr == *"there is no store $path; "*"nystream import"* ]]
    ny -4 import new.nys "$path" --json
    [[ $stderr == *"\"file\":\"$path\""* ]]
}

# bats test_tags=slow
@test "a file beyond ulimit -f is exit 4 with a word, and leaves no temporary" {
    table 30000 8 >t.csv
    nystream import s t.csv -q
    nystream fit s a --landmarks 30 --components 10 -q
    mkdir out
    run -4 --separate-stderr bash -c 'ulimit -f 200; nystream export s a -o out/e.npy'
    says "File too large"
    [ -z "$(ls -A out)" ]
    run -4 --separate-stderr bash -c 'ulimit -f 200; nystream embed t.csv -o out/e.npy --landmarks 30'
    [ -z "$(ls -A out)" ]
    run -4 --separate-stderr bash -c 'ulimit -f 2000; nystream fit s b --landmarks 300 --components 100'
    says "the disk is full"
    nystream fit s b --landmarks 300 --components 100 -q
    ny -0 verify s
}

@test "an output keeps the rights of the file that it replaces" {
    store s
    nystream fit s a --landmarks 20 -q
    : >e.csv
    chmod 600 e.csv
    nystream export s a -o e.csv -q
    [ "$(stat -c %a e.csv)" = 600 ]
    [ -s e.csv ]
    chmod 664 e.csv
    (umask 077 && nystream export s a -o e.csv -q)
    [ "$(stat -c %a e.csv)" = 664 ]
    (umask 027 && nystream export s a -o f.csv -q)
    [ "$(stat -c %a f.csv)" = 640 ]
}

@test "an output that is killed leaves nothing in its folder" {
    case $(stat -f -c %T .) in
    tmpfs | ext* | xfs | btrfs) ;;
    *) skip "this file system may have no files without a name" ;;
    esac
    store s
    nystream fit s a --landmarks 20 -q
    mkdir out
    mkfifo pipe
    nystream transform s a --input pipe --format csv -o out/placed.csv -q &
    local pid=$!
    exec 7>pipe
    table 5000 4 >&7
    await '[[ $(readlink /proc/$pid/fd/*) == */out/* ]]' # it has begun its output
    [ -z "$(ls -A out)" ]
    kill -9 $pid
    wait $pid || true
    exec 7>&-
    [ -z "$(ls -A out)" ]
}
