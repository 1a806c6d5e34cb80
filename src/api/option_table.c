/*
 * The table of all options: one line each, with kind, default, help and the groups of calls that
 * take it (api/option_table.h).
 *
 * ny_options_set(), `--help`, the man page, the completions and the identity of a job read the
 * table, so that an option is declared here and nowhere else; its rules are in
 * api/options_rules.c. Short help has the first sentence of a summary. The words of kernels,
 * rules, maps, methods and formats are not repeated here: they are joined from the tables of those
 * once, when an option is first looked up, and are constant from then on.
 */
#include "api/option_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mutex.h"
#include "columns/kernel.h"
#include "fit/settings.h"
#include "io/reader.h"

#define IMPORT NY_GROUP_IMPORT
#define FIT NY_GROUP_FIT
#define SELECT NY_GROUP_SELECT
#define COMMON NY_GROUP_COMMON
#define READ NY_GROUP_READ
#define EMBED NY_GROUP_EMBED
#define PLAN NY_GROUP_PLAN
#define UPDATE NY_GROUP_UPDATE
#define GRAPH NY_GROUP_GRAPH
#define PATH NY_GROUP_PATH
#define EVALUATE NY_GROUP_EVALUATE
#define PLOT NY_GROUP_PLOT
#define REPORT NY_GROUP_REPORT
#define RARE NY_GROUP_RARE
#define THREADS NY_GROUP_THREADS
#define STORED NY_GROUP_STORED

/* An option acts with these, of enum ny_option_acts. */
#define ANY 0
#define ON_GAMMA NY_ACTS_ON_GAMMA
#define ON_SIGMA NY_ACTS_ON_SIGMA
#define ON_DEGREE NY_ACTS_ON_DEGREE
#define ON_TOLERANCE NY_ACTS_ON_TOLERANCE
#define ON_SEARCH NY_ACTS_ON_SEARCH
#define ON_POINTS NY_ACTS_ON_POINTS
#define ON_LANDMARKS NY_ACTS_ON_LANDMARKS
#define ON_RANDOMIZED NY_ACTS_ON_RANDOMIZED
#define OF_KERNELS NY_ACTS_OF_KERNELS
#define OF_GRAPHS NY_ACTS_OF_GRAPHS
#define OF_NEW_GRAPH NY_ACTS_OF_NEW_GRAPH

/* Sections of help. */
#define INPUT "Input"
#define EMBEDDING "Embedding"
#define KERNEL "Kernel"
#define LANDMARKS "Landmarks"
#define SOLVER "Solver"
#define NEIGHBORS "Neighbours"
#define MEASURES "Measures"
#define PICTURE "Picture"
#define ERROR "Error"
#define RUN "Run"

/* name, kind, least, in the identity, argument, default, section, groups, what it acts with,
 * summary */
