# Every option acts: it changes the output, the plan or the result of some command, or is refused
# where it could not. None is taken and ignored. See acts() for what a row says.
load options

# Verbs that hand options to what another verb does with them, in the same table; "new" is a fit or
# graph of a name that is not taken yet, which is all that a plan is of.
handed_to() {
    case $1 in
    plan) echo new ;;
    fit) echo graph ;;
    embed) echo import ;;
    esac
}

# A command of each verb, for what most of them have.
commands() {
    cat <<'END'
import new t.csv
info s f
verify s
plan s --landmarks 9
fit s r --landmarks 9
select s r --landmarks 9
graph s r
path s g --from 0 --to 1
eval s f
transform s f --input new.csv -o o.csv
export s f -o o.csv
merge s --name summed -o o.nym
plot s f -o o.svg
report s f -o o.html
embed t.csv -o o.csv --landmarks 9
list s
repair s
compact s
truncate grown --keep 200
rm s f
version
help fit
END
}

common_rows() (
    trap - DEBUG
    local verb rest option
    while read -r verb rest; do
        for option in $(options_of $verb); do
            case $option in
            help | verbose) echo "$option | $verb $rest | --$option" ;;
            quiet) echo "quiet | $verb $rest --verbose | --quiet" ;;
            threads) echo "threads | $verb $rest --verbose | --threads 3" ;;
            memory) [ $verb = plan ] || echo "memory | $verb $rest | --memory 1M !" ;;
            json) case $verb in
                transform | export | plot | report | rm | help) ;; # they have no report
                *) echo "json | $verb $rest | --json" ;;
                esac ;;
            esac
        done
    done < <(commands)
)

# The cases of a new fit or graph as cases of embed, but for those that name another result of s:
# the store of embed has none. (A graph refuses what a fit has for other reasons.)
embedded_rows() {
    local embed='embed t.csv -o o.csv --label-column class'
    sed -nE "/-from d|--graph g|--edges|^(sweep|until|model|peers)|graph s r .* !$/d
        s/^([a-z0-9-]+ +\|) fit s r /\1 $embed /p
        s/^([a-z0-9-]+ +\|) graph s r /\1 $embed --map isomap /p" "$BATS_TEST_FILENAME"
}

# bats file_tags=slow
@test "every option of every verb has a case here" {
    local verb option by cases pairs=0 missing=
    cases=" $( (cat "$BATS_TEST_FILENAME" && common_rows && embedded_rows) |
        sed -nE 'h; s/^([a-z0-9-]+) +\| (fit|graph) s r .*\|.*/new:\1/p
                 g; s/^([a-z0-9-]+) +\| ([a-z]+) .*\|.*/\2:\1/p' | tr '\n' ' ')"
    for verb in $(nystream help | sed -nE 's/^  ([a-z]+)  .*/\1/p'); do
        for option in $(options_of $verb); do
            ((pairs += 1))
            # these keep nothing that it could replace, and take the options of a fit as they are;
            # --strict acts where there is a warning (drift.bats)
            case $verb:$option in plan:restart | embed:restart | *:strict) continue ;; esac
            for by in $verb $(handed_to $verb); do
                [[ $cases != *" $by:$option "* ]] || continue 2
            done
            missing+=" $verb --$option"
        done
    done
    [ -z "$missing" ] || { echo "no case in ${BATS_TEST_FILENAME##*/}:$missing" >&2; return 1; }
    echo "$pairs pairs of verb and option"
}

@test "what most verbs have" {
    acts < <(common_rows)
    acts <<'END'
json    | transform s none --input new.csv -o o.csv | --json ! none
json    | export s none -o o.csv       | --json ! none
json    | plot s none -o o.png         | --json ! none
json    | report s none -o o.html      | --json ! none
json    | rm s none                    | --json ! none
json    | help none                    | --json ! none
json    | help fit                     | --json
json    | bench now                    | --json ! now
help    | bench now --memory 1M        | --help
memory  | plan s --landmarks 9         | --memory 1M
memory  | bench                        | --memory 1M !
quiet   | bench --memory 1M --verbose  | --quiet ! --memory
verbose | bench --memory 1M            | --verbose ! bench took
threads | bench --memory 1M --verbose  | --threads 3 ! in up to 3 threads
all     | help fit                     | --all
man     | help                         | --man
bash-completion | help                 | --bash-completion
zsh-completion  | help                 | --zsh-completion
END
}

