# fit --accuracy: as many landmarks as make every component right to a share.
load helper
brought=s

setup_file() {
    table 3000 12 | nystream import "$BATS_FILE_TMPDIR/s" - --format csv -q
}

# worst NAME: the largest error of its components.
worst() {
    nystream info s "$1" --json | awk '
        /"component_errors"/ { inside = 1; next }
        /]/ { inside = 0 }
        inside && $1 + 0 > most { most = $1 + 0 }
        END { print most }'
}

# landmarks NAME: how many it has.
landmarks() {
    field "$(nystream info s "$1" --json)" landmarks
}

@test "landmarks are added until all components are right, and no more than a third too many" {
    ny fit s exact --approx exact --components 4 --gamma 0.5 -q
    answers 0 "landmarks: components are right to" fit s a --accuracy 2% --components 4 --gamma 0.5
    awk -v e="$(worst a)" 'BEGIN {exit !(e > 0 && e <= 0.02)}'
    ny export s a --part errors -o errors.csv -q
    awk -F, -v e="$(worst a)" '$1 > most {most = $1} !($2 > 0 && $3 > $1) {bad = 1}
        END {exit !(NR == 4 && (most / e - 1) ^ 2 < 1e-9 && !bad)}' errors.csv
    m=$(landmarks a)
    ny fit s fewer --landmarks $((m * 10 / 13)) --check-rows 64 --components 4 --gamma 0.5 -q
    awk -v e="$(worst fewer)" 'BEGIN {exit !(e > 0.02)}'
    # Of all rows, by the exact components: each is within the angle that was asked for.
    ny eval s a --against exact --measures against
    prints "cosines of angles of a and exact by pairs: 1 0.99"
}

@test "0.02 is 2%, another share is another fit, and a fit that is done is done" {
    ny -0 fit s a --accuracy 2% --components 2 --gamma 0.5 -q
    answers 0 "done already" fit s a --accuracy 0.02 --components 2 --gamma 0.5
    ny -2 fit s a --accuracy 3% --components 2 --gamma 0.5
    ny -2 fit s b --accuracy 200% --gamma 0.5
    ny -2 fit s b --accuracy 2% --tolerance 0.1 --select greedy
}

# bats test_tags=slow
@test "a fit that is killed between two attempts, or in one, goes on to the same bytes" {
    ny fit s whole --accuracy 1% --components 4 --gamma 0.5 -q
    nystream export s whole -o whole.npy -q
    for at in 1 2 3; do
        nystream fit s killed --accuracy 1% --components 4 --gamma 0.5 --restart 2>err &
        until [ "$(grep -c 'nystream: plan' err)" -ge $at ] || ! kill -0 $! 2>/dev/null; do sleep 0.01; done
        kill -9 $! 2>/dev/null || true
        wait $! || true
        # A command without options goes on to the end, too, where there is a job.
        if [ "$at" = 3 ] && [ "$(field "$(nystream info s killed --json)" status)" = interrupted ]; then
            ny fit s killed
        fi
        ny -0 fit s killed --accuracy 1% --components 4 --gamma 0.5
        writes whole.npy "s killed"
    done
}

@test "--landmarks is the maximum, and memory ends the attempts; what was reached stays" {
    ny -0 fit s a --accuracy 0.1% --landmarks 150 --components 4 --gamma 0.5
    says "is not reached with 150 landmarks"
    [ "$(landmarks a)" = 150 ]
    ny -0 fit s b --accuracy 0.1% --components 4 --gamma 0.5 --memory 40M
    says "is not reached: this fit needs"
    [ "$(field "$(nystream info s b --json)" status)" = done ]
}

# bats test_tags=slow
@test "a plan foretells landmarks from a sample, and many rows are fitted with these at once" {
    rm -r s
    table 34000 6 | nystream import s - --format csv -q
    local options=(--accuracy 0.5% --components 5 --gamma 2 --seed 1) # one of the two in three of one attempt
    ny -0 plan s "${options[@]}" --json
    m=$(field "$output" landmarks)
    [ "$(grep -c '"accuracy":' <<<"$output")" -eq 4 ]
    shows "0.5 %: about $m landmarks" plan s "${options[@]}"
    prints "exact: "
    ny -0 fit s a "${options[@]}"
    [[ $stderr != *"; next, "* ]]
    [ "$(landmarks a)" = "$m" ]
    awk -v e="$(worst a)" 'BEGIN {exit !(e > 0.003 && e <= 0.005)}'
    ny plan s "${options[@]}" --landmarks 50 --json
    [ "$(field "$output" landmarks)" = 50 ]
    ny -2 plan --shape 1e6,20 --accuracy 1%
    ny -2 fit s b --accuracy 1% --check-rows 0
    table 40 6 | nystream import few - --format csv -q # too few to foretell anything
    ny -0 plan few --accuracy 1% --components 3 --json
    [ "$(field "$output" landmarks)" = 40 ]
    ny -8 plan s "${options[@]}" --memory 20M
}

