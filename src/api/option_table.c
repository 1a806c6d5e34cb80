/*
 * The table of all options: one line each, with kind, default, help and the groups of calls that
 * take it (api/option_table.h).
 *
 * ny_options_set(), `--help`, the man page, the completions and the identity of a job read the
 * table, so that an option is declared here and nowhere else, or in the file of the kernel that
 * lists it (base/param.h); the rules are in api/options_rules.c. Short help has the first sentence
 * of a summary. The words of kernels, rules, maps, methods and formats are joined from the tables
 * of those once, when an option is first looked up.
 */
#include "api/option_table.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mutex.h"
#include "columns/kernel.h"
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

/* Sections of help. */
#define INPUT "Input"
#define EMBEDDING "Embedding"
#define COLUMNS NY_SECTION_COLUMNS
#define KERNEL NY_SECTION_KERNEL
#define LANDMARKS NY_SECTION_LANDMARKS
#define SOLVER NY_SECTION_SOLVER
#define ERROR NY_SECTION_ERROR
#define NEIGHBORS NY_SECTION_NEIGHBORS
#define GRAPHS NY_SECTION_GRAPHS
#define MEASURES "Measures"
#define PICTURE "Picture"
#define RUN "Run"

/* A fit whose landmarks follow from its error takes none of these. */
#define NOT_BY_ERROR                                                                               \
    "tolerance|landmarks-file|landmarks-points|landmarks-from|columns-file|online|until|model|"    \
    "shape|gamma-grid"

/* name, kind, least, in the identity, argument, default, section, groups, summary; and what
 * few have, by its name in struct ny_option_rule */