#define OPTION_MAP(X)                                                                              \
    X("format", NY_CHOICE, 0, true, "FORMAT", "auto", INPUT, IMPORT | READ | RARE, ANY,            \
      "file format; auto goes by content, then by name")                                           \
    X("labels", NY_TEXT, 0, true, "FILE", NULL, INPUT, IMPORT, ANY,                                \
      "labels, one a row: IDX, npy or a text file")                                                \
    X("label-column", NY_TEXT, 0, true, "N", NULL, INPUT, IMPORT | READ, ANY,                      \
      "the label's column: its number, from 1, or its name. Of .h5ad a column of obs by name, "    \
      "whose "                                                                                     \
      "categories are classes")                                                                    \
    X("id-column", NY_TEXT, 0, true, "N", NULL, INPUT, IMPORT | READ, ANY,                         \
      "row names' column: its number, from 1, or its name. Of csv and tsv; its words are kept as " \
      "they are, and may be empty: see export --part ids")                                         \
    X("header", NY_CHOICE, 0, true, "auto|yes|no", "auto", INPUT, IMPORT | READ | RARE, ANY,       \
      "the first line names the columns")                                                          \
    X("dtype", NY_CHOICE, 0, true, "auto|u8|i16|f32|f64", "auto", INPUT, IMPORT | READ | RARE,     \
      ANY, "element type to keep; auto: as the file has it")                                       \
    X("transpose", NY_SWITCH, 0, true, NULL, "no", INPUT, IMPORT | READ | RARE, ANY,               \
      "the points are the columns of the file, as in 10x's genes × cells. For sparse matrices, "  \
      "mtx and npz: entries that are not in the order of the points are sorted in a scratch file " \
      "(beside the store; else in $TMPDIR)")                                                       \
    X("matrix", NY_TEXT, 0, true, "NAME", NULL, INPUT, IMPORT | READ | RARE, ANY,                  \
      "the table to read of an HDF5 file: X, layers/NAME, obsm/NAME or raw/X; without it X, or "   \
      "the matrix of 10x Genomics")                                                                \
    X("append", NY_SWITCH, 0, true, NULL, "no", INPUT, IMPORT, ANY,                                \
      "add to the points that the store has")                                                      \
    X("expect-rows", NY_COUNT, 0, false, "N", NULL, INPUT, IMPORT | RARE, ANY,                     \
      "import only where the store has N rows before, else refuse (exit 2): a repeated --append "  \
      "then adds no rows twice. An import that was killed goes on; of a shard, its own rows")      \
    X("shard", NY_TEXT, 0, false, "I/N", NULL, INPUT, IMPORT, ANY,                                 \
      "shard I, from 0, of a store of N shards. Each is a store of its own in the folder STORE, "  \
      "imported by whom and when you like; reading verbs take all of them as one")                 \
    X("shards", NY_COUNT, 1, false, "N", NULL, INPUT, IMPORT, ANY,                                 \
      "deal the rows of the FILEs out, in their order, to the N shards of a store, of which "      \
      "several processes import their own (mpirun, --peers). npy, idx, fvecs and bvecs are cut "   \
      "at multiples of 2,048 rows, so that fits have the bytes of one store; other files are "     \
      "dealt out as wholes")                                                                       \
    X("like", NY_TEXT, 0, false, "STORE", NULL, INPUT, IMPORT | RARE, ANY,                         \
      "with --shard: what shards agree in, columns, type, classes, is that of this store in "      \
      "shards; for folders on disks of their own")                                                 \
    X("layout", NY_CHOICE, 0, true, "auto|dense|sparse", "auto", INPUT, IMPORT | EMBED | RARE,     \
      ANY,                                                                                         \
      "how rows are kept; auto: those of sparse formats sparse where under an eighth is not 0")    \
    X("rows", NY_TEXT, 0, true, "none|total:S|unit", "none", INPUT, IMPORT | EMBED | RARE, ANY,    \
      "divide each row: total:S, by its sum over S; unit: by its length. The store keeps the "     \
      "values as they came; whatever reads it sees them prepared, and new rows are likewise")      \
    X("values", NY_CHOICE, 0, true, "raw|log1p|sqrt|binary", "raw", INPUT, IMPORT | EMBED | RARE,  \
      ANY,                                                                                         \
      "then prepare each value: log1p: ln(1 + x); binary: 1 where it is not 0. The store keeps "   \
      "the values as they came, as with --rows. For counts: --rows total:10000 --values log1p")    \
    X("min-values", NY_COUNT, 1, true, "N", NULL, INPUT, IMPORT | RARE, ANY,                       \
      "leave out rows with fewer than N values that are not 0. They are counted and told, as "     \
      "with --nan drop")                                                                           \
    X("codec", NY_CHOICE, 0, true, "auto|raw", "auto", INPUT, IMPORT | RARE, ANY,                  \
      "auto: blocks are LZ4-compressed where that saves a quarter; raw: never")                    \
    X("shuffle", NY_SWITCH, 0, true, NULL, "no", INPUT, IMPORT, ANY,                               \
      "store the rows of this import in random order (see --seed)")                                \
    X("nan", NY_CHOICE, 0, true, "error|drop|keep", "error", INPUT, IMPORT | READ, ANY,            \
      "what becomes of rows with NaN or inf. drop, of import and embed: they are left out, "       \
      "counted, and the first are told; keep, of embed and transform: the output has the rows of " \
      "the input, NaN for those that have no place")                                               \
    X("dims", NY_COUNT, 1, true, "D", NULL, INPUT, IMPORT | EMBED | RARE, ANY,                     \
      "number of columns, fixed beforehand (LIBSVM files do not say)")                             \
    X("columns", NY_TEXT, 0, true, "LIST", NULL, INPUT, IMPORT | READ, ANY,                        \
      "columns to keep, from 1 or by name: 1,3-5,name. from-to of names, too. Columns "            \
      "with names are kept as LIST has them, or where rows are added as the store does; others "   \
      "in file order")                                                                             \
    X("drop-columns", NY_TEXT, 0, true, "LIST", NULL, INPUT, IMPORT | READ, ANY,                   \
      "columns to leave out, from 1 or by name: 1,3-5,name")                                       \
    X("new-columns", NY_CHOICE, 0, true, "error|drop", "error", INPUT, IMPORT | READ | RARE, ANY,  \
      "what becomes of columns of sparse rows beyond those of the store, such as new terms of "    \
      "documents. drop: their values are left out, and counted")                                   \
    X("column-names", NY_TEXT, 0, true, "FILE", NULL, INPUT, IMPORT | READ | RARE, ANY,            \
      "names of columns, one a line, of npz, libsvm, mtx and other files without a header. Rows "  \
      "to add or to place have the columns of the store by their names: others are left out")      \
    X("map", NY_CHOICE, 0, true, "MAP", "kpca", EMBEDDING, FIT, ANY,                               \
      "kpca: kernel PCA; laplacian: spectral clustering; isomap, eigenmaps: by a graph. "          \
      "svd: K as it is; kpca: K centred; pca: that of the linear kernel; laplacian: K "            \
      "divided by its degrees; diffusion: that, times its eigenvalues to the power of "            \
      "--time; isomap: lengths of shortest paths in a graph of neighbours (--neighbors, or "       \
      "--graph); eigenmaps: smoothest functions on such a graph; diffusion with --neighbors "      \
      "or --graph: of such a graph, not of a kernel")                                              \
    X("model", NY_TEXT, 0, false, "MODEL.nym", NULL, EMBEDDING, UPDATE | RARE, ANY,                \
      "place the rows by this model, from another store or 'merge'. It says map, kernel and "      \
      "landmarks; nothing is solved")                                                              \
    X("approx", NY_CHOICE, 0, true, "METHOD", "projected", EMBEDDING, FIT, OF_KERNELS,             \
      "projected: the best of landmarks; nystrom: faster, coarser; exact: for small n. "           \
      "projected takes two passes, nystrom one; orthonystrom, column: between them; "              \
      "ensemble: slices of many landmarks, where their m^3 is too much; randomized, "              \
      "gaussian: by products with all of K, n^2 kernel values each, of linear and cosine "         \
      "kernels two passes; exact: K itself (--map pca: for any n)")                                \
    X("select", NY_CHOICE, 0, true, "RULE", NULL, LANDMARKS, FIT | SELECT,                         \
      ON_LANDMARKS | OF_KERNELS,                                                                   \
      "rpcholesky leaves the least error; uniform: at random. greedy bounds every entry of K. "    \
      "rpcholesky is the default of projected and ensemble, uniform that of "                      \
      "nystrom, column and orthonystrom, which assume it; weighted: at random by the "             \
      "diagonal of what is decomposed; given: --landmarks-file, -points or -from; all: "           \
      "every row; maxmin: isomap's, each the farthest from those before")                          \
    X("landmarks", NY_COUNT, 1, true, "M", "1000", LANDMARKS, FIT | SELECT,                        \
      ON_LANDMARKS | OF_KERNELS,                                                                   \
      "number of landmarks. With --tolerance the most there may be, none by default; of "          \
      "gaussian its random columns")                                                               \
    X("tolerance", NY_NUMBER, 0, true, "E", NULL, LANDMARKS, FIT | SELECT,                         \
      ON_TOLERANCE | ON_LANDMARKS | OF_KERNELS,                                                    \
      "greedy: no row keeps a residual above this. It is below 1 for the rbf, laplacian and "      \
      "cosine kernels (below 2 with --affine), else a part of |x|^2; without it, the one that "    \
      "gives --landmarks is found")                                                                \
    X("pilot", NY_SWITCH, 0, true, NULL, "yes", LANDMARKS, FIT | SELECT | RARE,                    \
      ON_SEARCH | OF_KERNELS,                                                                      \
      "greedy without --tolerance: begin the search for one where a sample suggests, not at 1")    \
    X("landmarks-file", NY_TEXT, 0, true, "F.npy", NULL, LANDMARKS, FIT | SELECT | RARE,           \
      ON_LANDMARKS | OF_KERNELS, "row numbers of the landmarks, from 0, in order")                 \
    X("landmarks-points", NY_TEXT, 0, true, "P.npy", NULL, LANDMARKS, FIT | SELECT | RARE,         \
      ON_LANDMARKS | OF_KERNELS,                                                                   \
      "the landmarks themselves, of the points' columns. They need be no rows of the store, but "  \
      "centres of clusters, for example")                                                          \
    X("landmarks-from", NY_TEXT, 0, true, "NAME", NULL, LANDMARKS, FIT | SELECT | STORED | RARE,   \
      ON_LANDMARKS | OF_KERNELS, "take the landmarks of this result of the same store")            \
    X("components", NY_COUNT, 1, true, "P", "2", EMBEDDING, FIT, ANY, "columns of the embedding")  \
    X("rank", NY_COUNT, 1, true, "K", NULL, EMBEDDING, FIT | RARE, OF_KERNELS,                     \
      "rank kept inside; by default all for projected, all of each expert for ensemble, "          \
      "else the components")                                                                       \
    X("kernel", NY_CHOICE, 0, true, "KERNEL", "rbf", KERNEL, FIT | SELECT, ON_POINTS | OF_KERNELS, \
      "k(x,y); --map pca has the linear one")                                                      \
    X("gamma", NY_WIDTH, 0, true, "G|auto", "auto", KERNEL, FIT | SELECT,                          \
      ON_GAMMA | ON_POINTS | OF_KERNELS,                                                           \
      "width of the kernel. auto: 1/median of |x-y|^2 over pairs of rows (rbf), or of the "        \
      "1-norm (laplacian), 1/columns (polynomial); other kernels have no width")                   \
    X("sigma", NY_WIDTH, 0, true, "S|auto", NULL, KERNEL, FIT | SELECT | RARE,                     \
      ON_SIGMA | ON_POINTS | OF_KERNELS, "width of the rbf kernel as a length: gamma = 1/(2 S^2)") \
    X("epsilon", NY_WIDTH, 0, true, "E|auto", NULL, KERNEL, FIT | SELECT | RARE,                   \
      ON_SIGMA | ON_POINTS | OF_KERNELS, "width of the rbf kernel: gamma = 1/E")                   \
    X("shape", NY_TEXT, 0, false, "ROWS,COLUMNS", NULL, INPUT, PLAN | RARE, ANY,                   \
      "plan for points that are not imported yet, in place of STORE; then, for sparse rows, the "  \
      "number of values that are not 0, and the type, as in 1e7,784,u8 (default f32)")             \
    X("gamma-grid", NY_TEXT, 0, false, "[LIST]", NULL, KERNEL, PLAN, ON_GAMMA | OF_KERNELS,        \
      "compare widths instead. For each of 0.01,0.1,1, or by default of some around "              \
      "--gamma, the error to expect and how fast the spectrum falls")                              \
    X("degree", NY_COUNT, 1, true, "N", "3", KERNEL, FIT | SELECT | RARE,                          \
      ON_DEGREE | ON_POINTS | OF_KERNELS, "degree of the polynomial kernel")                       \
    X("coef0", NY_NUMBER, -INFINITY, true, "C", "1", KERNEL, FIT | SELECT | RARE,                  \
      ON_DEGREE | ON_POINTS | OF_KERNELS, "constant of the polynomial kernel")                     \
    X("averages", NY_CHOICE, 0, true, "landmarks|implicit", NULL, SOLVER, FIT | RARE,              \
      ON_LANDMARKS | OF_KERNELS,                                                                   \
      "means and degrees over the landmarks, or over all rows (implicit); by default implicit "    \
      "for projected and ensemble")                                                                \
    X("normalize", NY_CHOICE, 0, true, "symmetric|asymmetric", "symmetric", EMBEDDING, FIT | RARE, \
      OF_KERNELS, "diffusion: D^-1/2 K D^-1/2, or the random walk D^-1 K")                         \
    X("time", NY_NUMBER_FROM, 0, true, "T", "1", EMBEDDING, FIT | RARE, OF_KERNELS,                \
      "diffusion: steps of the walk, the power of the eigenvalues; 0: none")                       \
    X("row-normalize", NY_SWITCH, 0, true, NULL, "no", EMBEDDING, FIT | RARE, OF_KERNELS,          \
      "scale each row of the embedding to length 1, for clustering")                               \
    X("affine", NY_SWITCH, 0, true, NULL, NULL, LANDMARKS, FIT | SELECT | RARE,                    \
      ON_LANDMARKS | OF_KERNELS,                                                                   \
      "measure residuals from the affine hull of the landmarks, not from their span; by "          \
      "default for greedy selection under kpca and pca")                                           \
    X("inner", NY_CHOICE, 0, true, "auto|exact|randomized", "auto", SOLVER, FIT | RARE,            \
      OF_KERNELS,                                                                                  \
      "eigensolver of nystrom, orthonystrom (auto: by size) and projected (auto: exact; "          \
      "randomized: no matrix of all landmarks is summed up, a pass for each product "              \
      "instead, for few components of many landmarks)")                                            \
    X("oversample", NY_COUNT, 0, true, "P", "5", SOLVER, FIT | RARE, ON_RANDOMIZED | OF_KERNELS,   \
      "extra vectors of randomized solvers; of projected 30 by default")                           \
    X("power", NY_COUNT, 1, true, "Q", "2", SOLVER, FIT | RARE, ON_RANDOMIZED | OF_KERNELS,        \
      "power iterations of randomized solvers; of projected, whose default is 4, the most "        \
      "passes after the first, which end earlier where residuals are small")                       \
    X("tol", NY_NUMBER, 0, true, "E", NULL, SOLVER, FIT | RARE, OF_KERNELS,                        \
      "exact, of linear and cosine kernels: relative error of eigenvalues found by products, "     \
      "which the shape of the points calls for, or this; by default 1e-4; below 6e-5 the last "    \
      "ones may be in f64")                                                                        \
    X("max-passes", NY_COUNT, 1, true, "N", NULL, SOLVER, FIT | RARE, OF_KERNELS,                  \
      "exact, of linear and cosine kernels: the most products that are made, a pass each, by "     \
      "default 60; what is reached by then is kept, with a warning")                               \
    X("experts", NY_COUNT, 1, true, "N", NULL, SOLVER, FIT | RARE, OF_KERNELS,                     \
      "ensemble: how many slices of the landmarks; by default of 100 columns, or the rank")        \
    X("weights", NY_CHOICE, 0, true, "uniform|exponential|ridge", "uniform", SOLVER, FIT | RARE,   \
      OF_KERNELS,                                                                                  \
      "ensemble: of its experts; all but uniform are fitted on the last 20 (ridge: 40) "           \
      "landmarks")                                                                                 \
    X("neighbors", NY_COUNT, 1, true, "T", "5", NEIGHBORS, FIT | GRAPH | EVALUATE,                 \
      OF_GRAPHS | OF_NEW_GRAPH, "nearest neighbours of each row. A row is not its own")            \
    X("metric", NY_CHOICE, 0, true, "euclidean|cosine", "euclidean", NEIGHBORS,                    \
      FIT | GRAPH | RARE, OF_GRAPHS | OF_NEW_GRAPH,                                                \
      "distance of two rows: |x-y|, or 1 - x.y/|x||y|")                                            \
    X("knn", NY_CHOICE, 0, true, "auto|exact|forest|tree|sieve", "auto", NEIGHBORS,                \
      FIT | GRAPH | RARE, OF_GRAPHS | OF_NEW_GRAPH,                                                \
      "exact: from all pairs of rows; tree: the same neighbours by boxes of rows, for dense rows " \
      "of few columns; forest: nearly all neighbours from far fewer pairs, by trees of random "    \
      "projections and neighbours of neighbours; sieve: nearly all, or all, from codes of dense "  \
      "rows; auto: all neighbours, or with a --recall below 1 so many, "                           \
      "in the way that is the least work")                                                         \
    X("recall", NY_NUMBER, 0, true, "R", NULL, NEIGHBORS, FIT | GRAPH | RARE,                      \
      OF_GRAPHS | OF_NEW_GRAPH,                                                                    \
      "the share of true neighbours to find, measured on a sample of rows; by default 0.95 of "    \
      "forest and sieve, and all of them of auto")                                                 \
    X("leaf", NY_COUNT, 1, true, "N", "256", NEIGHBORS, FIT | GRAPH | RARE,                        \
      OF_GRAPHS | OF_NEW_GRAPH,                                                                    \
      "forest: the most rows of a leaf, all pairs of which are compared")                          \
    X("max-distance", NY_NUMBER, 0, true, "R", NULL, NEIGHBORS, FIT | GRAPH | RARE,                \
      OF_GRAPHS | OF_NEW_GRAPH, "no edge is longer than this")                                     \
    X("distance-quantile", NY_NUMBER, 0, true, "Q", NULL, NEIGHBORS, FIT | GRAPH | RARE,           \
      OF_GRAPHS | OF_NEW_GRAPH,                                                                    \
      "no edge is longer than this quantile of the neighbours' distances, such as 0.95")           \
    X("mutual", NY_SWITCH, 0, true, NULL, "no", NEIGHBORS, FIT | GRAPH | RARE,                     \
      OF_GRAPHS | OF_NEW_GRAPH,                                                                    \
      "join two rows where each is among the other's neighbours, not where one is")                \
    X("connect", NY_SWITCH, 0, true, NULL, "no", NEIGHBORS, FIT | GRAPH | RARE,                    \
      OF_GRAPHS | OF_NEW_GRAPH,                                                                    \
      "join the components of the graph by the shortest edges that do, whatever their "            \
      "length")                                                                                    \
    X("largest", NY_SWITCH, 0, true, NULL, "no", NEIGHBORS, FIT | RARE, OF_GRAPHS,                 \
      "maps of a graph: go on with its largest component even where that holds less than half "    \
      "of the rows")                                                                               \
    X("sweep", NY_TEXT, 0, true, "LIST", NULL, NEIGHBORS, GRAPH, ANY,                              \
      "other --neighbors to try, such as 1,2,3,5: components, and rows in the largest")            \
    X("graph", NY_TEXT, 0, true, "NAME", NULL, NEIGHBORS, FIT | STORED, OF_GRAPHS,                 \
      "take this graph of the same store. Maps of a graph; without it the fit makes its own")      \
    X("edges", NY_TEXT, 0, true, "FILE", NULL, NEIGHBORS, GRAPH, ANY,                              \
      "take the edges of this file, not neighbours: .mtx, .npz, or lines i j weight. "             \
      "MatrixMarket counts nodes from 1; a sparse matrix of scipy, and text with blanks, tabs or " \
      "commas (comments: # and %), from 0. Without weights lengths are 1; an edge in one "         \
      "direction has both. Nodes are the rows of STORE; one without points is made where there "   \
      "is none")                                                                                   \
    X("nodes", NY_COUNT, 1, true, "N", NULL, NEIGHBORS, GRAPH | RARE, ANY,                         \
      "--edges: how many nodes there are; by default those of the matrix, or in a text one more "  \
      "than the largest number")                                                                   \
    X("edge-weights", NY_CHOICE, 0, true, "heat|binary|lengths|affinity", NULL, NEIGHBORS,         \
      FIT | GRAPH | RARE, OF_GRAPHS,                                                               \
      "eigenmaps, diffusion: heat, by default: exp(-gamma d^2) of an edge of length d, where "     \
      "gamma auto is 1/median d^2; binary: 1. Of graph --edges: weights are lengths, as by "       \
      "default, or affinity, which these maps then take as they are, and isomap and path not at "  \
      "all")                                                                                       \
    X("from", NY_COUNT, 0, false, "ROW", NULL, NEIGHBORS, PATH, ANY,                               \
      "the row where a path begins")                                                               \
    X("to", NY_COUNT, 0, false, "ROW", NULL, NEIGHBORS, PATH, ANY, "the row where the path ends")  \
    X("measures", NY_TEXT, 0, false, "LIST", "all", MEASURES, EVALUATE, ANY,                       \
      "which to take: clusters, knn, neighborhoods (or neighbors), distances, reconstruction, "    \
      "against, or figures that they give, as JSON calls them; one that is named must apply")      \
    X("against", NY_TEXT, 0, false, "NAME", NULL, MEASURES, EVALUATE, ANY,                         \
      "another result of the same rows, such as an exact one, to compare with")                    \
    X("clusters", NY_COUNT, 1, false, "K", NULL, MEASURES, EVALUATE, ANY,                          \
      "clusters that k-means finds; by default as many as there are classes")                      \
    X("clusters-to", NY_COUNT, 2, false, "K", NULL, MEASURES, EVALUATE, ANY,                       \
      "try each number of clusters from --clusters (or 2) to this, and keep those of the largest " \
      "silhouette")                                                                                \
    X("n-init", NY_COUNT, 1, false, "N", "10", MEASURES, EVALUATE | RARE, ANY,                     \
      "initialisations of k-means: the best one counts")                                           \
    X("knn-neighbors", NY_COUNT, 1, false, "K", "1", MEASURES, EVALUATE | RARE, ANY,               \
      "neighbours that vote on a row's class")                                                     \
    X("sample", NY_COUNT, 4, false, "ROWS", "2000", MEASURES, EVALUATE, ANY,                       \
      "rows, drawn by hash, whose pairs are looked at; as many as there are: exactly")             \
    X("axes", NY_TEXT, 0, false, "X,Y", NULL, PICTURE, PLOT, ANY,                                  \
      "columns across and upwards, components by number from 1; by default 1,2, or row,1 where "   \
      "there is one component")                                                                    \
    X("color", NY_TEXT, 0, false, "COLUMN", "auto", PICTURE, PLOT, ANY,                            \
      "column by which points are coloured, or FILE of a value a row; density: how many lie "      \
      "where; auto: labels, else that")                                                            \
    X("all", NY_SWITCH, 0, false, NULL, "no", PICTURE, PLOT, ANY,                                  \
      "axes reach to the farthest points, not only to the middle 99.8 % and what is near "         \
      "them")                                                                                      \
    X("names", NY_SWITCH, 0, false, NULL, NULL, PICTURE, PLOT, ANY,                                \
      "write the names of classes among their points; by default where they are words, or the "    \
      "points so many that they are an image")                                                     \
    X("mark-landmarks", NY_SWITCH, 0, false, NULL, "no", PICTURE, PLOT, ANY,                       \
      "show where the landmarks are")                                                              \
    X("scree", NY_SWITCH, 0, false, NULL, "no", PICTURE, PLOT, ANY,                                \
      "draw the eigenvalues instead")                                                              \
    X("size", NY_TEXT, 0, false, "WxH", "1600x1200", PICTURE, PLOT, ANY,                           \
      "size of the picture in pixels; an svg or pdf has half as many points")                      \
    X("title", NY_TEXT, 0, false, "TEXT", NULL, PICTURE, PLOT | REPORT, ANY,                       \
      "title above the picture or page; by default NAME, or the name of the store")                \
    X("path", NY_TEXT, 0, false, "A,B", NULL, PICTURE, REPORT, ANY,                                \
      "show the shortest path from row A to row B in the graph of a result, or in one "            \
      "among them")                                                                                \
    X("image", NY_TEXT, 0, false, "HxW|auto|none", "auto", PICTURE, REPORT, ANY,                   \
      "height and width of rows that are images; auto: rows are squares, where "                   \
      "their length is a square number")                                                           \
    X("scale", NY_CHOICE, 0, true, "none|standard|unit|idf|idf-smooth", "none", EMBEDDING,         \
      FIT | SELECT | GRAPH, ON_POINTS | OF_NEW_GRAPH,                                              \
      "scale columns by spread or rarity. standard: the standard deviation; "                      \
      "unit: the range; sparse rows are not centred; idf: times ln(n/df), df of n rows having a "  \
      "value that is not 0; idf-smooth: ln((1+n)/(1+df)) + 1, as scikit-learn has it")             \
    X("features", NY_TEXT, 0, true, "SPEC", NULL, EMBEDDING, FIT | SELECT | GRAPH,                 \
      ON_POINTS | OF_NEW_GRAPH,                                                                    \
      "columns that count: variable:2000, or FILE. variable:N: those of the N largest "            \
      "dispersions within 20 bins by mean, as Seurat chooses genes, of values before --values; "   \
      "variance:N: of the N largest variances; min-rows:N: with values in N rows or more; FILE: "  \
      "names or numbers (from 0) of columns, one a line. Chosen once, before --scale, and kept "   \
      "with the "                                                                                  \
      "result, "                                                                                   \
      "so that new rows and updates go by them")                                                   \
    X("columns-file", NY_TEXT, 0, true, "C.npy", NULL, KERNEL, FIT | RARE,                         \
      ON_LANDMARKS | OF_KERNELS,                                                                   \
      "precomputed kernel columns, with --landmarks-file; they do not hold the diagonal of "       \
      "K, so there is no trace error")                                                             \
    X("precision", NY_CHOICE, 0, true, "f32|f64", "f32", SOLVER, FIT | RARE, ANY,                  \
      "precision of kernel values and of the embedding. With f32, sums over rows are f64 where "   \
      "f32 would lose too much (info: Gram precision); with f64, always")                          \
    X("certify", NY_SWITCH, 0, true, NULL, "no", ERROR, FIT | RARE, OF_KERNELS,                    \
      "a pass more to measure exactly: the error of nystrom, the residuals of all rows")           \
    X("probe", NY_COUNT, 1, true, "R", NULL, ERROR, FIT, OF_KERNELS,                               \
      "measure |K - K~|/|K| from R columns of K. A pass more, for every method; Frobenius "        \
      "norms, columns drawn by hash, with the standard error")                                     \
    X("online", NY_SWITCH, 0, true, NULL, "no", LANDMARKS, FIT | RARE, ANY,                        \
      "greedy with --tolerance: one pass selects and accumulates, a second embeds; for "           \
      "rows before it a landmark counts by its projection, so that the trace error is an "         \
      "upper bound; --gamma auto is of the first 16,384 rows, and embed begins with them")         \
    X("update", NY_CHOICE, 0, false, "full|frozen", NULL, RUN, UPDATE, ANY,                        \
      "take in rows that were appended since. With the options that the result has; full: "        \
      "as a fit of all rows with its gamma and scale; frozen: they are placed by the model "       \
      "as it is")                                                                                  \
    X("until", NY_CHOICE, 0, false, "end|sums", "end", RUN, FIT | STORED | RARE, OF_KERNELS,       \
      "sums: stop behind the pass that sums up the rows, for 'merge', which adds the sums of "     \
      "several stores and solves them; needs --landmarks-points and --gamma as a number, which "   \
      "all of them share. The same command without it goes on")                                    \
    X("restart", NY_SWITCH, 0, false, NULL, "no", RUN, FIT | SELECT | GRAPH, ANY,                  \
      "replace a result of this name (alone: same options). embed, whose store is new, takes "     \
      "it and has none to replace")                                                                \
    X("peers", NY_TEXT, 0, false, "alone|mpi|folder:PATH", NULL, RUN,                              \
      IMPORT | FIT | STORED | RARE, ANY,                                                           \
      "how processes that share the shards of a store exchange sums. folder: by files in PATH; "   \
      "one process a shard, or N with folder:N:PATH; mpi: by its plug-in; default: mpi where "     \
      "mpirun or srun started several processes, else alone. The bytes of results are the same")   \
    X("peers-wait", NY_NUMBER_FROM, 0, false, "SECONDS", "600", RUN, IMPORT | FIT | STORED | RARE, \
      ANY, "folder: how long to wait for the other processes to come")                             \
    X("time-limit", NY_DURATION, 0, false, "TIME", NULL, RUN, FIT | GRAPH | RARE, ANY,             \
      "such as 90s, 30m, 2h or 1d: run nothing, and exit with 8, where the plan takes longer")     \
    X("seed", NY_COUNT, 0, true, "S", "0", RUN, IMPORT | FIT | SELECT | GRAPH | EVALUATE, ANY,     \
      "seed of every random choice. The same seed gives the same bytes")                           \
    X("tmpdir", NY_TEXT, 0, false, "DIR", NULL, RUN, EMBED | RARE, ANY,                            \
      "folder of the temporary store; by default that of the output")                              \
    X("memory", NY_BYTES, 1, false, "SIZE", NULL, RUN, COMMON, ANY,                                \
      "most memory; default half of what is free, import 256M. Such as 2G: K, M, G and T are "     \
      "binary units")                                                                              \
    X("threads", NY_COUNT, 1, false, "N", NULL, RUN, THREADS, ANY,                                 \
      "threads; by default one per CPU")

