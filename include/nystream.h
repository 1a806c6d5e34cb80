/*
 * nystream: spectral embeddings of data sets that do not fit in memory.
 *
 * This header is all a program needs. It has five steps, each usable without reading the next:
 *
 *   1. one call           ny_embed_file(): a table in, an embedding out
 *   2. context            errors, memory budget, threads, progress, cancellation
 *   3. store and options  import, plan, fit, transform, export; every option by name
 *   4. memory             rows from memory; parts, models and coordinates out (nystream_memory.h)
 *   5. sums               rows on many machines: sums that are added up (nystream_sums.h)
 *
 * A program that takes these steps (a test compiles and runs it; link with -lnystream):
 *
 *     struct ny_context *context = NULL;
 *     struct ny_options *options = NULL;
 *     struct ny_report *report = NULL;
 *     struct ny_model *model = NULL;
 *     const char *files[] = {"table.csv"};
 *     float point[3] = {0.1f, 0.2f, 0.3f}, place[2], first[2];
 *     double error = 0;
 *     int status = ny_context_new(&context);
 *
 *     if (!status) status = ny_embed_file(context, files[0], "embedding.npy", NULL, NULL); // 1
 *     if (!status) ny_context_set_memory(context, (uint64_t)256 << 20); // 2
 *     if (!status) status = ny_import(context, "points.nys", files, 1, NULL, NULL); // 3
 *     if (!status) status = ny_options_new(&options, context);
 *     if (!status) status = ny_options_set(options, "landmarks", "50");
 *     if (!status) status = ny_fit(context, "points.nys", "map", options, &report);
 *     if (!status) ny_report_number(report, "trace_error", &error);
 *     if (!status) status = ny_export(context, "points.nys", "map", "embedding", "map.csv");
 *     if (!status) status = ny_model_open(&model, context, "points.nys", "map"); // 4
 *     if (!status) status = ny_model_transform(model, point, 1, place);
 *     if (!status) status = ny_append_rows(context, "points.nys", point, 1, 3, NULL);
 *     if (!status) status = ny_embedding_read(context, "points.nys", "map", 0, 1, first);
 *     if (status) fprintf(stderr, "%s\n", ny_context_message(context));
 *     else printf("trace error %g; placed at %g, %g\n", error, place[0], place[1]);
 *     if (!status) printf("the first row is at %g, %g\n", first[0], first[1]);
 *     ny_model_free(model);
 *     ny_report_free(report);
 *     ny_options_free(options);
 *     ny_context_free(context);
 *
 * Errors. Every function that can fail returns a status, 0 or one of enum ny_status, equal to the
 * exit codes of the command. ny_context_message() is the sentence that explains it.
 *
 * Ownership. The caller frees what a function makes, the context last; free() functions accept
 * NULL. Arguments are read during the call, and copied if they are kept. Strings are valid as long
 * as the handle that returned them; strings of an error, until the next call with its context. If a
 * call fails and has nothing to report, its *report or *out is NULL. The library returns structs by
 * pointer only: later versions of 1.x may add fields at their ends. Structs that the caller makes
 * (ny_placing, ny_screen, ny_dense_room, ny_csr_room, ny_neighbors_room) keep their fields through
 * 1.x; ny_table has its own size.
 *
 * Arguments. Matrices are row-major and packed, rows are numbered from 0. `options` may be NULL for
 * all defaults, `report` if none is wanted. Any other NULL pointer is NY_EUSAGE, unless the
 * function says what NULL means. Setters do nothing with a NULL context, and functions that read
 * from a NULL handle find nothing.
 *
 * Contexts. All handles that are passed to a call, options too, belong to one context; only
 * ny_sums_merge() takes sums of another. No call checks this: a handle of another context counts in
 * that context's budget, an error about it may be reported there only, and this thread uses that
 * context, too.
 *
 * Threads. A context, and what was made with it, is used by one thread at a time. Contexts are
 * independent of one another, even on one store. ny_context_interrupt() may be called from
 * anywhere, including a signal handler. The library never prints and never exits. It keeps no state
 * outside its handles, except OpenBLAS's thread count and ny_guard_sigbus(), which are
 * process-wide.
 */
#ifndef NYSTREAM_H
#define NYSTREAM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NY_VERSION_MAJOR 1
#define NY_VERSION_MINOR 2
#define NY_VERSION_PATCH 0

#if defined(__GNUC__)
#define NY_API __attribute__((visibility("default")))
#else
#define NY_API
#endif