#define OPTION_MAP(X)                                                                              \
    X("format", NY_CHOICE, 0, true, "FORMAT", "auto", INPUT, IMPORT | READ | RARE,                 \
      "file format; auto: detected by content, then by name")                                      \
    X("labels", NY_TEXT, 0, true, "FILE", NULL, INPUT, IMPORT,                                     \
      "file of labels, one per row: IDX, npy or text", .apart = "label-column")                    \
    X("label-column", NY_TEXT, 0, true, "N", NULL, INPUT, IMPORT | READ,                           \
      "column of labels, by number (from 1) or name. For .h5ad, the name of a column of obs, "     \
      "whose categories become classes")                                                           \
    X("id-column", NY_TEXT, 0, true, "N", NULL, INPUT, IMPORT | READ,                              \
      "column of row names, by number (from 1) or name. It works with csv and tsv. Names are "     \
      "kept as they are and may be empty; export --part ids writes them")                          \
    X("header", NY_CHOICE, 0, true, "auto|yes|no", "auto", INPUT, IMPORT | READ | RARE,            \
      "whether the first line names the columns")                                                  \
    X("decimal", NY_CHOICE, 0, true, "auto|.|,", "auto", INPUT, IMPORT | READ | RARE,              \
      "sign before the fraction of numbers in text tables; auto: a comma if semicolons "           \
      "separate the columns and the numbers at the beginning of the file have commas and no "      \
      "points, else a point")                                                                      \
    X("dtype", NY_CHOICE, 0, true, "auto|u8|i16|f32|f64", "auto", INPUT, IMPORT | READ | RARE,     \
      "element type to store; auto: that of the file")                                             \
    X("transpose", NY_SWITCH, 0, true, NULL, "no", INPUT, IMPORT | READ | RARE,                    \
      "read the columns of the file as points, as for 10x matrices of genes × cells. It works "   \
      "with sparse matrices (mtx, npz). Entries that are not in the order of the points are "      \
      "sorted first, in a scratch file beside the store (without a store, in $TMPDIR)")            \
    X("matrix", NY_TEXT, 0, true, "NAME", NULL, INPUT, IMPORT | READ | RARE,                       \
      "table to read from an HDF5 file: X, layers/NAME, obsm/NAME or raw/X. Default: X, or the "   \
      "matrix of a 10x Genomics file")                                                             \
    X("append", NY_SWITCH, 0, true, NULL, "no", INPUT, IMPORT,                                     \
      "add to the rows that the store already has")                                                \
    X("expect-rows", NY_COUNT, 0, false, "N", NULL, INPUT, IMPORT | RARE,                          \
      "import only if the store has exactly N rows, else refuse (exit 2). Repeating an import "    \
      "with --append then adds no row twice; an import that was killed continues. With "           \
      "--shard, or the path of a shard, N counts the rows of that shard")                          \
    X("shard", NY_TEXT, 0, false, "I/N", NULL, INPUT, IMPORT,                                      \
      "import shard I (from 0) of a store of N shards. Each shard is a store of its own in the "   \
      "folder STORE; any process may import it, at any time and in any order. Commands that "      \
      "only read take all shards as one store")                                                    \
    X("shards", NY_COUNT, 1, false, "N", NULL, INPUT, IMPORT,                                      \
      "divide the rows of all FILEs, in order, among N shards. Several processes can import a "    \
      "share each (mpirun, --peers). Files in npy, idx, fvecs and bvecs are cut at multiples "     \
      "of 2,048 rows, so that fits can give the same bytes as in one store; other files are "      \
      "not cut, and each goes to one shard as a whole",                                            \
      .apart = "shard|append|shuffle|expect-rows")                                                 \
    X("like", NY_TEXT, 0, false, "STORE", NULL, INPUT, IMPORT | RARE,                              \
      "take what shards have in common from this store in shards. Use it with --shard if "         \
      "folders are on disks of their own; the new shard then has the columns, type and classes "   \
      "of that store")                                                                             \
    X("layout", NY_CHOICE, 0, true, "auto|dense|sparse", "auto", INPUT, IMPORT | EMBED | RARE,     \
      "how rows are stored; auto: rows of sparse formats stay sparse if less than an eighth of "   \
      "their values is not 0")                                                                     \
    X("rows", NY_TEXT, 0, true, "none|total:S|unit", "none", INPUT, IMPORT | EMBED | RARE,         \
      "scale each row; total:S: to the sum S; unit: to length 1. The store keeps the original "    \
      "values; whatever reads it sees the scaled ones. New rows are scaled in the same way")       \
    X("values", NY_CHOICE, 0, true, "raw|log1p|sqrt|binary", "raw", INPUT, IMPORT | EMBED | RARE,  \
      "transform each value after --rows; log1p: ln(1 + x); sqrt: its square root; binary: 1 "     \
      "if it is not 0. The store keeps the original values, as with --rows. For counts, give "     \
      "--rows total:10000 --values log1p")                                                         \
    X("min-values", NY_COUNT, 1, true, "N", NULL, INPUT, IMPORT | RARE,                            \
      "leave out rows with fewer than N values that are not 0. They are counted, and the first "   \
      "are reported, as with --nan drop")                                                          \
    X("codec", NY_CHOICE, 0, true, "auto|raw", "auto", INPUT, IMPORT | RARE,                       \
      "compression of blocks; auto: LZ4 if it saves a quarter of the size; raw: none")             \
    X("shuffle", NY_SWITCH, 0, true, NULL, "no", INPUT, IMPORT,                                    \
      "store the rows of this import in random order. --seed sets the order")                      \
    X("nan", NY_CHOICE, 0, true, "error|drop|keep", "error", INPUT, IMPORT | READ,                 \
      "how to treat rows with NaN or inf. error: refuse them; drop (import, embed): leave them "   \
      "out, count them, and report the first ones; keep (embed, transform): the output has all "   \
      "rows of the input, with NaN for those that cannot be placed")                               \
    X("dims", NY_COUNT, 1, true, "D", NULL, INPUT, IMPORT | EMBED | RARE,                          \
      "number of columns, fixed in advance; LIBSVM files do not state it", .most = INT_MAX)        \
    X("columns", NY_TEXT, 0, true, "LIST", NULL, INPUT, IMPORT | READ,                             \
      "columns to keep, by number or name, as in 1,3-5,name. Numbers begin at 1; a range may "     \
      "be of names, too. Columns with names are kept in the order of LIST, or of the store if "    \
      "rows are added to it; others in file order")                                                \
    X("drop-columns", NY_TEXT, 0, true, "LIST", NULL, INPUT, IMPORT | READ,                        \
      "columns to leave out, by number or name: 1,3-5,name. Numbers begin at 1")                   \
    X("new-columns", NY_CHOICE, 0, true, "error|drop", "error", INPUT, IMPORT | READ | RARE,       \
      "refuse (error) or drop columns that the store does not have. It is for sparse rows with "   \
      "columns beyond those of the store, such as documents with new terms; drop leaves out "      \
      "their values and counts them")                                                              \
    X("column-names", NY_TEXT, 0, true, "FILE", NULL, INPUT, IMPORT | READ | RARE,                 \
      "file of column names, one per line. It is for npz, libsvm, mtx and other files without "    \
      "a header. Rows to append or to place are matched to the columns of the store by name; "     \
      "other columns are left out")                                                                \
    X("map", NY_CHOICE, 0, true, "MAP", "kpca", EMBEDDING, FIT,                                    \
      "embedding method, such as kernel PCA. ")                                                    \
    X("model", NY_TEXT, 0, false, "MODEL.nym", NULL, EMBEDDING, UPDATE | RARE,                     \
      "place the rows with this model, from another store or from merge. The model determines "    \
      "map, kernel and landmarks; nothing is solved")                                              \
    X("approx", NY_CHOICE, 0, true, "METHOD", "projected", KERNEL, FIT,                            \
      "approximation method. nystrom: faster, but coarser; exact: for small n, and with pca. "     \
      "Default: projected; exact for --map pca, unless an option of landmarks is given. ")         \
    X("select", NY_CHOICE, 0, true, "RULE", NULL, LANDMARKS, FIT | SELECT,                         \
      "how landmarks are chosen; rpcholesky: least error. Default: rpcholesky for projected "      \
      "and ensemble; uniform for nystrom, column and orthonystrom, which assume it. ")             \
    X("accuracy", NY_SHARE, 0, true, "E", NULL, LANDMARKS, FIT,                                    \
      "landmarks until each component is right to E. E is a share such as 1%. They are "           \
      "foretold by a sample of many rows, and found by fits with more and more of them; "          \
      "--landmarks is then the maximum. plan tells what they cost. See component_errors",          \
      .apart = "trace-error|" NOT_BY_ERROR)                                                        \
    X("trace-error", NY_SHARE, 0, true, "E", NULL, LANDMARKS, FIT | RARE,                          \
      "landmarks until they leave out at most this share of the trace of K; otherwise as "         \
      "--accuracy. It is for kernel machines on all features, not for maps",                       \
      .apart = NOT_BY_ERROR)                                                                       \
    X("landmarks", NY_COUNT, 1, true, "M", "1000", LANDMARKS, FIT | SELECT,                        \
      "number of landmarks. With --tolerance, it is the maximum, and there is none by default. "   \
      "For gaussian, it is the number of random columns")                                          \
    X("tolerance", NY_NUMBER, 0, true, "E", NULL, LANDMARKS, FIT | SELECT,                         \
      "greedy: upper bound on the residual of every row. It is below 1 for the rbf, laplacian "    \
      "and cosine kernels (below 2 with --affine); for others it is on the scale of |x|^2. "       \
      "Default: the bound that gives --landmarks, which a search finds")                           \
    X("pilot", NY_SWITCH, 0, true, NULL, "yes", LANDMARKS, FIT | SELECT | RARE,                    \
      "greedy without --tolerance: start the search for one near the value that a sample "         \
      "suggests, not at 1")                                                                        \
    X("landmarks-file", NY_TEXT, 0, true, "F.npy", NULL, LANDMARKS, FIT | SELECT | RARE,           \
      "row numbers of the landmarks, from 0, in order",                                            \
      .apart = "landmarks-points|landmarks-from")                                                  \
    X("landmarks-points", NY_TEXT, 0, true, "P.npy", NULL, LANDMARKS, FIT | SELECT | RARE,         \
      "points to use as landmarks, with the columns of the data. They need not be rows of the "    \
      "store: they may be centres of clusters, for example",                                       \
      .apart = "landmarks-from")                                                                   \
    X("landmarks-from", NY_TEXT, 0, true, "NAME", NULL, LANDMARKS, FIT | SELECT | STORED | RARE,   \
      "use the landmarks of this result of the same store")                                        \
    X("components", NY_COUNT, 1, true, "P", "2", EMBEDDING, FIT,                                   \
      "number of columns of the embedding")                                                        \
    X("rank", NY_COUNT, 1, true, "K", NULL, KERNEL, FIT | RARE,                                    \
      "rank kept inside the approximation. Default: all for projected, all of each expert for "    \
      "ensemble, else the number of components")                                                   \
    X("kernel", NY_CHOICE, 0, true, "KERNEL", "rbf", KERNEL, FIT | SELECT,                         \
      "kernel function; linear for --map pca. ")                                                   \
    X("sigma", NY_WIDTH, 0, false, "S|auto", NULL, KERNEL, FIT | SELECT | RARE,                    \
      "--gamma 1/(2 S^2), of a length scale S")                                                    \
    X("epsilon", NY_WIDTH, 0, false, "E|auto", NULL, KERNEL, FIT | SELECT | RARE, "--gamma 1/E")   \
    X("shape", NY_TEXT, 0, false, "ROWS,COLUMNS", NULL, INPUT, PLAN | RARE,                        \
      "plan for points that are not imported yet, in place of STORE. Sparse rows also need the "   \
      "number of values that are not 0; the type comes last (default f32), as in 1e7,784,u8")      \
    X("gamma-grid", NY_TEXT, 0, false, "[LIST]", NULL, KERNEL, PLAN,                               \
      "compare kernel widths instead of planning a fit. Shows, for each width of LIST, such as "   \
      "0.01,0.1,1, or by default for some around --gamma, the error to expect and how fast the "   \
      "spectrum falls",                                                                            \
      .apart = "time-limit|probe")                                                                 \
    X("averages", NY_CHOICE, 0, true, "landmarks|implicit", NULL, KERNEL, FIT | RARE,              \
      "take means and degrees over the landmarks, or over all rows (implicit). Default: "          \
      "implicit for projected and ensemble")                                                       \
    X("normalize", NY_CHOICE, 0, true, "symmetric|asymmetric", "symmetric", KERNEL, FIT | RARE,    \
      "diffusion: D^-1/2 K D^-1/2 (symmetric), or the random walk D^-1 K (asymmetric)")            \
    X("time", NY_NUMBER_FROM, 0, true, "T", "1", KERNEL, FIT | RARE,                               \
      "diffusion: steps of the walk; eigenvalues are raised to this power; 0: no steps")           \
    X("row-normalize", NY_SWITCH, 0, true, NULL, "no", KERNEL, FIT | RARE,                         \
      "scale each row of the embedding to length 1, for clustering")                               \
    X("affine", NY_SWITCH, 0, true, NULL, NULL, LANDMARKS, FIT | SELECT | RARE,                    \
      "measure residuals from the affine hull of the landmarks instead of their span. Default: "   \
      "yes for greedy selection with kpca and pca")                                                \
    X("inner", NY_CHOICE, 0, true, "auto|exact|randomized", "auto", SOLVER, FIT | RARE,            \
      "eigensolver inside nystrom, orthonystrom and projected. For nystrom and orthonystrom, "     \
      "auto chooses by size. For projected, auto is exact; randomized takes a pass for each "      \
      "product instead of summing up a matrix of all landmarks, for few components of many "       \
      "landmarks")                                                                                 \
    X("oversample", NY_COUNT, 0, true, "P", "5", SOLVER, FIT | RARE,                               \
      "extra vectors of randomized solvers; for projected, 30 by default")                         \
    X("power", NY_COUNT, 1, true, "Q", "2", SOLVER, FIT | RARE,                                    \
      "power iterations of randomized solvers. For projected, the maximum number of passes "       \
      "after the first (default 4); it takes fewer if residuals are small",                        \
      .most = INT_MAX)                                                                             \
    X("tol", NY_NUMBER, 0, true, "E", NULL, SOLVER, FIT | RARE,                                    \
      "exact with linear and cosine kernels: relative error of the eigenvalues. Default: 1e-4. "   \
      "It is for solving by products with the rows, which is done if the shape of the points "     \
      "calls for it or --tol is given. Below 6e-5, the last products may be in f64")               \
    X("max-passes", NY_COUNT, 1, true, "N", NULL, SOLVER, FIT | RARE,                              \
      "exact with linear and cosine kernels: maximum number of products, a pass each. Default: "   \
      "60. A fit that reaches it keeps what it has by then, with a warning",                       \
      .most = INT_MAX)                                                                             \
    X("experts", NY_COUNT, 1, true, "N", NULL, SOLVER, FIT | RARE,                                 \
      "ensemble: number of slices of the landmarks. Default: slices of 100 landmarks, or of "      \
      "--rank if that is more")                                                                    \
    X("weights", NY_CHOICE, 0, true, "uniform|exponential|ridge", "uniform", SOLVER, FIT | RARE,   \
      "ensemble: weights of the experts. All but uniform are fitted, on the last 20 landmarks "    \
      "(ridge: 40)")                                                                               \
    X("neighbors", NY_COUNT, 1, true, "T", "5", NEIGHBORS, FIT | GRAPH | EVALUATE,                 \
      "number of nearest neighbours of each row. A row is not its own neighbour")                  \
    X("metric", NY_CHOICE, 0, true, "euclidean|cosine", "euclidean", NEIGHBORS,                    \
      FIT | GRAPH | RARE, "distance between rows; euclidean: |x-y|; cosine: 1 - x.y/|x||y|")       \
    X("knn", NY_CHOICE, 0, true, "auto|exact|tree|sieve", "auto", NEIGHBORS, FIT | GRAPH | RARE,   \
      "how neighbours are found. auto: by whichever way is the least work, all of them, or "       \
      "with a --recall below 1 that share; exact: from all pairs of rows; tree: the same "         \
      "neighbours, from boxes of rows, for dense rows of few columns; sieve: nearly all, or "      \
      "all, from codes of rows")                                                                   \
    X("recall", NY_SHARE, 0, true, "R", NULL, NEIGHBORS, FIT | GRAPH | RARE,                       \
      "share of the true neighbours to find, measured on a sample of rows. Default: 0.95 for "     \
      "sieve, 1 for auto")                                                                         \
    X("max-distance", NY_NUMBER, 0, true, "R", NULL, NEIGHBORS, FIT | GRAPH | RARE,                \
      "leave out edges that are longer than this")                                                 \
    X("distance-quantile", NY_SHARE, 0, true, "Q", NULL, NEIGHBORS, FIT | GRAPH | RARE,            \
      "leave out edges longer than this quantile of the distances to neighbours, such as 0.95")    \
    X("mutual", NY_SWITCH, 0, true, NULL, "no", NEIGHBORS, FIT | GRAPH | RARE,                     \
      "join two rows only if each is a neighbour of the other. By default, one direction is "      \
      "enough")                                                                                    \
    X("connect", NY_SWITCH, 0, true, NULL, "no", NEIGHBORS, FIT | GRAPH | RARE,                    \
      "join the components of the graph by the shortest possible edges, whatever their length")    \
    X("largest", NY_SWITCH, 0, true, NULL, "no", GRAPHS, FIT | RARE,                               \
      "maps of a graph: use its largest component even if it has less than half of the rows")      \
    X("sweep", NY_TEXT, 0, true, "LIST", NULL, GRAPHS, GRAPH,                                      \
      "compare other numbers of neighbours, such as 1,2,3,5. For each: the number of "             \
      "components, and the rows in the largest")                                                   \
    X("graph", NY_TEXT, 0, true, "NAME", NULL, GRAPHS, FIT | STORED,                               \
      "use this graph of the same store. It is for maps of a graph; without it, the fit makes "    \
      "its own")                                                                                   \
    X("edges", NY_TEXT, 0, true, "FILE", NULL, GRAPHS, GRAPH,                                      \
      "take the edges from this file: .mtx, .npz, or text with lines i j weight. MatrixMarket "    \
      "counts nodes from 1; scipy matrices, and text with blanks, tabs or commas (comments: # "    \
      "and %), count them from 0. Without weights, lengths are 1. An edge in one direction "       \
      "counts in both. Nodes are the rows of STORE; if there is no STORE, one without points "     \
      "is made",                                                                                   \
      .apart = "sweep", .digest = true)                                                            \
    X("nodes", NY_COUNT, 1, true, "N", NULL, GRAPHS, GRAPH | RARE,                                 \
      "with --edges: number of nodes. Default: the size of the matrix or, for text, one more "     \
      "than the largest node",                                                                     \
      .needs = "edges")                                                                            \
    X("edge-weights", NY_CHOICE, 0, true, "heat|binary|lengths|affinity", NULL, GRAPHS,            \
      FIT | GRAPH | RARE,                                                                          \
      "eigenmaps, diffusion: how edges are weighted. heat (default): exp(-gamma d^2) for an "      \
      "edge of length d, with 1/median d^2 for gamma auto; binary: 1. For graph --edges: "         \
      "lengths (default), or affinity, which these maps use as it is, and which isomap and "       \
      "path refuse",                                                                               \
      .needs = "edges")                                                                            \
    X("from", NY_COUNT, 0, false, "ROW", NULL, GRAPHS, PATH, "row where the path begins")          \
    X("to", NY_COUNT, 0, false, "ROW", NULL, GRAPHS, PATH, "row where the path ends")              \
    X("measures", NY_TEXT, 0, false, "LIST", "all", MEASURES, EVALUATE,                            \
      "measures to take: clusters, knn, neighborhoods (or neighbors), distances, "                 \
      "reconstruction, against. LIST may also have figures, by their names in JSON. It is an "     \
      "error if a measure or figure that is named does not apply")                                 \
    X("against", NY_TEXT, 0, false, "NAME", NULL, MEASURES, EVALUATE,                              \
      "compare with another result of the same rows, such as an exact one")                        \
    X("clusters", NY_COUNT, 2, false, "K", NULL, MEASURES, EVALUATE,                               \
      "number of clusters for k-means; default: the number that the result has from an earlier "   \
      "eval, or else the number of classes")                                                       \
    X("clusters-to", NY_COUNT, 2, false, "K", NULL, MEASURES, EVALUATE,                            \
      "try each number of clusters from --clusters (or 2) to K, and keep those with the "          \
      "largest silhouette, in place of clusters that an earlier eval has kept")                    \
    X("n-init", NY_COUNT, 1, false, "N", "10", MEASURES, EVALUATE | RARE,                          \
      "number of k-means initialisations; the best one counts", .most = INT_MAX)                   \
    X("knn-neighbors", NY_COUNT, 1, false, "K", "1", MEASURES, EVALUATE | RARE,                    \
      "number of neighbours that vote on the class of a row")                                      \
    X("sample", NY_COUNT, 4, false, "ROWS", "2000", MEASURES, EVALUATE,                            \
      "number of sampled rows for measures over pairs of rows. They are drawn by hash; if they "   \
      "are all rows, the measures are exact")                                                      \
    X("axes", NY_TEXT, 0, false, "X,Y", NULL, PICTURE, PLOT,                                       \
      "columns for the horizontal and the vertical axis. A component is given by its number, "     \
      "from 1. Default: 1,2, or row,1 if there is one component")                                  \
    X("color", NY_TEXT, 0, false, "COLUMN", "auto", PICTURE, PLOT,                                 \
      "colour points by a column: label, cluster, component, residual, row, the number of a "      \
      "component, or the name of a column of the points. density: by how many points lie "         \
      "there; auto: by labels, else by density")                                                   \
    X("all", NY_SWITCH, 0, false, NULL, "no", PICTURE, PLOT,                                       \
      "extend the axes to the farthest points. By default, they show the middle 99.8 % and "       \
      "what is near it")                                                                           \
    X("names", NY_SWITCH, 0, false, NULL, NULL, PICTURE, PLOT,                                     \
      "write the names of classes among their points, unless they would cover others. Default: "   \
      "yes if there are so many points that they are drawn as an image")                           \
    X("scree", NY_SWITCH, 0, false, NULL, "no", PICTURE, PLOT, "draw the eigenvalues instead")     \
    X("size", NY_TEXT, 0, false, "WxH", "1600x1200", PICTURE, PLOT,                                \
      "size of the picture in pixels. An svg or pdf has half as many points")                      \
    X("title", NY_TEXT, 0, false, "TEXT", NULL, PICTURE, PLOT | REPORT,                            \
      "title above the picture or page. Default: NAME, or the name of the store")                  \
    X("path", NY_TEXT, 0, false, "A,B", NULL, PICTURE, REPORT,                                     \
      "show the shortest path from row A to row B. It is a path in the graph of a result, or "     \
      "in a graph among the results")                                                              \
    X("image", NY_TEXT, 0, false, "HxW|auto|none", "auto", PICTURE, REPORT,                        \
      "height and width of rows that are images. auto: rows are square images if their length "    \
      "is a square number")                                                                        \
    X("scale", NY_CHOICE, 0, true, "none|standard|unit|idf|idf-smooth|binomial", "none", COLUMNS,  \
      FIT | SELECT | GRAPH,                                                                        \
      "scale columns by spread or rarity. standard: by the standard deviation; unit: by the "      \
      "range; idf: by ln(n/df), where df of n rows have a value that is not 0; idf-smooth: by "    \
      "ln((1+n)/(1+df)) + 1, as in scikit-learn; binomial: by sqrt(2p(1-p)), where 2p is the "     \
      "mean, which is the default for genotypes. Sparse rows are scaled without centring")         \
    X("features", NY_TEXT, 0, true, "SPEC", NULL, COLUMNS, FIT | SELECT | GRAPH,                   \
      "columns to use, such as variable:2000, or from FILE. variable:N: the N with the largest "   \
      "dispersion within 20 bins by mean, as Seurat chooses genes, from values before "            \
      "--values; variance:N: the N with the largest variance; min-rows:N: those with values in "   \
      "at least N rows; maf:F, missing:F: variants whose rarer allele has at least this "          \
      "frequency, or of which no larger share is missing; FILE: names or numbers (from 0), one "   \
      "per line. They are chosen once, before --scale, and kept with the result, so that new "     \
      "rows and updates use them, too")                                                            \
    X("columns-file", NY_TEXT, 0, true, "C.npy", NULL, KERNEL, FIT | RARE,                         \
      "precomputed kernel columns, for use with --landmarks-file. They lack the diagonal of K, "   \
      "so there is no trace error")                                                                \
    X("precision", NY_CHOICE, 0, true, "f32|f64", "f32", EMBEDDING, FIT | RARE,                    \
      "precision of kernel values and of the embedding. With f32, sums over rows are in f64 if "   \
      "f32 would lose too much (info: Gram precision); with f64, they always are")                 \
    X("certify", NY_SWITCH, 0, true, NULL, "no", ERROR, FIT | RARE,                                \
      "measure exactly, in one more pass, the error of nystrom and the residuals of all rows")     \
    X("probe", NY_COUNT, 1, true, "R", NULL, ERROR, FIT,                                           \
      "measure the error |K - K~|/|K| on R columns of K. It takes one more pass, with any "        \
      "method. The norms are Frobenius norms; the columns are drawn by hash; the standard "        \
      "error is given")                                                                            \
    X("check-rows", NY_COUNT, 0, true, "R", "64", ERROR, FIT | RARE,                               \
      "measure the error of each component at R rows, beside the pass that embeds (of gaussian: "  \
      "with R more columns); 0: do not")                                                           \
    X("online", NY_SWITCH, 0, true, NULL, "no", LANDMARKS, FIT | RARE,                             \
      "greedy with --tolerance: select and accumulate in one pass, embed in a second. For "        \
      "earlier rows, a new landmark counts by its projection on the landmarks before it, so "      \
      "that the trace error is an upper bound. --gamma auto uses the first 16,384 rows, and "      \
      "embed begins when it has them",                                                             \
      .apart = "affine|certify", .needs = "tolerance")                                             \
    X("update", NY_CHOICE, 0, false, "full|frozen", NULL, RUN, UPDATE,                             \
      "add the rows that were appended since the fit. The result keeps its options. full: like "   \
      "a fit of all rows with its gamma and scale; frozen: the existing model places the new "     \
      "rows")                                                                                      \
    X("until", NY_CHOICE, 0, false, "end|sums", "end", SOLVER, FIT | STORED | RARE,                \
      "where to stop; sums: after the pass that sums up the rows. merge then adds the sums of "    \
      "several stores and solves them. Sums over landmarks need --landmarks-points and --gamma "   \
      "as a number, which all stores share. The same command without --until goes on to the end")  \
    X("restart", NY_SWITCH, 0, false, NULL, "no", RUN, FIT | SELECT | GRAPH,                       \
      "replace the result of this name. Alone, it keeps the options of that result. embed "        \
      "accepts it, but its store is new and has nothing to replace")                               \
    X("peers", NY_TEXT, 0, false, "alone|mpi|folder:PATH", NULL, RUN,                              \
      IMPORT | FIT | SELECT | STORED | RARE,                                                       \
      "how processes that share the shards of a store exchange sums. alone: one process works "    \
      "on all shards; folder: by files in PATH, with a process for each shard, or N processes "    \
      "with folder:N:PATH; mpi: by the MPI plug-in. Default: mpi if mpirun or srun started "       \
      "several processes, else alone. Results have the same bytes in each case")                   \
    X("peers-wait", NY_NUMBER_FROM, 0, false, "SECONDS", "600", RUN,                               \
      IMPORT | FIT | SELECT | STORED | RARE,                                                       \
      "folder: how long to wait for the other processes to come. mpi: how long to wait for "       \
      "each of them in a step of the job; there is no limit unless it is given")                   \
    X("time-limit", NY_DURATION, 0, false, "TIME", NULL, RUN, FIT | GRAPH | RARE,                  \
      "do not start if the plan takes longer than this; exit with 8 instead. TIME is, for "        \
      "example, 90s, 30m, 2h or 1d")                                                               \
    X("seed", NY_COUNT, 0, true, "S", "0", RUN, IMPORT | FIT | SELECT | EVALUATE,                  \
      "seed of all random choices. The same seed gives the same bytes")                            \
    X("tmpdir", NY_TEXT, 0, false, "DIR", NULL, RUN, EMBED | RARE,                                 \
      "folder of temporary files; default: that of the output")                                    \
    X("memory", NY_BYTES, 1, false, "SIZE", NULL, RUN, COMMON,                                     \
      "memory limit; default: half of free RAM (import 256M). K, M, G and T are binary units, "    \
      "as in 2G")                                                                                  \
    X("threads", NY_COUNT, 1, false, "N", NULL, RUN, THREADS,                                      \
      "number of threads; default: one per CPU", .most = 4096)