@test "points: import, transform, embed" {
    acts --quiet <<'END'
format       | import new t.csv                          | --format npy !
labels       | import new new.csv                        | --labels labels.txt
label-column | import new t.csv                          | --label-column class
id-column    | import new t.csv                          | --id-column class
header       | import new new.csv                        | --header yes
decimal      | import new halves.csv                     | --decimal , ! is not a number
dtype        | import new t.csv                          | --dtype f64
append       | import s t.csv --label-column class       | --append
expect-rows  | import s t.csv --append --label-column class | --expect-rows 7 !
shard        | import new t.csv                          | --shard 0/2
shards       | import new t.csv                          | --shards 1
shards       | import new t.csv                          | --shards 2 !
like         | import new t.csv                          | --like s !
layout       | import new t.csv                          | --layout sparse
codec        | import new same.csv                       | --codec raw
keep         | truncate grown                            | --keep 200
drop-results | truncate s --keep 100                     | --drop-results
min-values   | import new labels.txt                     | --min-values 1
rows         | import new rows.csv                       | --rows unit
values       | import new labels.txt                     | --values log1p
shuffle      | import new t.csv                          | --shuffle
seed         | import new t.csv --shuffle                | --seed 3
nan          | import new nan.csv                        | --nan drop
dims         | import new new.svm                        | --dims 9
columns      | import new t.csv                          | --columns 1,3-4
drop-columns | import new t.csv                          | --drop-columns 2-3
new-columns  | import new wide.svm --dims 4              | --new-columns drop
column-names | import s wide.svm --append                | --column-names names.txt
new-columns  | import new t.csv                          | --new-columns drop !
column-names | import new t.csv                          | --column-names rows.csv !
transpose    | import new new.mtx                        | --transpose
matrix       | import new t.csv                          | --matrix X !
input        | transform s f -o o.csv                    | --input new.csv
output       | transform s f --input new.csv             | -o o.csv
distances    | transform s g --input new.csv -o o.csv    | --distances o.far.csv
distances    | transform s f --input new.csv -o o.csv    | --distances o.far.csv !
clusters     | transform s f --input new.csv -o o.csv    | --clusters o.clusters.csv !
with         | transform s f --input new.csv -o o.csv    | --with header
neighbors    | transform s g --input new.csv -o o.csv    | --neighbors 2
neighbors    | transform s f --input new.csv -o o.csv    | --neighbors 2 !
recall       | transform s f --input new.csv -o o.csv    | --recall 0.5 !
format       | transform s f --input new.csv -o o.csv    | --format npy !
label-column | transform s f --input t.csv -o o.csv      | --label-column a ! lacks columns
id-column    | transform s f --input t.csv -o o.csv      | --id-column a ! lacks columns
columns      | transform s f --input t.csv -o o.csv      | --columns a,b ! lacks columns
drop-columns | transform s f --input t.csv -o o.csv      | --drop-columns a ! lacks columns
new-columns  | transform s f --input wide.svm -o o.csv   | --new-columns drop
column-names | transform s f --input wide.svm -o o.csv   | --column-names names.txt
new-columns  | transform s f --input new.csv -o o.csv    | --new-columns drop !
column-names | transform s f --input new.csv -o o.csv    | --column-names rows.csv !
header       | transform s f --input new.csv -o o.csv    | --header yes ! lacks columns
decimal      | transform s f --input halves.csv -o o.csv | --decimal , ! is not a number
dtype        | transform s f --input new.csv -o o.csv    | --dtype u8 !
transpose    | transform s f --input new.mtx -o o.csv    | --transpose
matrix       | transform s f --input new.csv -o o.csv    | --matrix X !
nan          | transform s f --input new.csv -o o.csv    | --nan drop !
label-column | embed t.csv -o o.csv --landmarks 9        | --label-column class
id-column    | embed t.csv -o o.csv --landmarks 9        | --id-column class
columns      | embed t.csv -o o.csv --landmarks 9        | --columns a,b
drop-columns | embed t.csv -o o.csv --landmarks 9        | --drop-columns a,b
new-columns  | embed t.csv -o o.csv --landmarks 9        | --new-columns drop !
column-names | embed t.csv -o o.csv --landmarks 9        | --column-names rows.csv !
header       | embed new.csv -o o.csv --landmarks 9      | --header yes
decimal      | embed halves.csv -o o.csv --landmarks 9   | --decimal , ! is not a number
layout       | embed new.csv -o o.csv --map pca --approx exact | --layout sparse
matrix       | embed t.csv -o o.csv --landmarks 9        | --matrix X !
rows         | embed new.csv -o o.csv --landmarks 9      | --rows unit
values       | embed rows.csv -o o.csv --landmarks 9     | --values log1p
nan          | embed nan.csv -o o.csv --landmarks 9      | --nan drop
tmpdir       | embed t.csv -o o.csv --landmarks 9        | --tmpdir nowhere ! nowhere
output       | embed t.csv -o o.csv --landmarks 9        | -o o.npy
kernel       | embed t.csv -o o.csv --landmarks 9        | --kernel linear
columns-file | embed new.csv -o o.csv --landmarks-file rows.csv --precision f64 | --columns-file columns.csv
END
}