/* Status codes: NAME, value (the exit code), kind (the name used in JSON), meaning. */
#define NY_STATUS_MAP(X)                                                                           \
    X(NY_OK, 0, "ok", "done")                                                                      \
    X(NY_END, 1, "end", "no more items (internal: never leaves the library)")                      \
    X(NY_EUSAGE, 2, "usage", "unknown verb, option, value or name")                                \
    X(NY_EDATA, 3, "bad-input", "the input data cannot be used")                                   \
    X(NY_EIO, 4, "io", "a file cannot be read or written, or a path is not a store")               \
    X(NY_ESTORE, 5, "damaged", "the store is damaged")                                             \
    X(NY_EBUSY, 6, "busy", "another process holds what is needed, or has changed what was read")   \
    X(NY_ENUMERIC, 7, "numerics", "the computation fails numerically")                             \
    X(NY_EBUDGET, 8, "budget", "it does not fit in the memory, or takes longer than allowed")      \
    X(NY_EINTERNAL, 9, "internal", "a defect of nystream")                                         \
    X(NY_EHUNGUP, 129, "hung-up", "its terminal was closed, after a clean checkpoint")             \
    X(NY_EINTERRUPTED, 130, "interrupted", "interrupted after a clean checkpoint")                 \
    X(NY_ETERMINATED, 143, "terminated", "terminated after a clean checkpoint")

enum ny_status {
#define NY_STATUS_ENUM(name, value, kind, meaning) name = value,
    NY_STATUS_MAP(NY_STATUS_ENUM)
#undef NY_STATUS_ENUM
};

/* "bad-input" for NY_EDATA, and so on; "unknown" for any other number. */
NY_API const char *ny_status_kind(int status);
NY_API const char *ny_status_meaning(int status);
/* The version of the running library, such as "1.2.0". The macros give the version of the header
 * that a program was compiled with. */
NY_API const char *ny_version(void);
/* The value that the environment variable OPENBLAS_CORETYPE should have when a program starts, if
 * OpenBLAS does not know this CPU and multiplies at a fraction of its speed. NULL if OpenBLAS knows
 * it, or if the variable is set. OpenBLAS reads the variable when it is loaded: set it and start
 * the program again (execv()), as the command nystream does. */
NY_API const char *ny_blas_coretype(void);

/* ---------------------------------------------------------------------------------------------
 * 2. Context: one per thread of work. Everything below takes one or belongs to one.
 * ------------------------------------------------------------------------------------------- */
struct ny_context;

struct ny_error {
    int status;          /* enum ny_status */
    const char *message; /* one sentence: what, where, what to do */
    const char *file;    /* the file it is about, or NULL */
    uint64_t line;       /* line (1-based, text) or row (0-based, binary); valid when has_line */
    int has_line;
    const char *option; /* the option that the message names first, without its dashes, or NULL */
};

struct ny_progress {
    const char *stage; /* import, select, accumulate, solve, project, … */
    double fraction;   /* 0…1; negative where the end is not known */
    double rows_per_s, bytes_per_s, flops_per_s;
    double eta_s; /* seconds to the end of this stage; negative where not known */
    uint64_t rows_done, rows_total;
    /* Progress of the whole call, by the plan of its job and the time of its stages so far; never
     * less than before. Negative if not known. If a call has no plan, the values of its stage. */
    double job_fraction, job_eta_s;
};

/* The file that was written, for a line that names it. */
struct ny_written {
    uint64_t rows, columns; /* of a table, columns 0: a list of numbers; rows 0: no table */
    const char *type;       /* "float32", "float64", "uint64", "int64", "text"; NULL: no table */
};

enum ny_log_level { NY_LOG_WARNING = 1, NY_LOG_NOTE = 2, NY_LOG_DETAIL = 3 };

typedef void ny_log_fn(void *user, int level, const char *message);
typedef void ny_progress_fn(void *user, const struct ny_progress *progress);
struct ny_report;
typedef void ny_plan_fn(void *user, const struct ny_report *plan);

/* Makes a context. Its memory budget is half of min(available memory, cgroup limit), lowered to a
 * quarter of what a limit of the process (ulimit -v, -d) leaves, or to 64 MiB if that is more. Its
 * threads are the CPUs that the process may use. NY_EBUDGET if there is no memory for it (*out is
 * then NULL). */
NY_API int ny_context_new(struct ny_context **out);
NY_API void ny_context_free(struct ny_context *context);
/* Bounds what nystream itself uses for this context, in bytes: its code, its buffers and the pages
 * of stores that it maps. The caller's own arrays and the pages of files that the caller maps are
 * not counted. 0 restores the default. */