# bats test_tags=slow
@test "a full update keeps the accuracy, with more landmarks where rows are others; a frozen one does not" {
    local options=(--accuracy 2% --components 4 --gamma 0.5) before
    ny fit s a "${options[@]}" -q
    before=$(landmarks a)
    table 3200 12 | tail -n 200 | nystream import s - --format csv --append -q
    ny -0 fit s a --update full
    awk -v e="$(worst a)" 'BEGIN {exit !(e > 0 && e <= 0.02)}'
    table 3000 12 | awk -F, -v OFS=, '{for (i = 1; i <= NF; i++) $i *= 2; print}' |
        nystream import s - --format csv --append -q
    ny -0 fit s a --update frozen -q
    answers 0 "; next, " fit s a --update full
    [ "$(landmarks a)" -gt "$before" ]
    awk -v e="$(worst a)" 'BEGIN {exit !(e > 0 && e <= 0.02)}'
    ny -0 fit s a --update full
    answers 0 "done already" fit s a "${options[@]}"
}

# bats test_tags=slow
@test "many rows in shards have no sample: all attempts are at all of them" {
    for shard in 0 1; do
        table 17408 6 $shard | nystream import big --shard $shard/2 - --format csv -q
    done
    ny -0 fit big a --accuracy 0.5% --components 5 --gamma 2
    says "48 landmarks: components are right to"
    ny -0 export big a --part errors -o errors.csv -q
    awk -F, '!($1 > 0 && $1 <= 0.005) {bad = 1} END {exit !(NR == 5 && !bad)}' errors.csv
    ny -2 plan big --accuracy 1%
}

@test "what the fit warns of is said once, though a sample is fitted before" {
    rm -r s
    table 34000 4 | awk -F, -v OFS=, '{$2 *= 100; print}' | nystream import s - --format csv -q
    ny -0 fit s a --accuracy 5%
    [ "$(grep -c "alone makes up" <<<"$stderr")" -eq 1 ]
}

@test "--trace-error is what the certificate says, with landmarks to spare by a quarter at most" {
    ny -0 fit s a --trace-error 5% --gamma 0.2
    error=$(field "$(nystream info s a --json)" trace_error)
    awk -v e="$error" 'BEGIN {exit !(e <= 0.05)}'
    ny fit s b --gamma 0.2 --landmarks $(($(landmarks a) * 3 / 4)) -q
    error=$(field "$(nystream info s b --json)" trace_error)
    awk -v e="$error" 'BEGIN {exit !(e > 0.05)}'
    ny -2 fit s c --trace-error 5% --accuracy 1%
    shows "5 %: about" plan s --trace-error 5% --gamma 0.2
}

@test "a model's file tells how right its components are, and rows that it places tell it, too" {
    ny fit s a --landmarks 60 --components 4 --gamma 0.5 -q
    nystream info s a | grep certificate >fitted
    ny export s a --part model -o a.nym -q
    ny -0 info a.nym
    prints "map                   kpca" "landmarks             60" "component errors"
    diff <(nystream info a.nym | grep certificate) fitted
    ny info a.nym --json
    prints '"component_errors": [' '"component_errors_se": [' '"trace_error": 0.' '"components 1-4 are right to'
    cp "$BATS_TEST_DIRNAME/../fuzz/corpus/model/kpca" earlier.nym
    ny -0 info earlier.nym # of 1.1.1, which tells nothing of its fit
    prints "landmarks             3"
    [[ $output != *certificate* ]]
    ny fit s placed --model a.nym -q
    nystream export s placed --part errors -o placed.csv -q
    paste -d, placed.csv <(shown "s a --part errors") | awk -F, '{ d = $1 - $4; e = $2 - $5 }
        d * d > 1e-12 || e * e > 1e-12 { far++ } END { exit far || NR != 4 }'
    ny info s placed
    prints "components 1-4 are right to" "of the rows that the model was fitted on"
    # So are the errors after an update that leaves the model as it is; a full one measures anew.
    table 100 12 3 | nystream import s - --format csv --append -q
    ny fit s a --update frozen -q
    shows "of the rows that the model was fitted on" info s a
    ny fit s a --update full -q
    shows "components 1-4 are right to" info s a
    [[ $output != *"was fitted on"* ]]
    cp s/points/data.mdb no.nym
    ny -5 info no.nym
}