#define INFO(name, kind, least, identity, argument, fallback, section, groups, acts, summary)      \
    {name, argument, fallback, summary, section, groups},
#define RULE(name, kind, least, identity, argument, fallback, section, groups, acts, summary)      \
    {kind, least, identity, acts},

static struct ny_option_info infos[] = {OPTION_MAP(INFO)};
static const struct ny_option_rule rules[] = {OPTION_MAP(RULE)};

/* ---- choices that other tables offer ------------------------------------------------------ */

/* Each of these returns the name of an entry of another table, in the order of that table, and
 * NULL past its last. Formats have auto in front. */
static const char *format_at(size_t index)
{
    size_t count;
    const struct ny_format_info *formats = ny_formats(&count);

    if (index == 0) return "auto";
    return index <= count ? formats[index - 1].name : NULL;
}

static const char *map_at(size_t index)
{
    const struct ny_map *map = ny_map_at(index);

    return map ? map->name : NULL;
}

static const char *method_at(size_t index)
{
    const struct ny_method *method = ny_method_at(index);

    return method ? method->name : NULL;
}

static const char *rule_at(size_t index)
{
    const struct ny_rule *rule = ny_rule_at(index);

    return rule ? rule->name : NULL;
}

static const char *kernel_at(size_t index)
{
    const struct ny_kernel *kernel = ny_kernel_at(index);

    return kernel ? kernel->name : NULL;
}