NY_API void ny_context_set_memory(struct ny_context *context, uint64_t bytes);
NY_API uint64_t ny_context_memory(const struct ny_context *context);
/* 0 restores the default. Results do not depend on it, except where the documentation says so. */
NY_API void ny_context_set_threads(struct ny_context *context, unsigned threads);
NY_API unsigned ny_context_threads(const struct ny_context *context);
/* Callbacks run on the calling thread or on a worker, never two at a time. What they are given is
 * valid until they return; a plan is read like any report. With this context they may call
 * ny_context_interrupt(), ny_context_memory() and ny_context_threads() only. NULL: no callback. */
NY_API void ny_context_set_log(struct ny_context *context, ny_log_fn *log, void *user);
NY_API void ny_context_set_progress(struct ny_context *context, ny_progress_fn *fn, void *user);
/* `fn` is called with the plan (as of ny_plan()) by functions that fit or make a graph, including
 * ny_resume() and ny_embed_file(), before anything runs. It is called even if the plan does not fit
 * and is then refused, but not if the result is already done. */
NY_API void ny_context_set_plan(struct ny_context *context, ny_plan_fn *fn, void *user);
/* The command line that the calls with this context serve, one word each; count 0: none. Jobs that
 * begin from then on record it, quoted for a shell. It is "command" of ny_result_report() and,
 * while a job is not done, "resume", where the path by which the store is then opened replaces
 * words[store] (0: no word is the store's path). NY_EUSAGE for a word that is NULL or does not
 * exist. */
NY_API int ny_context_set_command(struct ny_context *context, const char *const *words,
                                  size_t count, size_t store);
/* Returns that line as one string, valid until it is set again; NULL if there is none. */
NY_API const char *ny_context_command(const struct ny_context *context);
/* Returns the shape of the file that a call with this context wrote last; NULL if there is none. */
NY_API const struct ny_written *ny_context_written(const struct ny_context *context);
/* Asks the running call to checkpoint and return NY_EINTERRUPTED, or NY_EHUNGUP for signal 1 and
 * NY_ETERMINATED for signal 15. The request also holds for later calls, if they take long, until 0
 * withdraws it. Async-signal-safe. */
NY_API void ny_context_interrupt(struct ny_context *context, int signal);
/* From this call on, for the whole process, a bad sector or a truncated file below a memory map
 * gives an error in the call that meets it, not the signal SIGBUS: NY_ESTORE if it is that of a
 * store, NY_EIO if the caller's rows are mapped from it. Other SIGBUS go to the handler that was
 * there before. */
NY_API void ny_guard_sigbus(void);
/* The last error of this context; its strings are valid until the next call with this context. For
 * a NULL context: the error that ny_context_new() failed with. */
NY_API const struct ny_error *ny_context_error(const struct ny_context *context);
NY_API const char *ny_context_message(const struct ny_context *context);

/* ---------------------------------------------------------------------------------------------
 * Options, by the names and in the spelling of the command line ("kernel" = "rbf",
 * "landmarks" = "1000"). ny_options_set(), --help, the man page and completions use one table.
 * ------------------------------------------------------------------------------------------- */
enum ny_option_group {
    NY_GROUP_IMPORT = 1, /* format labels label-column header dtype append shuffle nan columns … */
    NY_GROUP_FIT = 2,    /* map approx select landmarks … */
    NY_GROUP_SELECT = 4,   /* the fit options that concern the selection */
    NY_GROUP_COMMON = 8,   /* memory */
    NY_GROUP_READ = 16,    /* how a file is read, for transform: format header label-column … */
    NY_GROUP_EMBED = 32,   /* of ny_embed_file(), beside those of FIT and READ: tmpdir layout … */
    NY_GROUP_PLAN = 64,    /* of plans alone: shape, and gamma-grid of ny_gamma_grid() */
    NY_GROUP_UPDATE = 128, /* what only ny_fit() has: update model */
    NY_GROUP_GRAPH = 256,  /* neighbors metric max-distance … */
    NY_GROUP_PATH = 512,   /* from to */
    NY_GROUP_EVALUATE = 1024, /* measures clusters … */
    NY_GROUP_PLOT = 2048,     /* axes color size … */
    NY_GROUP_REPORT = 4096,   /* image path title */
    NY_GROUP_RARE = 8192,     /* beside others: --help leaves it out, `help VERB --all` does not */
    NY_GROUP_THREADS = 16384, /* threads: for calls that use several */
    NY_GROUP_STORED = 32768   /* beside others: takes another result of the same store, and the
                               * store of ny_embed_file() has none */
};