/* The last argument of a line is its summary, and what few have behind it. */
#define FIRST(first, ...) first
#define INFO(name, kind, least, identity, argument, fallback, section, groups, ...)                \
    {name, argument, fallback, FIRST(__VA_ARGS__, ), section, groups, NULL},
#define REST(first, ...) __VA_ARGS__
#define RULE(name, kind, least, identity, argument, fallback, section, groups, ...)                \
    {kind, least, identity, .param = NULL, REST(__VA_ARGS__, )},

static const struct ny_option_info written_infos[] = {OPTION_MAP(INFO)};
static const struct ny_option_rule written_rules[] = {OPTION_MAP(RULE)};

static struct ny_option_info infos[NY_OPTIONS_MAX];
static struct ny_option_rule rules[NY_OPTIONS_MAX];
static size_t options;

/* ---- options that kernels list -------------------------------------------------------------- */

/* Bytes of a list of names, and of a line of help that explains them. */
enum { NAMES_BYTES = 256, HELP_BYTES = 1024 };

static int find(const char *name)
{
    for (size_t i = 0; i < options; i++)
        if (strcmp(infos[i].name, name) == 0) return (int)i;
    return -1;
}

static void add(struct ny_option_info info, struct ny_option_rule rule)
{
    infos[options] = info;
    rules[options++] = rule;
}

