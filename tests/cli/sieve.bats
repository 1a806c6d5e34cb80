# Graphs of neighbours that a sieve of codes finds.
load helper

# cloud FILE ROWS COLUMNS: numbers around a sheet of 3 dimensions in so many columns, u8, each row
# the last one twice.
cloud() {
    awk -v n="$2" -v d="$3" 'BEGIN {
        srand(11)
        for (i = 0; i < n; i++) {
            if (i % 100 != 99) { u = rand(); v = rand(); w = rand() }
            line = ""
            for (k = 0; k < d; k++)
                line = line int(128 + 40 * (sin(k + 3 * u) + cos(2 * k + v) + sin(k * w))) (k + 1 < d ? "," : "")
            print line
        }
    }' >"$1"
}

# share EXACT OTHER: the share of the neighbours of OTHER that are no farther than the last true one.
share() {
    nystream export s "$1" --part distances -o a.csv -q
    nystream export s "$2" --part distances -o b.csv -q
    paste -d, a.csv b.csv | awk -F, '{
        t = NF / 2
        for (k = 1; k <= t; k++) found += $(t + k) <= $t
    } END { printf "%.6f\n", found / (NR * t) }'
}

@test "a sieve for all neighbours has the bytes of all pairs" {
    cloud rows.csv 3000 24
    nystream import s rows.csv -q
    for metric in euclidean cosine; do
        nystream graph s pairs --neighbors 7 --metric $metric --knn exact --restart -q
        nystream graph s all --neighbors 7 --metric $metric --knn sieve --recall 1 --restart --json -q >all.json
        same_lists pairs all
    done
    output=$(<all.json)
    fields recall=1.0 recall_interval=null knn=sieve trees=null
    shows "search                sieve" info s all
}

# Directions that differ in the last bits of an f32 alone, in columns that round a cosine a lot.
# bats file_tags=slow
@test "where codes tell little, all points that may be near are looked at to the last" {
    table 1000 1000 | nystream import s - --format csv -q
    nystream graph s exact --neighbors 200 --knn exact -q
    nystream graph s sieve --neighbors 200 --knn sieve --recall 1 -q
    same_lists exact sieve
}

@test "a sieve finds all neighbours by cosines of thousands of columns" {
    awk 'BEGIN {
        srand(3)
        for (i = 0; i < 400; i++) {
            if (i % 20 == 0) for (k = 0; k < 6000; k++) base[k] = rand() - rand()
            noise = 10 ^ -(3 + i % 6)
            size = 0.1 + 9 * rand()
            for (k = 0; k < 6000; k++)
                printf "%.9g%s", size * (base[k] + noise * (rand() - 0.5)), k < 5999 ? "," : "\n"
        }
    }' >rows.csv
    nystream import s rows.csv -q
    for t in 5 30; do
        nystream graph s pairs --neighbors $t --metric cosine --knn exact --restart -q
        nystream graph s all --neighbors $t --metric cosine --knn sieve --recall 1 --restart -q
        same_exports "s pairs --part neighbors" "s all --part neighbors"
    done
}

@test "a sieve finds the share that it is asked for, and no row is its own neighbour" {
    cloud rows.csv 5000 30
    nystream import s rows.csv -q
    nystream graph s pairs --neighbors 6 --knn exact -q
    for wanted in 0.6 0.9; do
        nystream graph s near --neighbors 6 --knn sieve --recall $wanted --json --restart -q >near.json
        awk -v wanted=$wanted -v told="$(field "$(<near.json)" recall)" -v found="$(share pairs near)" 'BEGIN {
            exit !(found >= wanted - 0.01 && found - told < 0.03 && told - found < 0.03 && told >= wanted)
        }'
    done
    nystream export s near --part neighbors -o near.csv -q
    awk -F, '{ for (k = 1; k <= NF; k++) if ($k == NR - 1) exit 1 }' near.csv
    ny graph s near --neighbors 6 --knn sieve --recall 0.9
    says "is done"
    ny graph s told --neighbors 6 --knn sieve --recall 0.9
    says "recall"
    nystream transform s near --input rows.csv -o o.npy --json >new.json # its recall, not all
    output=$(<new.json)
    fields knn=sieve recall_rows=256
}