struct ny_option_info {
    const char *name;     /* without the dashes */
    const char *argument; /* "M", "FILE", "svd|pca|kpca"; NULL: a switch, "yes" or "no" */
    const char *fallback; /* the default, as text; NULL: none */
    const char *summary;  /* the first sentence (to ". ") says enough for most */
    const char *section;  /* "Kernel", "Run", …: options of one section belong together */
    unsigned groups;      /* of enum ny_option_group */
    const char *kernels;  /* "rbf|laplacian": those that it is a parameter of; NULL: it is none */
};

/* The entries of the table, from 0; NULL after the last. */
NY_API const struct ny_option_info *ny_option_at(int index);

struct ny_options;
NY_API int ny_options_new(struct ny_options **out, struct ny_context *context);
NY_API void ny_options_free(struct ny_options *options);
/* NY_EUSAGE for an unknown name or an invalid value, with the nearest valid one. "sigma" and
 * "epsilon" set gamma. "no-S" also sets a switch S; for a switch, NULL means "yes".
 * "memory" and "threads" act on the context at once. After a failure nothing has changed. */
NY_API int ny_options_set(struct ny_options *options, const char *name, const char *value);
/* The value in force as text, the default included; NULL if there is none, and for an unknown name.
 * It is valid until the option is set again. */
NY_API const char *ny_options_get(const struct ny_options *options, const char *name);

/* The candidate nearest to `word` (insertions, deletions, changes and swaps of letters, ignoring
 * case), or one that begins with it. NULL if none is near enough: within one slip or, in words of
 * more than three letters, one slip in three letters. */
NY_API const char *ny_suggest(const char *word, const char *const *candidates, size_t count);

/* ---------------------------------------------------------------------------------------------
 * Calls report this: named numbers and strings, and all of them as one JSON object, which the
 * command prints with --json.
 * ------------------------------------------------------------------------------------------- */
struct ny_report;
NY_API void ny_report_free(struct ny_report *report);
/* The whole report as one JSON object, valid as long as the report. NULL if there is no memory. */
NY_API const char *ny_report_json(const struct ny_report *report);
/* Returns 1 and the value (which may be NULL) if `key` exists and is a number, or true (1) or false
 * (0); else 0. */
NY_API int ny_report_number(const struct ny_report *report, const char *key, double *value);
/* NULL if `key` does not exist or is not a string. */
NY_API const char *ny_report_text(const struct ny_report *report, const char *key);

/* ---------------------------------------------------------------------------------------------
 * 3. Store. `path` is a directory, by convention NAME.nys.
 *
 * It may be a store in shards, each imported with option shard: a directory of stores whose rows
 * are numbered consecutively. Functions that read take them as one store, and a result as one if
 * all shards have it by the same model. ny_fit(), ny_select(), ny_graph(), ny_resume(), ny_plan()
 * and ny_evaluate() use the rows of all shards. ny_verify(), ny_repair(), ny_compact() and
 * ny_remove() go through the shards. ny_import(), ny_append() and appenders add to the last one.
 * ny_fit_into() and ny_truncate() take the path of one shard, and else return NY_EUSAGE.
 * ------------------------------------------------------------------------------------------- */
/* Imports `count` files (at least one), in order, in one pass of bounded memory. It takes at most
 * 256 MiB of the context's budget, beside its handles; option memory allows more. All or nothing:
 * until it returns NY_OK, readers see the store as before; after a kill the same call resumes.
 * Creates the store if there is none; adds to existing points only with option append. Names of
 * rows and of columns are kept if the first file has them (.h5ad, .h5, tables beside matrix.mtx;
 * csv: of columns). Rows without names that join named ones get empty names. NY_EDATA for columns
 * whose names differ from those of the store. *report: n d dtype format nnz bytes compressed_bytes,
 * which count all points that the store now has, or the shard that they went to (shard; null: there
 * are no shards); rows dropped values_left_out bytes_added seconds, which are of this call,
 * bytes_added without the rows that a killed call had added before. Option shards distributes the
 * rows to that many shards. The report is then that of all, or NULL in a process that does not have
 * shard 0; fewer files than shards are NY_EUSAGE if they cannot be cut. */
NY_API int ny_import(struct ny_context *context, const char *path, const char *const *files,
                     size_t count, const struct ny_options *options, struct ny_report **report);