@test "embed: what a fit has" {
    acts --quiet < <(embedded_rows)
}

@test "fit: what every map has" {
    acts --quiet <<'END'
map            | fit s r --landmarks 9                    | --map svd
approx         | fit s r --landmarks 9                    | --approx nystrom
components     | fit s r --landmarks 9                    | --components 3
rank           | fit s r --landmarks 9                    | --rank 4
scale          | fit s r --landmarks 9                    | --scale standard
features       | fit s r --landmarks 9                    | --features variance:2
select         | fit s r --landmarks 9                    | --select uniform
landmarks      | fit s r --landmarks 9                    | --landmarks 12
tolerance      | fit s r --select greedy --tolerance 0.5  | --tolerance 0.3
landmarks-file | fit s r                                  | --landmarks-file rows.csv
landmarks-points | fit s r                                | --landmarks-points new.csv
landmarks-from | fit s r                                  | --landmarks-from d
affine         | fit s r --landmarks 9                    | --affine
online         | fit s r --select greedy --tolerance 0.5  | --online
kernel         | fit s r --landmarks 9                    | --kernel laplacian
gamma          | fit s r --landmarks 9                    | --gamma 0.3
sigma          | fit s r --landmarks 9                    | --sigma 2
epsilon        | fit s r --landmarks 9                    | --epsilon 3
nu             | fit s r --landmarks 9 --kernel matern     | --nu 0.5
alpha          | fit s r --landmarks 9 --kernel rational-quadratic | --alpha 0.1
degree         | fit s r --landmarks 9 --kernel polynomial | --degree 2
coef0          | fit s r --landmarks 9 --kernel polynomial | --coef0 0.5
columns-file   | fit s r --landmarks-file rows.csv --precision f64 | --columns-file columns.csv
averages       | fit s r --landmarks 9                    | --averages landmarks
inner          | fit s r --landmarks 9                    | --inner randomized
oversample     | fit s r --landmarks 20 --inner randomized | --oversample 2
tol            | fit s r --map kpca --kernel linear --approx exact | --tol 0.01
max-passes     | fit s r --map kpca --kernel linear --approx exact | --max-passes 3
power          | fit s r --landmarks 20 --approx nystrom --inner randomized | --power 1
experts        | fit s r --landmarks 60 --approx ensemble | --experts 4
weights        | fit s r --landmarks 60 --approx ensemble | --weights exponential
precision      | fit s r --landmarks 9                    | --precision f64
certify        | fit s r --landmarks 9                    | --certify
probe          | fit s r --landmarks 9                    | --probe 20
check-rows     | fit s r --landmarks 9                    | --check-rows 50
accuracy       | fit s r --components 2                   | --accuracy 50%
trace-error    | fit s r --components 2                   | --trace-error 50%
seed           | fit s r --landmarks 9                    | --seed 5
time-limit     | fit s r --landmarks 9                    | --time-limit 0.00001 !
until          | fit s r --landmarks-points few.csv --gamma 1 | --until sums
until          | plan s --landmarks-points few.csv --gamma 1 | --until sums
model          | fit s r                                  | --model f.nym
peers          | fit s r                                  | --peers files !
peers-wait     | fit s r --peers alone                    | --peers-wait 9 !
peers-wait     | fit s r                                  | --peers-wait 9 !
peers          | select s r                               | --peers files !
peers-wait     | select s r --peers alone                 | --peers-wait 9 !
peers          | import new t.csv --shards 1               | --peers files !
peers          | import new t.csv                          | --peers mpi !
peers-wait     | import new t.csv --shards 1               | --peers-wait 9 !
name           | merge s -o o.nym                         | --name summed
output         | merge s --name summed                    | -o o.nym
update         | fit grown f                              | --update full
update         | fit grown f --update full                | --update frozen
restart        | fit s f --landmarks 12                   | --restart
gamma-grid     | plan s --landmarks 9                     | --gamma-grid 0.1,1
shape          | plan s --landmarks 9                     | --shape 9,9 !
END
}