# sparse FILE ROWS SEED: numbers in some of 60 columns, those of a row near to those of others.
sparse() {
    awk -v n="$2" -v seed="$3" 'BEGIN {
        srand(seed)
        for (i = 0; i < n; i++) {
            u = int(60 * rand())
            line = 0
            for (k = 0; k < 60; k++)
                if ((k + 60 - u) % 60 < 6 && rand() < 0.8) line = line " " k + 1 ":" int(1 + 9 * rand())
            print line
        }
    }' >"$1"
}

@test "sparse rows go through a sieve, with any threads and any budget" {
    sparse rows.svm 7000 3
    nystream import s rows.svm --layout sparse --dims 60 -q
    for metric in euclidean cosine; do
        nystream graph s pairs --neighbors 6 --metric $metric --knn exact --restart -q
        nystream graph s all --neighbors 6 --metric $metric --knn sieve --recall 1 --restart -q
        same_lists pairs all
        nystream graph s near --neighbors 6 --metric $metric --knn sieve --threads 1 --restart --json -q >near.json
        awk -v told="$(field "$(<near.json)" recall)" -v found="$(share pairs near)" 'BEGIN {
            exit !(found >= 0.94 && found - told < 0.03 && told - found < 0.03)
        }'
        too_little graph s small --neighbors 6 --metric $metric --knn sieve --memory 16M --restart
        nystream graph s small --neighbors 6 --metric $metric --knn sieve --memory "$least" --threads 2 --restart -q
        same_lists near small
    done
}

# bats file_tags=
@test "few rows, equal rows and few columns go through a sieve" {
    printf '%s\n' x 0 1 2 3 4 >line.csv
    nystream import s line.csv -q
    nystream graph s pairs --neighbors 4 --knn exact -q
    nystream graph s all --neighbors 4 --knn sieve -q
    same_lists pairs all
    rm -r s
    awk 'BEGIN { for (i = 0; i < 3000; i++) print i % 3 "," 5 }' >equal.csv
    nystream import s equal.csv -q
    nystream graph s pairs --neighbors 5 --knn exact -q
    nystream graph s all --neighbors 5 --knn sieve --recall 1 -q
    same_lists pairs all
}

@test "what a sieve is not made of" {
    store s 300 3
    usage "--recall is a share" graph s g --knn sieve --recall 1.5
    ny -2 graph s g --knn sieve --seed 1
    usage "--neighbors 300 needs more rows than 300" graph s g --knn sieve --neighbors 300
    nystream graph s g -q
    usage "knn: exact → sieve" graph s g --knn sieve
}

# bats file_tags=slow
@test "a sieve has the same bytes for any threads and any budget, down to the least of its plan" {
    cloud rows.csv 9000 20
    nystream import s rows.csv -q
    nystream graph s a --neighbors 6 --knn sieve --threads 1 -q
    nystream graph s b --neighbors 6 --knn sieve --threads 3 -q
    too_little graph s c --neighbors 6 --knn sieve --memory 16M
    ny -8 graph s c --neighbors 6 --knn sieve --memory "$((least - 1))"
    ny -0 graph s c --neighbors 6 --knn sieve --memory "$least"
    for name in b c; do same_lists a $name; done
}

# taken NAME OPTION…: the way that --knn auto takes to 0.9 of the neighbours, in a graph of this name.
taken() {
    nystream graph s "$1" --neighbors 6 --recall 0.9 "${@:2}" --restart --json -q >taken.json
    field "$(<taken.json)" knn
}