/* Reports what a store holds: n d dtype format blocks bytes … results. row_names and column_names
 * say whether there are names; first_row_names and first_column_names have at most five of them.
 * "imports", an array of {first rows dropped time from}, says which rows came in together, in
 * order, for the last 1,000 imports: `time` is that of the commit, in UTC; `from` is the file, null
 * for rows in memory. It lacks rows that nystream 1.0 imported, and is null for a store in shards.
 * import_status is "running" or "interrupted" for an import that is not done, else null. "shards"
 * of a store in shards is {count missing uneven list[{shard there first n path}]}, with the numbers
 * of the missing shards, and of those but the last whose rows are no multiple of 2,048; it is null
 * for any other store. */
NY_API int ny_store_report(struct ny_context *context, const char *path, struct ny_report **report);
/* Reports everything about one result, finished or not: its status (done, running, interrupted, or
 * summed, if option until ended it with its sums), kind (fit, dictionary, graph), stage, options,
 * and the figures; those not known are null. "command" is the command line that made it, null if
 * the library was called without one. "resume" is the one that resumes it, or its update, null if
 * there is nothing to resume. NY_EUSAGE if there is no result of this name. */
NY_API int ny_result_report(struct ny_context *context, const char *path, const char *name,
                            struct ny_report **report);
/* Reads every byte. NY_ESTORE if anything is damaged; *report then lists it: ok, rows_damaged,
 * results_damaged, damaged[{block first_row rows what result}] (rows 0: no rows of points or of an
 * embedding; result null: not of a result; shard: the shard of the rows, for a store in shards).
 * shards_missing says how many shards are not there, where some are not. */
NY_API int ny_verify(struct ny_context *context, const char *path, struct ny_report **report);
/* Sets aside what ny_verify() finds damaged, after reading all of it. Damaged rows of points are
 * then lost: they keep their numbers, and later fits cover the other rows, which their part "rows"
 * lists. Damaged labels become missing (NaN), row numbers of the source 2^64−1, and names of rows
 * empty. Names of columns are removed as a whole, and so is a result with a damaged chunk (call
 * ny_export_undamaged() first). If points/ or results/ is from an older copy of the store, it is
 * accepted as it is. *report: lost[], labels[], source[], row_names[] of {first_row rows},
 * removed[] of names, rows_lost, older_accepted, column_names_removed, imports_removed (the list of
 * imports). NY_ESTORE, with nothing changed, if the trees, the manifest or the statistics are
 * damaged; NY_EBUSY while an import or a job runs. Points change in one transaction, results in
 * another. */
NY_API int ny_repair(struct ny_context *context, const char *path, struct ny_report **report);
/* Frees the disk space of removed results: a copy of the rest replaces the store. Does nothing if
 * that would free less than a sixteenth. Meanwhile the disk needs room for the copy; a kill leaves
 * the old store or the new one. NY_EBUSY while an import or a job runs. Handles of other processes
 * can still read, but not write (NY_EIO). *report: bytes_before, bytes. */
NY_API int ny_compact(struct ny_context *context, const char *path, struct ny_report **report);
/* Keeps the first `rows` rows of a store (at least 1), as if the others had not been imported;
 * ny_store_report() lists which rows each import added. Reads the rows that stay. Results that
 * include removed rows are removed if drop_results is not 0; else NY_EUSAGE, which names them. If
 * an interrupted update was to take such rows into a result, the result stays as it is, and the
 * update is abandoned with a warning. NY_EUSAGE for more rows than there are, and for a store in
 * shards, whose last shard has its own path; NY_EBUSY while an import or a job runs; NY_ESTORE if
 * rows that stay are lost or damaged. After a failure no row has changed. Results go in one
 * transaction, then rows in another: after a kill the same call resumes. *report: n, now;
 * rows_removed; removed[] of names. */
NY_API int ny_truncate(struct ny_context *context, const char *path, uint64_t rows,
                       int drop_results, struct ny_report **report);
/* Removes a result. NY_EUSAGE if there is none of this name, NY_EBUSY while a job makes it. */
NY_API int ny_remove(struct ny_context *context, const char *path, const char *name);

/* Reports passes, flops, memory by purpose, disk and seconds of a fit before anything runs. NY_OK
 * even if it does not fit ("fits" is then false, and memory_min_bytes says what would). Path NULL:
 * for points that are not imported yet, of the option "shape". There are then no values to look at,
 * which would make the seconds more accurate, and store_bytes is the most that the points take. For
 * a store in shards: memory, disk and seconds of all shards in one process, and "shards": count,
 * memory_min_bytes of one, exchange_bytes and exchange_seconds of each between processes. */
NY_API int ny_plan(struct ny_context *context, const char *path, const struct ny_options *options,
                   struct ny_report **report);
