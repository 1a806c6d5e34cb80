# Parts of a store that were put back from an older copy of it: noticed, told, and never written on.
load helper
brought="s old new second.csv"

# A store of 300 rows with a result, its copy, then 300 rows more and another result.
setup_file() {
    file_folder || return
    table 300 3 >first.csv
    table 300 3 77 >second.csv
    nystream import s first.csv -q
    nystream fit s a --landmarks 20 -q
    cp -r s old
    nystream import s second.csv --append -q
    nystream fit s b --landmarks 20 -q
    cp -r s new
}

# Verbs that write are refused with this error, and readers warn.
refused_to_write() { # FOLDER
    ny -5 verify s
    prints "$1/ is from an older copy of the store"
    ny -5 fit s c --landmarks 20
    says "$1/ is from an older copy of the store" "nystream repair"
    ny -5 import s second.csv --append
    ny -5 rm s a
    ny -5 compact s
    answers 0 "$1/ is from an older copy of the store" list s
    answers 0 "warning" export s a -o a.npy
}

# The file of an older part, then its folder.
is_noticed() { # PART
    cp "old/$1/data.mdb" "s/$1/data.mdb"
    refused_to_write "$1"
    rm -r "s/$1"
    cp -r "old/$1" "s/$1"
    refused_to_write "$1"
}

# An old copy that got the newer file of the other part.
is_noticed_below() { # PART OTHER
    cp "new/$2/data.mdb" "old/$2/data.mdb"
    rm -r s
    mv old s
    refused_to_write "$1"
}

@test "older points are noticed, by the file or by the folder" {
    is_noticed points
    answers 5 "points/ is from an older copy" export s b -o b.npy
}

@test "older points below newer results are noticed in an old copy as well" {
    is_noticed_below points results
}

@test "older results are noticed, by the file or by the folder" {
    is_noticed results
}

@test "older results below newer points are noticed in an old copy as well" {
    is_noticed_below results points
}

@test "a result alone that went back is noticed: nothing was imported since" {
    cp -r s before
    nystream fit s c --landmarks 20 -q
    cp before/results/data.mdb s/results/data.mdb
    refused_to_write results
}

@test "repair takes the store as it is; what has no rows any more is still told" {
    cp old/points/data.mdb s/points/data.mdb
    shows "accepted as they are" repair s
    ny -5 verify s
    prints "result 'b' has 600 rows, but points/ has 300"
    ny -0 rm s b
    ny -0 verify s
    nystream fit s c --landmarks 20 -q
    nystream import s second.csv --append -q
    cp -r s later
    nystream fit s d --landmarks 20 -q
    cp later/results/data.mdb s/results/data.mdb
    ny -0 repair s --json
    [ "$(field "$output" older_accepted)" = true ]
    nystream fit s d --landmarks 20 -q
    ny -0 verify s
    silent_but_ok
}

silent_but_ok() { [ -z "$stderr" ] && [ "$output" = ok ]; }

@test "a store stays whole over compactions, and older parts are noticed over them" {
    nystream rm s a -q
    nystream compact s -q
    ny -0 verify s
    nystream fit s c --landmarks 20 -q
    nystream compact s -q
    nystream import s second.csv --append -q
    ny -0 verify s
    silent_but_ok
    cp new/results/data.mdb s/results/data.mdb
    refused_to_write results
}

@test "parts that are newer than the other one remembers are no damage: a kill leaves them" {
    cp -r s before
    nystream fit s c --landmarks 20 -q
    cp before/points/data.mdb s/points/data.mdb # as if points/ had not been told
    ny -0 verify s
    rm -rf s
    mv before s
    flock s/locks/points.lock nystream fit s c --landmarks 20 -q # while an import runs
    ny -0 verify s
    silent_but_ok
}