/* Appends two words to a text that has room for `bytes`. */
static void append(char *text, size_t bytes, const char *first, const char *second)
{
    size_t length = strlen(text);

    snprintf(text + length, bytes - length, "%s%s", first, second);
}

/* Adds a parameter, unless another kernel has listed it before, and the kernel to those of it. */
static void add_param(const struct ny_kernel *kernel, const struct ny_param *param)
{
    static char kernels[NY_OPTIONS_MAX][NAMES_BYTES];
    unsigned groups = FIT | SELECT | (param->rare ? RARE : 0);
    int at = find(param->name);

    if (at < 0) {
        at = (int)options;
        add((struct ny_option_info){param->name, param->argument, param->fallback, param->summary,
                                    KERNEL, groups, kernels[at]},
            (struct ny_option_rule){.kind = param->kind,
                                    .least = param->least,
                                    .identity = true,
                                    .param = param,
                                    .most = param->most});
    }
    append(kernels[at], NAMES_BYTES, kernels[at][0] ? "|" : "", kernel->name);
}

/* Joins the entries of a table to the argument of its option, and what they are to its help. */
static void join_entries(size_t table, struct ny_option_info *info)
{
    static char names[NY_GOVERNOR_TABLES][NAMES_BYTES], help[NY_GOVERNOR_TABLES][HELP_BYTES];
    const char *name, *summary;

    append(help[table], HELP_BYTES, info->summary, "");
    for (size_t i = 0; (name = ny_governor_value(table, i, &summary)); i++) {
        append(names[table], NAMES_BYTES, i ? "|" : "", name);
        append(help[table], HELP_BYTES, i ? "; " : "", name);
        append(help[table], HELP_BYTES, ": ", summary);
    }
    info->argument = names[table];
    info->summary = help[table];
}