# Neither boxes nor codes tell anything of noise; a plane suits boxes.
@test "auto with a recall takes the way that is the least work, and has the bytes of that way" {
    awk 'BEGIN {
        srand(5)
        for (i = 0; i < 9000; i++) {
            u = rand()
            v = rand()
            for (k = 0; k < 120; k++) printf "%.7g%s", k * (k % 2 ? u : v), k < 119 ? "," : "\n"
        }
    }' >plane.csv
    nystream import s plane.csv -q
    [ "$(taken auto)" = tree ]
    nystream graph s way --neighbors 6 --knn exact -q
    same_lists auto way
    rm -r s
    cloud rows.csv 16000 120
    nystream import s rows.csv -q
    for metric in euclidean cosine; do
        [ "$(taken auto --metric $metric)" = sieve ]
        nystream graph s way --neighbors 6 --metric $metric --knn sieve --recall 0.9 --restart -q
        same_lists auto way
    done
    [ "$(taken auto --recall 1)" = exact ]
    rm -r s
    npy_u8 20000 120 >noise.npy
    nystream import s noise.npy -q
    [ "$(taken auto)" = exact ]
    ny plan s --map isomap --recall 0.9
    prints "search                sieve; tree or exact if a few rows show that this is less work"
    rm -r s
    npy_u8 30000 8 >few_columns.npy
    nystream import s few_columns.npy -q
    [ "$(taken auto --metric cosine)" = sieve ]
}

@test "auto with a recall has the same bytes for any threads and any budget, and goes on" {
    cloud rows.csv 16000 120
    nystream import s rows.csv -q
    [ "$(taken a --metric cosine --threads 1)" = sieve ]
    [ "$(taken b --metric cosine --threads 3)" = sieve ]
    too_little graph s c --neighbors 6 --recall 0.9 --metric cosine --memory 16M
    ny -8 graph s c --neighbors 6 --recall 0.9 --metric cosine --memory "$((least - 1))"
    [ "$(taken c --metric cosine --memory "$least")" = sieve ]
    for name in b c; do same_lists a $name; done
    answers 0 "is done" graph s a --neighbors 6 --recall 0.9 --metric cosine
    usage "recall: 0.9 → 0.8" graph s a --neighbors 6 --recall 0.8 --metric cosine
    usage "recall: 0.9 → unset)" graph s a --neighbors 6 --metric cosine
    ny graph s d --neighbors 6 --recall 1 --metric cosine -q
    answers 0 "is done" graph s d --neighbors 6 --knn exact --metric cosine
    usage --recall graph s a --neighbors 6 --recall 1.5
}

# With a list of two, and a row in its own, half of each list would be found for nothing.
# bats file_tags=
@test "a row that finds itself is no neighbour that was found" {
    # Codes tell little of noise; the same each time, as the recall told is of 256 rows.
    awk 'BEGIN { srand(11); for (i = 0; i < 1200000; i++) printf "%d%s", 256 * rand(), i % 300 == 299 ? "\n" : "," }' >rows.csv
    nystream import s rows.csv --dtype u8 -q
    nystream graph s pairs --neighbors 1 --knn exact -q
    nystream graph s near --neighbors 1 --knn sieve --recall 0.6 --json -q >near.json
    awk -v told="$(field "$(<near.json)" recall)" -v found="$(share pairs near)" 'BEGIN {
        exit !(told >= 0.6 && found >= 0.57 && found - told < 0.06 && told - found < 0.06)
    }'
}

# bats test_tags=slow
@test "a sieve that is killed goes on, with the bytes and the recall of one that is not" {
    local runs=0 status
    cloud rows.csv 40000 12 # three lots
    nystream import s rows.csv -q
    nystream graph s whole --neighbors 6 --knn sieve --json -q >whole.json
    until nystream graph s cut --neighbors 6 --knn sieve --json -q --threads 1 >cut.json & wait_some; do
        runs=$((runs + 1))
        [ $runs -lt 200 ]
    done
    [ $runs -gt 2 ]
    same_lists whole cut
    grep -A 3 '"recall_interval": \[' whole.json >interval # in lines of their own
    grep -A 3 '"recall_interval": \[' cut.json | diff interval -
    [ "$(field "$(<whole.json)" recall)" = "$(field "$(<cut.json)" recall)" ]
}

# Waits a while for the last command, longer each time, and kills it if it is not done.
wait_some() {
    local pid=$! i
    for ((i = 0; i <= runs; i++)); do
        sleep 0.05
        kill -0 $pid 2>/dev/null || break
    done
    kill -9 $pid 2>/dev/null || true
    wait $pid
}