/* Reports the effect of the kernel's width: for each of several widths, all from one sample of a
 * few thousand rows, the trace_error to expect of a fit with these options and uniform landmarks,
 * and how fast the spectrum falls. "grid" is an array of {gamma sigma epsilon trace_error top_share
 * rank_90 effective_rank mean_kernel reading}. Option gamma-grid lists the widths; without it, or
 * with "auto", they are spread around gamma. No pass over the points. */
NY_API int ny_gamma_grid(struct ny_context *context, const char *path,
                         const struct ny_options *options, struct ny_report **report);
/* Runs a fit, or resumes it from its last checkpoint, and stores the result under `name`. Before
 * anything is written, the callback of ny_context_set_plan(), if any, gets the plan; NY_EBUDGET if
 * it does not fit. NY_EUSAGE if `name` has a result of other options, unless option restart
 * replaces it; restart alone takes the result's own options. A finished result of the same options
 * is left as it is. In a context with a command line, option time-limit alone resumes the result as
 * ny_resume() does, within that time. *report as of ny_result_report(). Option probe takes one more
 * pass: probe_error = ‖K − K̃‖_F/‖K‖_F, from probe_columns columns of K drawn by hash, and its
 * probe_standard_error (0 for all columns, null for one).
 *
 * Option update takes rows that were appended since into a finished result. The other options come
 * from the result, and one that is set must agree (else NY_EUSAGE). "frozen" places the new rows
 * with the model as it is, in one pass over them and one for the sums. "full" gives what a fit of
 * all rows with the result's gamma and scale gives, to rounding: selection and sums read only the
 * new rows where they can, and all rows are projected. Until the call returns NY_OK, the old result
 * stays complete; after an interruption the same call resumes. The report's figures are those of
 * the update (mode, landmarks_added, rows_read, …; frozen: drift, drift_trace_error,
 * drift_residual_share, and drift_largest of all frozen updates since the last fit or full update,
 * for drift_largest_rows rows from drift_largest_first on);
 * total_rows_read, total_flops, total_seconds and updates are of all runs.
 *
 * If `path` is a store in shards, each shard gets the result of its rows, and all get the same
 * model; the report is that of all rows. A thread of this process works on each shard or, if option
 * peers (or MPI) connects several processes, a thread of one of them. All processes make this call,
 * *report is NULL in those that do not have shard 0, and what ends one ends all. A map of a graph
 * is a result of all rows instead, which one process makes, as ny_graph() does. Option update takes
 * in rows that were appended to any shard. NY_EUSAGE for anything that works on a single store
 * only.
 */
NY_API int ny_fit(struct ny_context *context, const char *path, const char *name,
                  const struct ny_options *options, struct ny_report **report);
/* Resumes the unfinished fit, dictionary, graph or update under `name`, with the options that it
 * began with; budget and threads are those of the context. A finished result is left as it is.
 * NY_EUSAGE if there is none of this name. *report as of ny_result_report(). */
NY_API int ny_resume(struct ny_context *context, const char *path, const char *name,
                     struct ny_report **report);
/* Selects a dictionary alone, for fits with option landmarks-from. It is resumed like a fit, and
 * refused like one if the name has a result of other options; it has no plan. */
NY_API int ny_select(struct ny_context *context, const char *path, const char *name,
                     const struct ny_options *options, struct ny_report **report);
/* Makes the graph of nearest neighbours, or resumes it. Exact: by n²/2 distances streamed in tiles,
 * a tree of boxes or a sieve of codes. Nearly exact: by a sieve (options knn and
 * recall). *report: neighbors edges components largest largest_share largest_edges distance_limit
 * degree_mean …, and "sweep", an array of {neighbors distance_limit components largest_share}.
 * NY_EDATA if no two rows are joined. If fewer than all neighbours are asked for, also recall and
 * recall_interval (95 %), measured on 512 rows.
 *
 * Memory of exact: the tiles, and about 12 bytes a neighbour and row; with less room, ranges of
 * rows follow one another, in more passes. Memory of a tree: 5 bytes for each row and 12 for each
 * column of it, and 8 a neighbour of a range of rows. Memory of a sieve: up to
 * some 530 bytes for each row, fewer if rows have under 192 columns, and as many of the points as
 * there is room for.
 *
 * With option edges the graph is that of a file, and a store that does not exist is made, with
 * nodes and no points. *report then has edge_values ("lengths" or "affinities"), entries,
 * self_loops, repeats and, for affinities, zero_affinities instead of the figures of neighbours.
 * NY_EDATA names the line of an error. Memory: 16 bytes an entry, and some 20 a node. */