/* The argument of an option whose values are the entries of a table. */
static struct {
    const char *option;
    const char *(*name_at)(size_t index);
    char text[256];
} choices[] = {{"format", format_at, ""},
               {"map", map_at, ""},
               {"approx", method_at, ""},
               {"select", rule_at, ""},
               {"kernel", kernel_at, ""}};

static struct ny_once joined = NY_ONCE_INIT;

/* Written once, before anybody reads them; constant from then on. */
static void join_choices(void)
{
    for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
        size_t length = 0;
        const char *name;

        for (size_t k = 0; (name = choices[i].name_at(k)) && length < sizeof(choices[i].text); k++)
            length += (size_t)snprintf(choices[i].text + length, sizeof(choices[i].text) - length,
                                       "%s%s", k ? "|" : "", name);
        infos[ny_option_find(choices[i].option)].argument = choices[i].text;
    }
}

const struct ny_option_info *ny_option_at(int index)
{
    ny_once(&joined, join_choices);
    return index >= 0 && (size_t)index < ny_option_count() ? &infos[index] : NULL;
}

size_t ny_option_count(void)
{
    return sizeof(rules) / sizeof(rules[0]);
}

int ny_option_find(const char *name)
{
    for (int i = 0; i < (int)ny_option_count(); i++)
        if (strcmp(infos[i].name, name) == 0) return i;
    return -1;
}

const struct ny_option_rule *ny_option_rule(int index)
{
    return &rules[index];
}