# bats file_tags=
@test "fit: what some maps have" {
    acts --quiet <<'END'
normalize         | fit s r --landmarks 9 --map diffusion | --normalize asymmetric
time              | fit s r --landmarks 9 --map diffusion | --time 3
row-normalize     | fit s r --landmarks 9 --map laplacian | --row-normalize
graph             | fit s r --landmarks 9 --map isomap    | --graph g
neighbors         | fit s r --landmarks 9 --map isomap    | --neighbors 8
metric            | fit s r --landmarks 9 --map isomap    | --metric cosine
max-distance      | fit s r --landmarks 9 --map isomap    | --max-distance 0.3
mutual            | fit s r --landmarks 9 --map isomap    | --mutual
edge-weights      | fit s r --map eigenmaps               | --edge-weights binary
largest           | fit s r --map isomap --neighbors 1    | --largest
END
}

# bats file_tags=slow
@test "select, graph, path" {
    acts --quiet <<'END'
select            | select s r --landmarks 9              | --select uniform
landmarks         | select s r --landmarks 9              | --landmarks 12
tolerance         | select s r --select greedy            | --tolerance 0.5
landmarks-file    | select s r                            | --landmarks-file rows.csv
landmarks-points  | select s r                            | --landmarks-points new.csv
landmarks-from    | select s r                            | --landmarks-from d
affine            | select s r --select greedy --tolerance 0.5 | --no-affine
kernel            | select s r --landmarks 9              | --kernel laplacian
gamma             | select s r --landmarks 9              | --gamma 0.3
sigma             | select s r --landmarks 9              | --sigma 9
epsilon           | select s r --landmarks 9              | --epsilon 9
nu                | select s r --landmarks 9 --kernel matern  | --nu 0.5
alpha             | select s r --landmarks 9 --kernel rational-quadratic | --alpha 0.1
degree            | select s r --landmarks 9 --kernel polynomial | --degree 1
coef0             | select s r --landmarks 9 --kernel polynomial | --coef0 100
scale             | select s r --landmarks 9 --gamma 9    | --scale standard
features          | select s r --landmarks 9 --gamma 9    | --features variance:2
restart           | select s d --landmarks 7              | --restart
seed              | select s r --landmarks 9              | --seed 5
neighbors         | graph s r                             | --neighbors 3
metric            | graph s r                             | --metric cosine
knn               | graph s r                             | --knn sieve
recall            | graph s r --knn sieve                 | --recall 0.5
time-limit        | graph s r                             | --time-limit 0.00001 !
max-distance      | graph s r                             | --max-distance 0.3
distance-quantile | graph s r                             | --distance-quantile 0.5
mutual            | graph s r                             | --mutual
connect           | graph s r --neighbors 1               | --connect
sweep             | graph s r                             | --sweep 1,2
scale             | graph s r                             | --scale unit
features          | graph s r                             | --features variance:1
edges             | graph s r                             | --edges ring.txt
nodes             | graph linked r --edges ring.txt       | --nodes 200
edge-weights      | graph s r --edges ring.txt            | --edge-weights affinity
restart           | graph s g --neighbors 4               | --restart
from              | path s g --from 0 --to 1              | --from 2
to                | path s g --from 0 --to 1              | --to 2
END
}

@test "eval, export, plot, report" {
    acts --quiet <<'END'
measures       | eval s f                                 | --measures knn
against        | eval s f                                 | --against other
clusters       | eval s f --measures clusters             | --clusters 7
clusters-to    | eval s f --measures clusters             | --clusters-to 4
n-init         | eval s f --measures clusters             | --n-init 1
knn-neighbors  | eval s f --measures knn                  | --knn-neighbors 5
neighbors      | eval s f --measures neighborhoods        | --neighbors 9
sample         | eval s f --measures distances            | --sample 50
seed           | eval s f --measures knn                  | --seed 5
labels         | eval bare f                              | --labels !
part           | export s f -o o.csv                      | --part eigenvalues
with           | export s f -o o.csv                      | --with labels
with           | export s f -o o.csv                      | --with ids ! ids
rows           | export s f -o o.csv                      | --rows 2:7
rows           | export s f -o o.csv --part eigenvalues   | --rows 0:1 !
rows           | export s f -o o.csv                      | --rows 7 !
raw            | export counted f -o o.csv --part points  | --raw
raw            | export s f -o o.csv                      | --raw !
output         | export s f -o o.csv                      | -o o.npy
skip-damaged   | export hurt f -o o.csv                   | --skip-damaged ! no row can be read
axes           | plot s f -o o.svg                        | --axes 2,1
color          | plot s f -o o.svg                        | --color row
all            | plot far f -o o.svg                      | --all
names          | plot s f -o o.svg                        | --names
scree          | plot s f -o o.svg                        | --scree
size           | plot s f -o o.svg                        | --size 400x300
title          | plot s f -o o.svg                        | --title hello
output         | plot s f -o o.svg                        | -o o.png
terminal       | plot s f                                 | --terminal
title          | report s f -o o.html                     | --title hello
path           | report s f g -o o.html                   | --path 0,5
image          | report s f -o o.html                     | --image 2x2
output         | report s f                               | -o o.html
END
}