NY_API int ny_graph(struct ny_context *context, const char *path, const char *name,
                    const struct ny_options *options, struct ny_report **report);
/* Finds a shortest path between rows `from` and `to` of a stored graph. *report has length, and the
 * arrays rows and lengths (from the first row to each). NY_EDATA if there is none. Memory: the
 * graph, and about 80 bytes a node. */
NY_API int ny_path(struct ny_context *context, const char *path, const char *graph,
                   const struct ny_options *options, struct ny_report **report);
/* Measures a finished embedding by its rows, their labels and the points. *report has a key for
 * each figure, null if it does not apply, and "reasons" (key → words). Clusters that are found are
 * stored with the result as part "clusters", in the place of those that it has. Without option
 * clusters, as many are looked for as it has or, where it has none, as there are classes. NY_EUSAGE
 * if a measure named by option measures does not apply, and for an option that belongs to no
 * measure. Memory: the rows if they fit, else a few megabytes a thread and 8 bytes for each row,
 * for its cluster and its class. */
NY_API int ny_evaluate(struct ny_context *context, const char *path, const char *name,
                       const struct ny_options *options, struct ny_report **report);
/* Places the rows of `input` with a stored model: m·(d + p) multiply-adds a row, one streaming pass
 * over the input, no solve. A result without its own model (a map of a graph, a method on all of K)
 * reads the store's points for each batch of new rows instead. `output` is as for ny_export().
 * Options `import` say how to read the input; NULL: all defaults. NY_EDATA if it has other columns
 * than the model. */
NY_API int ny_transform(struct ny_context *context, const char *path, const char *name,
                        const char *input, const char *output, const struct ny_options *import);
/* Places rows with a model that was exported as one file; needs no store. */
NY_API int ny_transform_model(struct ny_context *context, const char *model, const char *input,
                              const char *output, const struct ny_options *import);
/* Does the work of both functions above, with a report: rows, the number that were placed, seconds,
 * and drift: how far the new rows are from being drawn like those of the fit, 0 to 1. It is the
 * largest distance between the distributions, over drift_rows new rows and some of the fit, of what
 * the landmarks leave out of a row; for the linear kernel and cosine, of what the components leave
 * out, or of where the row lies along them. The log warns, as that of a frozen update does, if it
 * is more than 0.35, and more than chance makes of rows that are drawn alike in one case of 200.
 * drift_trace_error is the share of the trace or variance of the new rows that is left out, and
 * drift_trace_error_fitted that of the rows of the fit. All are null for a model without a store.
 * values_left_out counts the values that option new-columns "drop" left out. With a graph, new rows
 * get no place but neighbors: the numbers of their nearest rows of the store, as of
 * ny_neighbors_of(), u64, with their distances as f32 in a separate file. */
struct ny_placing {
    const char *path, *name; /* a store and a result of it; name NULL: path is a model's file */
    const char *input, *output;
    const struct ny_options *import; /* NULL: all defaults */
    /* With a graph `output` gets row numbers. With any other result these are NY_EUSAGE. */
    const char *distances; /* file of their distances; NULL: none */
    size_t neighbors;      /* a row gets so many; 0: as many as the graph has */
    /* The share of the true neighbours to find, up to 1 (all). Less than 1 is measured on some of
     * the new rows, and reported as recall. 0: what was asked of the graph, which is 1 except for
     * sieves, and auto with option recall. */
    double recall;
    /* File for the cluster of each row, u64: the one with the nearest centre, among those that an
     * evaluation left with the result. NULL: none. NY_EUSAGE if there are none. */
    const char *clusters;
    /* "header", "ids" or both, as in ny_export_with(): for rows of an input that has names. */
    const char *with;
};
NY_API int ny_place(struct ny_context *context, const struct ny_placing *placing,
                    struct ny_report **report);
/* Writes a part of a result, one of ny_export_parts(). `name` NULL: of the points themselves, which
 * have "points", "raw-points", "labels", "source", "ids" (names of all rows), "columns" (names of
 * columns) and "classes" (words of labels). The "ids" of a result are of its rows; its "errors" are
 * pairs × 3: component_errors, their standard errors, and the corrected eigenvalues. `output` ends
 * in .npy, .csv, .csv.gz or .tsv; for a model in .nym; for names in .txt or as a text table, one a
 * line; for "graph" in .npz, .mtx, .txt, .csv or .tsv. Any other ending of a regular file is
 * NY_EUSAGE. "-" is the standard output: like pipes and devices it gets npy, or lines of names and
 * graphs. For a store in shards, all processes that MPI started together make this call, and one of
 * them writes the file. NY_EUSAGE, with a list of the parts, if the result has no such part. */