/* Joins the formats to the argument of their option, behind auto. */
static void join_formats(struct ny_option_info *info)
{
    static char names[NAMES_BYTES] = "auto";
    size_t count;
    const struct ny_format_info *formats = ny_formats(&count);

    for (size_t i = 0; i < count; i++)
        append(names, sizeof(names), "|", formats[i].name);
    info->argument = names;
}

static struct ny_once built = NY_ONCE_INIT;

/* Written once, before anybody reads the tables; constant from then on. */
static void build(void)
{
    const struct ny_kernel *kernel;

    for (size_t i = 0; i < sizeof(written_infos) / sizeof(written_infos[0]); i++) {
        add(written_infos[i], written_rules[i]);
        if (strcmp(written_infos[i].name, "kernel") != 0) continue;
        for (size_t k = 0; (kernel = ny_kernel_at(k)); k++)
            for (size_t p = 0; kernel->params && kernel->params[p]; p++)
                add_param(kernel, kernel->params[p]);
    }
    for (size_t i = 0; i < NY_GOVERNOR_TABLES; i++)
        join_entries(i, &infos[find(ny_governor_at(i))]);
    join_formats(&infos[find("format")]);
}

size_t ny_option_count(void)
{
    ny_once(&built, build);
    return options;
}

const struct ny_option_info *ny_option_at(int index)
{
    return index >= 0 && (size_t)index < ny_option_count() ? &infos[index] : NULL;
}

int ny_option_find(const char *name)
{
    ny_once(&built, build);
    return find(name);
}

const struct ny_option_rule *ny_option_rule(int index)
{
    ny_once(&built, build);
    return &rules[index];
}