# What a map, a method or a rule does not take is in tests/unit/test_options.c.
@test "where an option could not act it is refused, with what it belongs to" {
    acts --quiet <<'END'
seed          | import new t.csv                          | --seed 3 !
neighbors     | graph s r --edges ring.txt                | --neighbors 3 !
seed          | graph s r --edges ring.txt                | --seed 3 !
nodes         | graph s r                                 | --nodes 150 !
edge-weights  | graph s r                                 | --edge-weights affinity !
edge-weights  | graph s r --edges ring.txt                | --edge-weights heat !
edge-weights  | fit s r --map eigenmaps                   | --edge-weights affinity !
header        | import new new.svm                        | --header yes !
decimal       | import new new.svm                        | --decimal , !
transpose     | import new t.csv                          | --transpose !
label-column  | import new new.svm                        | --label-column 1 !
id-column     | import new new.svm                        | --id-column 1 !
header        | transform s f --input new.svm -o o.csv    | --header yes !
sigma         | fit s r --kernel linear                   | --sigma 2 ! gamma
pilot         | fit s r                                   | --no-pilot !
pilot         | select s r                                | --no-pilot !
time          | fit s r                                   | --time 2 !
normalize     | fit s r                                   | --normalize asymmetric !
tol           | fit s r --kernel linear                   | --tol 0.01 !
tol           | fit s r --approx exact                    | --tol 0.01 !
max-passes    | fit s r --kernel linear                   | --max-passes 3 !
oversample    | fit s r --approx nystrom --landmarks 20   | --oversample 3 !
power         | plan s --approx nystrom --landmarks 20    | --power 3 !
probe         | fit s r --landmarks-file rows.csv --columns-file columns.csv | --probe 9 !
neighbors     | fit s r                                   | --neighbors 9 !
recall        | fit s r --map isomap --knn exact          | --recall 0.9 !
row-normalize | fit s r --map eigenmaps                   | --row-normalize !
mutual        | fit s r --map isomap --graph g            | --mutual !
edge-weights  | fit s r --map isomap                      | --edge-weights binary !
gamma         | fit s r --map eigenmaps --edge-weights binary | --gamma 1 !
restart       | fit grown f --update full                 | --restart !
gamma         | select s r --select uniform               | --gamma 2 !
kernel        | select s r --landmarks-from d             | --kernel linear !
scale         | select s r --select all                   | --scale unit !
features      | select s r --select all                   | --features variance:2 !
features      | fit s r --map isomap --graph g            | --features variance:2 !
features      | fit s r --landmarks-file rows.csv --columns-file columns.csv | --features variance:2 !
seed          | graph s r                                 | --seed 3 !
clusters      | eval s f --measures knn                   | --clusters 4 !
n-init        | eval s f --measures against --against other | --n-init 2 !
sample        | eval s f --measures knn_error             | --sample 50 !
against       | eval s f --measures distances             | --against other !
axes          | plot s f --scree -o o.png                 | --axes 2,1 !
names         | plot s f --scree -o o.png                 | --names !
color         | plot s f --scree -o o.png                 | --color row !
size          | plot s f --terminal                       | --size 400x300 !
scree         | plot s f --terminal                       | --scree !
graph         | embed t.csv -o o.csv --map isomap         | --graph g !
landmarks-from | embed t.csv -o o.csv                     | --landmarks-from d !
path          | report s f -o o.html                      | --path 0,5 !
image         | report s f -o o.html                      | --image 9x9 !
all           | help                                      | --all ! needs VERB
END
}