NY_API int ny_export(struct ny_context *context, const char *path, const char *name,
                     const char *part, const char *output);
/* Exports like ny_export(), even if chunks of the part are damaged. Rows that cannot be read are
 * NaN in the output (numbers: 2^64−1; names: empty lines), so that all others keep their place. The
 * log warns of them, and *missing (may be NULL) counts them. NY_ESTORE only if no row is left, or
 * if the result's own record is damaged. */
NY_API int ny_export_undamaged(struct ny_context *context, const char *path, const char *name,
                               const char *part, const char *output, uint64_t *missing);
/* Exports a part to a .csv, .csv.gz or .tsv, as `with` says: one or several of these words,
 * separated by commas. "header" is a first line with the names of the columns. If the part has a
 * line for each row, "ids" (the rows' names), "labels" and "clusters" are columns before it, with
 * words in quotes if they need them. For axes, mean and features, "ids" are the names of columns.
 * NY_EUSAGE for other parts and outputs, for "clusters" before the part clusters, and if there are
 * none. Of the processes that MPI started together for a store in shards, the first writes the
 * file, and needs all shards. */
NY_API int ny_export_with(struct ny_context *context, const char *path, const char *name,
                          const char *part, const char *output, const char *with);
/* Some of the rows: first … end−1, counted from 0. */
struct ny_export_range {
    uint64_t first, end; /* end UINT64_MAX: to the last one */
    const char *with;    /* what stands beside them, as in ny_export_with(); NULL: nothing */
};
/* Exports these rows of a part that has a line for each row, as ny_export() or ny_export_with()
 * does. NY_EUSAGE for other parts, and if there are no such rows. */
NY_API int ny_export_rows(struct ny_context *context, const char *path, const char *name,
                          const char *part, const char *output, const struct ny_export_range *rows);
/* Draws a result as png, svg or pdf, by the ending of `output` ("-": a png to standard output;
 * another ending is NY_EUSAGE) and the options of NY_GROUP_PLOT. One pass over the embedding (with
 * option all two), and one over labels or other classes that give the colours. Memory: about 60
 * bytes a pixel, whatever the number of rows. */
NY_API int ny_plot(struct ny_context *context, const char *path, const char *name,
                   const char *output, const struct ny_options *options);
/* Draws a result as text, which is passed to `write` piece by piece; if that returns a value other
 * than 0, this function returns it. Classes beyond 20 share letters. NY_EUSAGE for options size,
 * scree, names and mark-landmarks. */
struct ny_screen {
    unsigned columns, lines;
    int utf8;   /* has no effect: all but names is ASCII */
    int colors; /* has no effect: letters tell classes apart */
    int (*write)(void *user, const char *text, size_t bytes);
    void *user;
};
NY_API int ny_plot_text(struct ny_context *context, const char *path, const char *name,
                        const struct ny_options *options, const struct ny_screen *screen);
/* Writes at most 32 results as one self-contained page of HTML, by the options of NY_GROUP_REPORT.
 * `count` 0 (`names` may then be NULL): the first 32, by name, of those that are done. `output`
 * ends in .html or .htm, or is "-". One pass over each embedding; a path holds a component of its
 * graph in memory. NY_EDATA if there is no path. */
NY_API int ny_write_report(struct ny_context *context, const char *path, const char *const *names,
                           size_t count, const char *output, const struct ny_options *options);
/* The names of the parts, for help; NULL ends the list. */
NY_API const char *const *ny_export_parts(void);

/* Measures this machine now (GEMM rates, exp, eigenproblems, disk), as plans do. */
NY_API int ny_calibrate(struct ny_context *context, struct ny_report **report);

/* ---------------------------------------------------------------------------------------------
 * 1. One call: `file` → `output`, without a store. Options of NY_GROUP_FIT, NY_GROUP_READ and
 * NY_GROUP_EMBED; *report as of ny_fit(). Rows of npy and idx files are read where they are, if no
 * option changes them; others go to temporary files beside `output` (or in option tmpdir), which
 * have no name. What is made is in a temporary file, too. The rows take the
 * place of those that the context has borrowed (ny_borrow()).
 * ------------------------------------------------------------------------------------------- */
NY_API int ny_embed_file(struct ny_context *context, const char *file, const char *output,
                         const struct ny_options *options, struct ny_report **report);

#ifdef __cplusplus
}
#endif

#include "nystream_memory.h" /* 4 */
#include "nystream_sums.h"   /* 5 */
#endif
