/*
 * The table of verbs. It names the functions that run them, and so stands above all of those:
 * main() alone refers to it, and hands it down in struct command to what looks verbs up.
 */
#include "cli/cli.h"

enum { NO_LIMIT = 1 << 30 };

/* Options of every verb; of those that take a budget of memory; and of those that work in several
 * threads as well. */
#define EVERY (OWN_JSON | OWN_QUIET | OWN_STRICT | OWN_VERBOSE | OWN_HELP)
#define COMMON NY_GROUP_COMMON
#define WORK (NY_GROUP_COMMON | NY_GROUP_THREADS) /* of verbs that work in several threads */

const struct verb cli_verbs[] = {
    {"import", "STORE FILE…", "", 2, NO_LIMIT, NY_GROUP_IMPORT | WORK, EVERY,
     "read tables into a store",
     "Reads each FILE in turn, in one pass of bounded memory; - is the standard input. Formats: "
     "npy, CSV, TSV, LIBSVM, MatrixMarket, IDX, fvecs and bvecs, gzipped or not; scipy's sparse "
     "npz; genotypes of PLINK, .bed with .bim and .fam; and, if the program nystream-hdf5 is "
     "installed, HDF5 files of AnnData (.h5ad) and 10x Genomics (.h5). Sparse matrices stay "
     "sparse. --transpose turns genes × cells, as 10x writes "
     "them, into rows of cells. Row and column names are kept if the file has them: .h5ad, .h5, "
     "barcodes.tsv and features.tsv beside a matrix.mtx, and a header for columns; see export "
     "--part ids. An import is all or nothing: until it ends, readers see the store as it was. If "
     "it is interrupted, the same command resumes it. --append adds rows to a store that has "
     "points; truncate can remove them again. If an --append was killed, run it again: it adds "
     "only what is missing. If it finished, do not run it again: it would add the same rows "
     "twice.",
     "nystream import points.nys table.csv --label-column class\n"
     "nystream import points.nys more.csv --label-column class --append\n"
     "nystream import cells.nys counts.csv --rows total:10000 --values log1p",
     .run = cli_run_import, .resumable = true},
    {"info", "STORE [NAME]|MODEL.nym", "", 1, 2, 0, EVERY,
     "show what a store holds, or everything about one result",
     "Shows what a store holds: rows, columns, element type, size, labels and results. With NAME, "
     "shows that result: the command that made it, its options, eigenvalues, certificate (how far "
     "off it is), cost and, if interrupted, the command that resumes it. Of a model's file it "
     "shows what the model is, and the certificate of its fit.\n"
     "- effective rank: the number of eigenvalues above rounding error\n"
     "- trace of: the matrix that the map decomposes; trace error: the share of its trace that the "
     "landmarks leave out; variance kept: the share in the components\n"
     "- residual: the squared distance of a row to the span of the landmarks\n"
     "- passes, rows read, data read, work, time: of the last run; total: of all runs so far\n"
     "- time over ideal: the time of the passes, divided by that of their matrix products alone at "
     "the rate of `nystream bench`; large if there are few rows\n"
     "- reserved by stage: the most memory that each stage reserved",
     "nystream info points.nys\n"
     "nystream info points.nys first --json",
     .run = cli_run_info},
    {"verify", "STORE", "", 1, 1, WORK, EVERY, "read every byte and list what is damaged",
     "Reads every byte of a store, in several threads, and verifies the checksums. Prints `ok`, or "
     "lists each damaged block of points and chunk of a result with its rows and exits 5. All "
     "other rows can still be read: see export --skip-damaged and repair.",
     "nystream verify points.nys", .run = cli_run_verify},
    {"plan", "[STORE]", "", 0, 1, NY_GROUP_FIT | NY_GROUP_PLAN | WORK, EVERY,
     "estimate the cost of a fit before it runs, or compare kernel widths",
     "Estimates what `fit` with the same options would cost on this machine. If the memory budget "
     "is too small, names the smallest one that works. Exits 0 either way. With --shape instead of "
     "STORE, nothing needs to be imported. With --gamma-grid, compares kernel widths instead.\n"
     "--gamma-grid takes one sample of a few thousand rows. For each width it prints the trace "
     "error to expect from as many uniform landmarks, the share of the trace in the components, "
     "how many eigenvalues hold 90 % of it, the effective rank (sum of eigenvalues)²/(sum of "
     "squares), and the mean of k(x,y) over pairs of rows: 1 if all rows look alike, 0 if no row "
     "is near another.",
     "nystream plan points.nys --landmarks 100 --memory 256M\n"
     "nystream plan --shape 1e7,784,u8 --memory 4G\n"
     "nystream plan points.nys --gamma-grid 0.1,1,10",
     .run = cli_run_plan},
    {"fit", "STORE NAME", "", 2, 2, NY_GROUP_FIT | NY_GROUP_UPDATE | WORK, EVERY,
     "compute an embedding, resume it, or update it",
     "Selects landmarks, accumulates, solves, projects, and stores the result under NAME. It "
     "writes a checkpoint at least every 30 seconds: after an interruption, the same command or "
     "`fit STORE NAME` alone resumes from the last one and gives the same bytes. A NAME with other "
     "options is refused; --restart replaces it.\n"
     "--update adds the rows that were appended since the fit. Readers see the old result until "
     "the update is complete.",
     "nystream fit points.nys first --landmarks 100 --components 3 --memory 256M\n"
     "nystream fit points.nys groups --map laplacian --landmarks 100 --row-normalize",
     .run = cli_run_fit, .resumable = true},
    {"select", "STORE NAME", "", 2, 2, NY_GROUP_SELECT | WORK, EVERY,
     "choose landmarks without fitting",
     "Stores a list of landmarks (a dictionary) under NAME, for `fit --landmarks-from NAME`. It is "
     "resumed like a fit, by the same command or by `select STORE NAME`.",
     "nystream select points.nys chosen --select greedy --tolerance 0.1\n"
     "nystream fit points.nys second --landmarks-from chosen",
     .run = cli_run_select, .resumable = true},
    {"graph", "STORE NAME", "", 2, 2, NY_GROUP_GRAPH | WORK, EVERY,
     "find nearest neighbours and the components of their graph",
     "Finds the exact nearest neighbours of every row and stores them under NAME, with the "
     "components of the graph that joins them. It searches a tree of boxes if there are few "
     "columns, else all pairs of rows or, with many columns, a sieve of codes; the result is the "
     "same. --recall 0.95 finds 95 % of the neighbours by whichever search takes the least work, "
     "which is far less for many rows of many columns. --sweep also reports what other numbers of "
     "neighbours would give. A graph is resumed like a fit. Parts to export: neighbors, distances, "
     "components, rows (those of the largest component) and graph (all edges).\n"
     "With --edges the graph is read from a file. If STORE does not exist, it is created with "
     "nodes but no points, which is enough for path and for maps of the graph. Self-loops are left "
     "out. If an edge occurs more than once, the shortest length counts, or affinities are added. "
     "Both are counted and reported.",
     "nystream graph points.nys near --neighbors 5 --sweep 2,3,5,8\n"
     "nystream fit points.nys unrolled --map isomap --graph near --landmarks 100",
     .run = cli_run_graph, .resumable = true},
    {"path", "STORE GRAPH", "--from ROW --to ROW", 2, 2, NY_GROUP_PATH | COMMON, EVERY,
     "find a shortest path between two rows of a graph",
     "Prints the rows of a shortest path from row --from to row --to, one a line, each with the "
     "length of the path up to it.",
     "nystream path points.nys near --from 0 --to 1", .run = cli_run_path},
    {"eval", "STORE NAME…", "", 2, NO_LIMIT, NY_GROUP_EVALUATE | WORK, EVERY | OWN_LABELS,
     "evaluate results: clusters against labels, and more",
     "Prints a table with a column for each NAME and a line for each figure. Figures that do not "
     "apply are left out, with the reason below. The clusters are kept with the result, for export "
     "--part clusters; a later eval without --clusters looks for as many.\n"
     "k-means finds clusters in the embedding, from --n-init k-means++ initialisations. These "
     "figures use the labels of the rows that have one:\n"
     "- purity: the share of rows in the largest class of their cluster\n"
     "- accuracy: the share of rows whose cluster is that of their class, in the best one-to-one "
     "matching of clusters and classes\n"
     "- largest class: the share of rows in the largest class, which is the purity and the "
     "accuracy of a single cluster: compare these with it\n"
     "- class concentration: the share of rows in the largest cluster of their class (the accuracy "
     "of Talwalkar et al. 2013); 1 for a single big cluster\n"
     "- nmi, ari: normalised mutual information, and the adjusted Rand index\n"
     "- kNN error: how often the nearest neighbours in the embedding name the wrong class, over "
     "ten splits into halves\n"
     "These figures need no labels:\n"
     "- cluster sizes: the rows of each cluster, by its number; for more than 12 clusters, the "
     "smallest and the largest\n"
     "- inertia: the sum of squared distances of rows to the centre of their cluster\n"
     "- variance between: the share of the variance that lies between the centres of clusters\n"
     "- silhouette: the mean of (b - a)/max(a, b) over --sample rows, where a and b are the mean "
     "distances of a row to its own cluster and to the nearest other one\n"
     "- ±: the standard deviation over initialisations or splits; for silhouette, distance and "
     "relative error, the standard error\n"
     "These figures are measured on a sample of rows:\n"
     "- trustworthiness: how far neighbours in the embedding are neighbours in the input\n"
     "- continuity: how far neighbours in the input are neighbours in the embedding\n"
     "- residual variance: 1 minus the squared correlation of distances in input and embedding\n"
     "- distance error: |D - D~|/|D| of the squared distances that the kernel implies\n"
     "- relative error: |K - K~|/|K| of the matrix that the map decomposes\n"
     "- relative, distance and projection accuracy, if the sample is all rows: the error of the "
     "best matrix of that rank, divided by this one's\n"
     "--against adds how far eigenvectors, eigenvalues and, after a linear regression, rows agree "
     "with another result.",
     "nystream eval points.nys first groups --clusters 3", .run = cli_run_eval},
    {"transform", "STORE NAME|MODEL.nym", "--input FILE -o OUT.npy", 1, 2, NY_GROUP_READ | WORK,
     EVERY | OWN_INPUT | OWN_OUTPUT | OWN_DISTANCES | OWN_CLUSTERS | OWN_NEIGHBORS | OWN_RECALL |
         OWN_WITH,
     "place new points with a fitted model",
     "Reads rows from --input and writes their coordinates, in one streaming pass and without "
     "solving anything. A model that was exported as a file (export --part model) needs no store. "
     "Warns if the new rows are unlike those of the fit, as on another scale or with columns in "
     "another order: if their drift, which --json reports, is more than 0.35 of 1.\n"
     "After eval has found clusters, --clusters names a second output file, for the cluster whose "
     "centre is nearest to each new row.\n"
     "With a graph, new rows get neighbours instead of coordinates: the numbers of the nearest "
     "rows of the store, from 0. --distances names a second output file, for the distances. The "
     "search uses a tree of boxes if there are few columns, else a sieve of short codes, and finds "
     "all neighbours. With --recall below 1, a sieve finds that share of them in less time.",
     "nystream transform points.nys first --input new.csv -o placed.npy\n"
     "nystream transform points.nys first --input new.csv -o p.csv --clusters c.csv\n"
     "nystream graph points.nys near\n"
     "nystream transform points.nys near --input new.csv -o n.npy --distances d.npy",
     .run = cli_run_transform},
    {"export", "STORE [NAME]", "-o OUT.npy", 1, 2, COMMON,
     EVERY | OWN_PART | OWN_OUTPUT | OWN_SKIP_DAMAGED | OWN_RAW | OWN_WITH | OWN_ROWS,
     "write a part of a result to a file",
     "Writes the embedding or another part of a result. The extension of the output file selects "
     "the format: .npy, .csv, .csv.gz or .tsv; .nym for a model; .txt for names. A graph (--part "
     "graph) is a symmetric matrix in .npz (scipy) or .mtx, or lines i j weight in .txt, .csv or "
     ".tsv. Standard output (-) and devices get npy, or lines for names and graphs. Without NAME, "
     "it writes a part of the store itself, for all rows: points, labels, source (the number of "
     "each row in its file, from 0), ids (row names), columns (column names) or classes (the words "
     "of labels, ordered by their numbers from 0). The file appears when it is complete. If a "
     "chunk is damaged, export exits 5. With --skip-damaged it warns and writes NaN for the lost "
     "rows (2^64-1 for row numbers, empty for names), so that all others keep their places.",
     "nystream export points.nys first -o embedding.npy\n"
     "nystream export points.nys first --part eigenvalues -o eigenvalues.csv\n"
     "nystream export points.nys --part columns -o names.txt",
     .run = cli_run_export},
    {"plot", "STORE NAME", "-o OUT.png", 2, 2, NY_GROUP_PLOT | COMMON,
     EVERY | OWN_OUTPUT | OWN_TERMINAL, "draw an embedding as PNG, SVG or PDF, or on the terminal",
     "Draws two columns of an embedding, as points or, if there are many, as an image of their "
     "density, in memory independent of their number. Colours can be told apart without colour "
     "vision. From the 21st class on, colours repeat, with other marks where points have marks. "
     "--axes and --color take row, label, cluster, component (of a graph), residual, or the number "
     "of a component; cluster:B stands for the clusters of result B. A column of the points is "
     "given by its name, NAME or, if one of these words is its name, column:NAME; if columns have "
     "no names, as column:7 (from 0). Its values are those that import has prepared.",
     "nystream plot points.nys first -o first.png\n"
     "nystream plot points.nys first --terminal --axes 1,3",
     .run = cli_run_plot},
    {"report", "STORE [NAME]…", "-o OUT.html", 1, NO_LIMIT, NY_GROUP_REPORT | COMMON,
     EVERY | OWN_OUTPUT, "write results as one HTML page",
     "Writes one page that needs no network: interactive plots, eigenvalues, certificate, cost, "
     "and the command that makes each result. Several results appear side by side; without NAME, "
     "all finished ones. Points are coloured by label, cluster (after eval) or residual. --path "
     "draws a shortest path in the graph of a result, or in a graph among the results, with its "
     "rows (as images, if they are images). The page is smaller than 5 MB for any number of rows: "
     "an image of components 1 and 2 shows all, and a sample is interactive.",
     "nystream report points.nys first groups -o report.html", .run = cli_run_report},
    {"embed", "FILE", "-o OUT.npy", 1, 1, NY_GROUP_FIT | NY_GROUP_READ | NY_GROUP_EMBED | WORK,
     EVERY | OWN_OUTPUT, "turn a table into an embedding in one step",
     "Imports, fits and exports in one step, without a store.",
     "nystream embed table.csv -o embedding.npy --label-column class", .run = cli_run_embed},
    {"merge", "STORE…", "--name NAME -o MODEL.nym", 1, NO_LIMIT, WORK,
     EVERY | OWN_NAME | OWN_OUTPUT, "combine the sums of several stores into one model",
     "Adds up the sums that fits of the STOREs left under NAME, and solves them. The model and its "
     "certificate are those of one fit of all rows, up to rounding. The fits share "
     "--landmarks-points, --gamma and the other options. Each ends with its sums (--until sums) "
     "and may run on any machine, in any order. No rows are read. `fit STORE NAME --model "
     "MODEL.nym` then places the rows of each store.",
     "nystream export points.nys first --part landmark-points -o d.npy\n"
     "nystream fit points.nys part --landmarks-points d.npy --gamma 0.1 --until sums\n"
     "nystream merge points.nys --name part -o whole.nym",
     .run = cli_run_merge},
    {"list", "STORE", "", 1, 1, 0, EVERY, "list the results of a store with their status",
     "Prints a line for each result: its name, a tab and its status (done, running, interrupted, "
     "or summed if the fit ended with its sums). Further fields, after tabs, give the command "
     "that resumes an interrupted result, and how many appended rows a result lacks.",
     "nystream list points.nys", .run = cli_run_list},
    {"repair", "STORE", "", 1, 1, WORK, EVERY,
     "set damaged data aside, so that the rest can be used",
     "Reads every byte, as verify does, sets aside what is damaged, and lists it. Rows in damaged "
     "blocks are lost: they keep their numbers, `info` counts them, and later fits cover the other "
     "rows, which export --part rows lists. Damaged labels become missing, and damaged row numbers "
     "of the source 2^64-1. Results with damaged chunks are removed; to keep their other rows, run "
     "export --skip-damaged first. If points/, results/ or a shard was restored from an older "
     "copy, it is accepted, and the store can be written again. repair refuses to run, and changes "
     "nothing, while an import or a fit runs. It also refuses if the structure of the store is "
     "damaged; then import the points again.",
     "nystream verify points.nys || nystream repair points.nys", .run = cli_run_repair},
    {"truncate", "STORE", "--keep N", 1, 1, WORK, EVERY | OWN_KEEP | OWN_DROP_RESULTS,
     "remove the last rows of a store",
     "Keeps the first N rows, as if the others had never been imported: a bad batch is gone, and "
     "later fits, updates and appends know nothing of it. `info` lists which rows each import "
     "added. Reads the remaining rows for their statistics. Results that include removed rows, if "
     "only by a frozen update, cannot be kept: truncate names them and changes nothing, unless "
     "--drop-results removes them. Other results are kept as they are. The rows are removed in one "
     "step: a kill leaves all rows or only the first N, and the same command resumes. truncate "
     "refuses to run while an import or a fit runs. For a store in shards, give the path of a "
     "shard.",
     "nystream truncate points.nys --keep 400 --drop-results", .run = cli_run_truncate},
    {"compact", "STORE", "", 1, 1, COMMON, EVERY, "reclaim the disk space of removed results",
     "A store reuses the space of removed or replaced results for later ones, and its files never "
     "shrink by themselves. compact copies the rest, which needs free disk space, and replaces the "
     "store in one step: a kill leaves the old store or the new one. It does nothing if less than "
     "a sixteenth is free, and refuses to run while an import or a fit runs. Readers can continue.",
     "nystream compact points.nys", .run = cli_run_compact},
    {"rm", "STORE NAME…", "", 2, NO_LIMIT, 0, EVERY, "remove results",
     "Removes each NAME from the store, at once and without asking. Later results reuse its space; "
     "`compact` gives it back to the disk.",
     "nystream rm points.nys second", .run = cli_run_rm},
    {"bench", "", "", 0, 0, WORK, EVERY, "measure the speed of this machine, for plans",
     "Measures the rates that plans use (matrix products, exp, eigenproblems) and the disk.",
     "nystream bench", .run = cli_run_bench},
    {"version", "", "", 0, 0, 0, EVERY, "print the version",
     "Prints the version of the command and of the library that it uses.",
     "nystream version --json", .run = cli_run_version},
    {"help", "[VERB]", "", 0, 1, 0, EVERY | OWN_ALL | OWN_MAN | OWN_BASH | OWN_ZSH,
     "explain a verb",
     "Explains a verb and its common options; with --all, every option. Other options write the "
     "manual page or a completion script from the same tables, or with --json "
     "the tables themselves.",
     "nystream help fit --all\n"
     "nystream help --man > nystream.1",
     .run = cli_run_help},
    {.name = NULL},
};
