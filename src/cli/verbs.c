/*
 * The table of verbs. It names the functions that run them, and so stands above all of those:
 * main() alone refers to it, and hands it down in struct command to what looks verbs up.
 */
#include "cli/cli.h"

enum { NO_LIMIT = 1 << 30 };

/* Options of every verb; of those that take a budget of memory; and of those that work in several
 * threads as well. */
#define EVERY (OWN_JSON | OWN_QUIET | OWN_VERBOSE | OWN_HELP)
#define COMMON NY_GROUP_COMMON
#define WORK (NY_GROUP_COMMON | NY_GROUP_THREADS) /* of verbs that work in several threads */

const struct verb cli_verbs[] = {
    {"import", "STORE FILE…", "", 2, NO_LIMIT, NY_GROUP_IMPORT | WORK, EVERY,
     "read tables into a store",
     "Reads the FILEs, one after another, in one bounded-memory pass; - is the standard input. "
     "npy, CSV and TSV, LIBSVM, MatrixMarket, IDX, fvecs and bvecs are understood, any of them "
     "gzipped too; scipy's sparse npz; HDF5 of AnnData (.h5ad) and 10x Genomics (.h5), where the "
     "program nystream-hdf5 is installed. Sparse matrices stay sparse; --transpose takes genes × "
     "cells, as 10x writes them, as rows of cells. Names of rows and of columns are kept where the "
     "file has them: .h5ad, .h5, barcodes.tsv and features.tsv beside a matrix.mtx, and for "
     "columns a header; see export --part ids. "
     "An import is all or nothing: until it ends, readers see the store as before; after an "
     "interruption the same command goes on where it stopped. --append adds to a store that has "
     "points, and warns where rows lie far outside those, as on another scale: see truncate. Run "
     "it again if it was killed: it adds what is missing, and nothing twice. Do not "
     "run it again if it ended: it would add the same rows once more.",
     "nystream import points.nys table.csv --label-column class\n"
     "nystream import points.nys more.csv --label-column class --append\n"
     "nystream import cells.nys counts.csv --rows total:10000 --values log1p",
     .run = cli_run_import, .resumable = true},
    {"info", "STORE [NAME]", "", 1, 2, 0, EVERY, "what is in a store, or all about one result",
     "Shows what a store holds: rows, columns, element type, size, labels, results. With NAME "
     "shows that result: the command that made it, its options, eigenvalues, certificate (how far "
     "off it is) and cost, and the command that resumes it if it was interrupted.\n"
     "- effective rank: how many eigenvalues are above rounding\n"
     "- trace of: the matrix that the map decomposes; trace error: the share of its trace that the "
     "landmarks leave out; variance kept: the share that the components hold\n"
     "- residual: the squared distance of a row to the span of the landmarks\n"
     "- passes, rows read, work, time: of the last run; in all: of all runs so far\n"
     "- time over ideal: the time of the passes over that of their bare matrix products, at the "
     "rate of `nystream bench`; large where there are few rows\n"
     "- reserved by stage: the most memory that each stage set aside",
     "nystream info points.nys\n"
     "nystream info points.nys first --json",
     .run = cli_run_info},
    {"verify", "STORE", "", 1, 1, WORK, EVERY, "read every byte and name each damaged block",
     "Reads every byte of a store, in as many threads as it may, and checks it against its "
     "checksum. Prints `ok`, or each damaged block of points and chunk of a result with its "
     "rows, and then exits 5. All other rows can still be read: see export --skip-damaged, and "
     "repair.",
     "nystream verify points.nys", .run = cli_run_verify},
    {"plan", "[STORE]", "", 0, 1, NY_GROUP_FIT | NY_GROUP_PLAN | WORK, EVERY,
     "passes, flops, memory, disk and time of a fit, before anything runs; and its kernel width",
     "Says what `fit` with the same options would cost on this machine, and whether it fits in "
     "the memory budget; if not, the smallest budget that does. Exits 0 either way. With "
     "--shape in place of STORE nothing needs to be imported yet; with --gamma-grid it helps to "
     "choose the kernel's width instead.\n"
     "That prints, from one sample of a few thousand rows, for several widths, the trace error "
     "to expect with as many uniform landmarks, the share of the trace in the components, how "
     "many eigenvalues hold 90 % of it, the effective rank (sum of eigenvalues)²/(sum of "
     "squares), and the mean of k(x,y) over pairs of rows: 1 where all rows look alike, 0 where "
     "none sees another.",
     "nystream plan points.nys --landmarks 100 --memory 256M\n"
     "nystream plan --shape 1e7,784,u8 --memory 4G\n"
     "nystream plan points.nys --gamma-grid 0.1,1,10",
     .run = cli_run_plan},
    {"fit", "STORE NAME", "", 2, 2, NY_GROUP_FIT | NY_GROUP_UPDATE | WORK, EVERY,
     "compute an embedding, resume it, or update it",
     "Selects landmarks, accumulates, solves, projects, and stores the result under NAME. A "
     "checkpoint is made at least every 30 seconds: after an interruption the same command goes "
     "on from there, to the same bytes, and so does `fit STORE NAME` alone. A NAME that has other "
     "options is refused; --restart replaces it.\n"
     "--update takes in the rows that were appended since; readers see the old result until the "
     "updated one is whole.",
     "nystream fit points.nys first --landmarks 100 --components 3 --memory 256M\n"
     "nystream fit points.nys groups --map laplacian --landmarks 100 --row-normalize",
     .run = cli_run_fit, .resumable = true},
    {"select", "STORE NAME", "", 2, 2, NY_GROUP_SELECT | WORK, EVERY, "choose landmarks alone",
     "Stores a list of landmarks, a dictionary, under NAME, for `fit --landmarks-from NAME`. "
     "Resumed as a fit is: by the same command, or by `select STORE NAME` alone.",
     "nystream select points.nys chosen --select greedy --tolerance 0.1\n"
     "nystream fit points.nys second --landmarks-from chosen",
     .run = cli_run_select, .resumable = true},
    {"graph", "STORE NAME", "", 2, 2, NY_GROUP_GRAPH | WORK, EVERY,
     "the graph of nearest neighbours, and its components",
     "Finds the nearest neighbours of every row, exactly, and stores them under NAME with the "
     "components of the graph that joins them. Rows of few columns take a tree of boxes, others "
     "all pairs of rows, or of many columns a sieve of codes, with the same result. With --recall "
     "0.95 it finds as large a share of them, in the way that is the least work, which takes far "
     "less where there are many rows of many columns. With --sweep it says what other numbers of "
     "neighbours would give. Resumed as a fit is. Parts to export: neighbors, distances, "
     "components, rows, those of the largest component, and graph, all of its edges.\n"
     "With --edges the graph is that of a file, and STORE is made where there is none: it then has "
     "nodes and no points, which is enough for path and for maps of the graph. Edges that lead "
     "back "
     "to where they begin are left out; of those that come more than once the shortest counts, or "
     "affinities are added. Both are told.",
     "nystream graph points.nys near --neighbors 5 --sweep 2,3,5,8\n"
     "nystream fit points.nys unrolled --map isomap --graph near --landmarks 100",
     .run = cli_run_graph, .resumable = true},
    {"path", "STORE GRAPH", "--from ROW --to ROW", 2, 2, NY_GROUP_PATH | COMMON, EVERY,
     "a shortest path between two rows of a graph",
     "Prints the rows of a shortest path from row --from to row --to, one a line, each with the "
     "length of the path up to it.",
     "nystream path points.nys near --from 0 --to 1", .run = cli_run_path},
    {"eval", "STORE NAME…", "", 2, NO_LIMIT, NY_GROUP_EVALUATE | WORK, EVERY | OWN_LABELS | OWN_CSV,
     "judge results: clusters against labels, and more",
     "Prints a table with a column for each NAME and a line for each figure; what does not apply "
     "is left out, with the reason below. The clusters stay with the result: export --part "
     "clusters.\n"
     "k-means finds clusters in the embedding, from --n-init k-means++ initialisations; these "
     "figures compare them with the labels of the rows that have one:\n"
     "- purity: the share of rows in the largest class of their cluster\n"
     "- accuracy: the share of rows whose cluster is that of their class, in the best matching of "
     "clusters and classes, one to one\n"
     "- class concentration: the share of rows in the largest cluster of their class (the accuracy "
     "of Talwalkar et al. 2013), which one big cluster satisfies\n"
     "- nmi, ari: normalised mutual information, and the adjusted Rand index\n"
     "- kNN error: of naming a row's class by its nearest neighbours in the embedding, over ten "
     "splits in halves\n"
     "These need no labels:\n"
     "- cluster sizes: rows of each cluster, by its number; of more than 12 the smallest and the "
     "largest\n"
     "- inertia: the sum of squared distances of rows to the centre of their cluster\n"
     "- variance between: the share of the variance that lies between the centres of clusters\n"
     "- silhouette: the mean of (b - a)/max(a, b), a and b the mean distances of a row to the rows "
     "of its own cluster and of the nearest other one, over --sample rows\n"
     "- ±: the standard deviation over initialisations or splits; of errors and silhouettes, the "
     "standard error\n"
     "These are of a sample of rows:\n"
     "- trustworthiness: neighbours in the embedding are neighbours in the input\n"
     "- continuity: neighbours in the input are neighbours in the embedding\n"
     "- residual variance: 1 less the squared correlation of distances in input and embedding\n"
     "- distance error: |D - D~|/|D| of the squared distances that the kernel means\n"
     "- relative error: |K - K~|/|K| of the matrix that the map decomposes\n"
     "- relative, distance and projection accuracy, where the sample is all rows: the error of the "
     "best matrix of that rank over this one's\n"
     "--against another result adds how far eigenvectors, eigenvalues and, after a linear "
     "regression, rows agree with it.",
     "nystream eval points.nys first groups --clusters 3", .run = cli_run_eval},
    {"transform", "STORE NAME|MODEL.nym", "--input FILE -o OUT.npy", 1, 2, NY_GROUP_READ | WORK,
     EVERY | OWN_INPUT | OWN_OUTPUT | OWN_DISTANCES | OWN_CLUSTERS | OWN_NEIGHBORS | OWN_RECALL |
         OWN_WITH,
     "place new points with a fitted model",
     "Reads rows from the input and writes their coordinates, in one streaming pass and without "
     "solving anything. A model that was exported as one file (export --part model) needs no "
     "store. Warns if the landmarks, or the components of a linear map, leave out far more of the "
     "new rows than of the fitted ones, or they are far away, or far shorter than these, which "
     "happens if they are on another scale; --json gives the share as drift_trace_error.\n"
     "Where eval has found clusters, --clusters is a second file, for the cluster whose centre "
     "each "
     "new row is nearest to.\n"
     "By a graph, new rows get neighbors in place of coordinates: the numbers of their nearest "
     "rows of the store, from 0; --distances is a second file, for how far they are. Rows of few "
     "columns take a tree of boxes, others a sieve of short codes. Both find all neighbors; with "
     "--recall below 1 a sieve finds such a share of them, in less time.",
     "nystream transform points.nys first --input new.csv -o placed.npy\n"
     "nystream transform points.nys first --input new.csv -o p.csv --clusters c.csv\n"
     "nystream graph points.nys near\n"
     "nystream transform points.nys near --input new.csv -o n.npy --distances d.npy",
     .run = cli_run_transform},
    {"export", "STORE [NAME]", "-o OUT.npy", 1, 2, COMMON,
     EVERY | OWN_PART | OWN_OUTPUT | OWN_SKIP_DAMAGED | OWN_RAW | OWN_WITH,
     "write a part of a result to a file",
     "Writes the embedding or another part of a result. The end of the output's name says how: "
     ".npy, .csv, .csv.gz or .tsv; a model is a .nym, names are a .txt. A graph (--part graph) is "
     "a symmetric matrix, .npz for scipy or .mtx, or lines i j weight: .txt, .csv or .tsv. The "
     "standard output (-) and devices get npy, and lines of names and of a graph. "
     "Points, labels, source (the number that each row had in its file, from 0), names of rows "
     "(ids), of columns and of classes (the words of labels, "
     "in the order of their numbers, from 0) need no NAME: they are then of all rows of the store. "
     "The file appears when "
     "it is complete. Where a chunk of it is damaged it "
     "exits 5; with --skip-damaged it goes on, with NaN in the rows that are lost (2^64-1 where "
     "they are numbers, empty where they are names) so that all others keep theirs, and warns of "
     "them.",
     "nystream export points.nys first -o embedding.npy\n"
     "nystream export points.nys first --part eigenvalues -o eigenvalues.csv\n"
     "nystream export points.nys --part columns -o names.txt",
     .run = cli_run_export},
    {"plot", "STORE NAME", "-o OUT.png", 2, 2, NY_GROUP_PLOT | COMMON,
     EVERY | OWN_OUTPUT | OWN_TERMINAL,
     "draw an embedding as a png, svg or pdf, or on the terminal",
     "Draws two columns of an embedding: points where they are few, else an image of how many lie "
     "where, in memory that does not depend on their number. Colours can be told apart without "
     "colour vision. Columns, for --axes and --color, are the numbers of components, row, label, "
     "cluster, component (of a graph), residual; cluster:B takes those of result B. A column of "
     "the points is one by its name, or as column:NAME (where they have none column:7, from 0), "
     "with the values that readers see; FILE.npy, .csv or .txt has a value for each row of the "
     "store, of which numbers are a scale and words classes.",
     "nystream plot points.nys first -o first.png\n"
     "nystream plot points.nys first --terminal --axes 1,3",
     .run = cli_run_plot},
    {"report", "STORE [NAME]…", "-o OUT.html", 1, NO_LIMIT, NY_GROUP_REPORT | COMMON,
     EVERY | OWN_OUTPUT, "write results as one page of HTML",
     "Writes one page that needs no network: plots to point at, to move and to zoom, eigenvalues, "
     "certificate, cost, and the command that makes each result; several side by side. Without "
     "NAME all results that are done. Colours are labels, the clusters of eval and where they err, "
     "residuals. A graph among them colours the others by its components; "
     "--path draws a shortest path in it, with its rows, and as images where they are some. "
     "The page is smaller than 5 MB for any number of rows: an image shows all of them, and a "
     "sample of them can be pointed at.",
     "nystream report points.nys first groups -o report.html", .run = cli_run_report},
    {"embed", "FILE", "-o OUT.npy", 1, 1, NY_GROUP_FIT | NY_GROUP_READ | NY_GROUP_EMBED | WORK,
     EVERY | OWN_OUTPUT, "one shot: a table in, an embedding out",
     "Imports, fits and exports in one; the store in between is temporary.",
     "nystream embed table.csv -o embedding.npy --label-column class", .run = cli_run_embed},
    {"merge", "STORE…", "--name NAME -o MODEL.nym", 1, NO_LIMIT, WORK,
     EVERY | OWN_NAME | OWN_OUTPUT, "one model of the sums of several stores",
     "Adds the sums that fits of the STOREs have left under NAME and solves them: the model that "
     "one fit of all rows would have, up to rounding, and its certificate. The fits share "
     "--landmarks-points, --gamma and the other options; --until sums ends each of them with its "
     "sums, on any machine, in any order. No rows are read. `fit STORE NAME --model MODEL.nym` "
     "then places the rows of each store.",
     "nystream export points.nys first --part landmark-points -o d.npy\n"
     "nystream fit points.nys part --landmarks-points d.npy --gamma 0.1 --until sums\n"
     "nystream merge points.nys --name part -o whole.nym",
     .run = cli_run_merge},
    {"list", "STORE", "", 1, 1, 0, EVERY, "the names of the results, with their status",
     "Prints a line for each result: name, tab, status (done, running, interrupted; summed: it "
     "ended with its sums); on a terminal, another tab and what map it is. An "
     "interrupted result has another tab and the command that resumes it; one to which rows were "
     "not added that the store has, how many they are.",
     "nystream list points.nys", .run = cli_run_list},
    {"repair", "STORE", "", 1, 1, WORK, EVERY,
     "set aside what is damaged, so that the rest can be used",
     "Reads every byte, as verify does, and prints what it sets aside. Rows in damaged blocks are "
     "lost: they keep their numbers, `info` counts them, and what is fitted from then on covers "
     "the others, which export --part rows lists. Damaged labels become missing, damaged row "
     "numbers of the source 2^64-1. A result with a damaged chunk is removed; save what is left "
     "of it with export --skip-damaged before. Where points/ or results/ was put back from an "
     "older copy, the store can be written again from then on. Refused, with nothing changed, "
     "while an import or a fit runs, and where the damage is in what all else hangs on: import "
     "the points again.",
     "nystream verify points.nys || nystream repair points.nys", .run = cli_run_repair},
    {"truncate", "STORE", "--keep N", 1, 1, WORK, EVERY | OWN_KEEP | OWN_DROP_RESULTS,
     "take out the rows at the end of a store",
     "Keeps the first N rows, as if the others had never been imported: a bad night goes, and what "
     "is fitted, updated or appended from then on does not know of it. `info` lists which rows "
     "each import added. Reads the rows that stay, for their statistics. A result that has rows "
     "which go cannot follow: it is named, and nothing is changed, unless --drop-results removes "
     "it; results of the rows that stay are kept as they are. The rows go in one step: a kill "
     "leaves all of them, or those that stay, and the same command goes on. Refused while an "
     "import or a fit runs. Of a store in shards, give the path of its last shard.",
     "nystream truncate points.nys --keep 400 --drop-results", .run = cli_run_truncate},
    {"compact", "STORE", "", 1, 1, COMMON, EVERY, "give back the disk that removed results held",
     "A store keeps the room of removed or replaced results for later ones, and its files never "
     "get smaller by themselves. compact copies what is left, for which the disk needs room, and "
     "puts the copy in the store's place in one step: a kill leaves the old store or the new one. "
     "Does nothing if less than a sixteenth is free. Refused while an import or a fit runs; "
     "readers go on.",
     "nystream compact points.nys", .run = cli_run_compact},
    {"rm", "STORE NAME…", "", 2, NO_LIMIT, 0, EVERY, "remove results",
     "Removes each NAME from the store, at once and without asking. Later results use its room; "
     "`compact` gives it back to the disk.",
     "nystream rm points.nys second", .run = cli_run_rm},
    {"bench", "", "", 0, 0, WORK, EVERY, "measure this machine, for plans",
     "Measures the rates that plans rest on (matrix products, exp, memory, disk) and keeps them "
     "in the user's cache folder.",
     "nystream bench", .run = cli_run_bench},
    {"version", "", "", 0, 0, 0, EVERY, "print the version",
     "Prints the version of the command and of "
     "the library that it runs with.",
     "nystream version --json", .run = cli_run_version},
    {"help", "[VERB]", "", 0, 1, 0, EVERY | OWN_ALL | OWN_MAN | OWN_BASH | OWN_ZSH,
     "explain a verb",
     "Explains a verb and its common options, or with --all every option. With another option "
     "writes the manual page or a completion script, made from the same tables, or with --json the "
     "tables themselves.",
     "nystream help fit --all\n"
     "nystream help --man > nystream.1",
     .run = cli_run_help},
    {.name = NULL},
};
