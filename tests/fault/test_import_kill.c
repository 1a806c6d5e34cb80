/* Imports killed. The same call goes on where the last one was, and ends as an unbroken one does.
 */
#include "fault/job_kill.h"

#include "shards/open.h"

static int call_import(struct ny_context *ctx, const struct run *run, const char *path,
                       const char *name, const struct ny_options *options)
{
    (void)name;
    return ny_import(ctx, path, run->file, run->file[1] ? 2 : 1, options, NULL);
}

/* ---- import -------------------------------------------------------------------------------- */

static void write_table(const char *path, uint64_t first, uint64_t rows)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    for (int j = 0; j < D; j++)
        fprintf(file, "x%d,", j);
    fputs("class\n", file);
    for (uint64_t i = first; i < first + rows; i++) {
        for (uint64_t j = 0; j < D; j++)
            fprintf(file, "%.6g,", (double)value_of(i, j));
        fprintf(file, "%s\n", i % 3 ? "odd" : "even");
    }
    fclose(file);
}

/* Writes a label for each row: one of them is "even" in `of`. */
static void write_labels(const char *path, uint64_t rows, uint64_t of)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    for (uint64_t i = 0; i < rows; i++)
        fprintf(file, "%s\n", i % of ? "odd" : "even");
    fclose(file);
}

/* Writes rows of a table by columns, which the import sorts first. */
static void write_matrix(const char *path, uint64_t rows)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fprintf(file, "%%%%MatrixMarket matrix coordinate real general\n%llu %d %llu\n",
            (unsigned long long)rows, D, (unsigned long long)(rows * D));
    for (uint64_t j = 0; j < D; j++)
        for (uint64_t i = 0; i < rows; i++)
            fprintf(file, "%llu %llu %.6g\n", (unsigned long long)i + 1, (unsigned long long)j + 1,
                    (double)value_of(i, j));
    fclose(file);
}

/* Writes names beside the matrix, of rows and of columns. */
static void write_names(const char *cells, const char *features, uint64_t rows, const char *cell)
{
    FILE *file = fopen(cells, "w");

    assert_non_null(file);
    for (uint64_t i = 0; i < rows; i++)
        fprintf(file, "%s %llu\n", cell, (unsigned long long)i);
    fclose(file);
    file = fopen(features, "w");
    assert_non_null(file);
    for (uint64_t j = 0; j < D; j++)
        fprintf(file, "id%llu\tgene %llu\n", (unsigned long long)j, (unsigned long long)j);
    fclose(file);
}

/* Reads the names of rows and of columns, which are there or not. */
static struct ny_names names_of(struct ny_store *opened, const struct ny_rows_info *info)
{
    struct ny_names names = {0};

    assert_int_equal(ny_points_names(opened, 0, (size_t)info->n, &names), NY_OK);
    assert_int_equal(ny_points_column_names(opened, 0, (size_t)info->d, &names), NY_OK);
    return names;
}

static void same_points(const char *one, const char *other)
{
    const char *paths[2] = {one, other};
    struct ny_stored_points info[2];
    struct ny_names names[2];
    struct ny_store *opened;
    OWNED(ny_context) *ctx = NULL;
    void *rows[2];
    double *labels[2];
    uint64_t *source[2];

    assert_int_equal(ny_context_new(&ctx), NY_OK);
    for (int k = 0; k < 2; k++) {
        size_t n;

        assert_int_equal(ny_shards_open(&opened, ctx, paths[k], NULL, NY_SHARDS_ALL), NY_OK);
        assert_int_equal(ny_points_stored(opened, &info[k]), NY_OK);
        n = (size_t)info[k].rows.n;
        rows[k] = malloc(n * D * sizeof(double));
        labels[k] = malloc(n * sizeof(double));
        source[k] = malloc(n * sizeof(uint64_t));
        assert_true(rows[k] && labels[k] && source[k]);
        assert_int_equal(ROWS_OF(opened, read, 0, 0, n, rows[k]), NY_OK);
        assert_int_equal(ny_points_labels(opened, 0, n, labels[k]), NY_OK);
        assert_int_equal(ny_points_source(opened, 0, n, source[k]), NY_OK);
        names[k] = names_of(opened, &info[k].rows);
        ny_store_close(opened);
    }
    assert_int_equal(info[0].rows.n, info[1].rows.n);
    assert_int_equal(info[0].rows.dtype, info[1].rows.dtype);
    assert_int_equal(info[0].dropped, info[1].dropped);
    assert_memory_equal(rows[0], rows[1], info[0].rows.n * D * ny_dtype_size(info[0].rows.dtype));
    assert_memory_equal(labels[0], labels[1], info[0].rows.n * sizeof(double));
    assert_memory_equal(source[0], source[1], info[0].rows.n * sizeof(uint64_t));
    assert_true(info[0].names == info[1].names && info[0].column_names && info[1].column_names);
    assert_int_equal(names[0].bytes, names[1].bytes);
    assert_memory_equal(names[0].text, names[1].text, names[0].bytes);
    for (int k = 0; k < 2; k++) {
        ny_names_release(&names[k], ctx);
        free(rows[k]);
        free(labels[k]);
        free(source[k]);
    }
}

static uint64_t rows_of(const char *path)
{
    struct ny_rows_info info;
    OWNED(ny_store) *opened = NULL;
    OWNED(ny_context) *ctx = NULL;

    assert_int_equal(ny_context_new(&ctx), NY_OK);
    assert_int_equal(ny_shards_open(&opened, ctx, path, NULL, NY_SHARDS_ALL), NY_OK);
    assert_int_equal(ny_points_info(opened, &info), NY_OK);
    return info.n;
}

/* Tells whether an append to a copy of `base` is complete; its readers see the rows of `base` or
 * all. An append that was killed when it had just ended would add its rows again, unless it expects
 * the rows of `base`. */
static bool is_complete(const char *broken, const char *base, uint64_t whole_rows)
{
    uint64_t rows;

    if (!base) return false;
    rows = rows_of(broken);
    assert_true(rows == rows_of(base) || rows == whole_rows);
    return rows == whole_rows;
}

static void kill_imports(const struct run *run, const char *base)
{
    char whole[200], broken[200];
    uint64_t whole_rows;
    double seconds;
    int kills = 0;

    snprintf(whole, sizeof(whole), "%s/whole.nys", directory);
    snprintf(broken, sizeof(broken), "%s/broken.nys", directory);
    if (base) case_copy(base, whole);
    seconds = run_whole(run, whole, NULL);
    whole_rows = rows_of(whole);
    for (int attempt = 0; kills < kills_wanted; attempt++) {
        int tries = 0;

        assert_true(attempt < 8 * kills_wanted);
        if (base) case_copy(base, broken);
        while (kill_once(run, broken, NULL, seconds, tries++)) {
            kills++;
            assert_true(tries < TRIES_MAX);
            if (!run->again && is_complete(broken, base, whole_rows)) break;
        }
        same_points(whole, broken);
        check_sound(broken);
        case_remove(broken);
    }
    case_remove(whole);
    print_message("%s: %d kills\n", run->name, kills);
}

static char first[200], second[200], matrix[200], labels[200], cells[200], features[200];

#define IMPORT .call = call_import, .stage = "import", .again = NY_EUSAGE, .memory = 32 << 20

static char by_labels[220];
static const struct run plain = {
    "import of two files", "label-column=class", {first, second}, IMPORT};
static const struct run shuffled = {
    "shuffled import", "label-column=class shuffle=yes dtype=f64", {first, second}, IMPORT};
static const struct run named = {
    "import with names of rows", "id-column=class", {first, second}, IMPORT};
static const struct run sorted = {"import of entries by columns", by_labels, {matrix}, IMPORT};
static const struct run shard = {
    "import of a shard", "label-column=class shard=0/1", {first, second}, IMPORT};
static const struct run append = {"append",          "label-column=class append=yes",
                                  {second},          .call = call_import,
                                  .stage = "append", .memory = 32 << 20};

static void write_tables(void)
{
    start();
    snprintf(first, sizeof(first), "%s/first.csv", directory);
    snprintf(second, sizeof(second), "%s/second.csv", directory);
    snprintf(matrix, sizeof(matrix), "%s/matrix.mtx", directory);
    snprintf(labels, sizeof(labels), "%s/labels.txt", directory);
    snprintf(by_labels, sizeof(by_labels), "labels=%s", labels);
    write_matrix(matrix, ROWS);
    write_labels(labels, ROWS, 3);
    snprintf(cells, sizeof(cells), "%s/barcodes.tsv", directory);
    snprintf(features, sizeof(features), "%s/features.tsv", directory);
    write_names(cells, features, ROWS, "cell");
    write_table(first, 0, ROWS);
    write_table(second, ROWS + 1, ROWS / 2); /* class names in the same order as in the first */
}

TEST(imports_go_on_as_if_unbroken)
{
    kill_imports(&plain, NULL);
    kill_imports(&shuffled, NULL);
    kill_imports(&named, NULL);
    kill_imports(&sorted, NULL);
    kill_imports(&shard, NULL);
}

TEST(an_append_goes_on_as_if_unbroken)
{
    struct run all = plain, expecting;
    char base[200], options[100];

    snprintf(base, sizeof(base), "%s/base.nys", directory);
    all.file[1] = NULL;
    run_whole(&all, base, NULL);
    kill_imports(&append, base);
    expecting = append;
    expecting.name = "append to so many rows";
    expecting.again = NY_EUSAGE;
    snprintf(options, sizeof(options), "%s expect-rows=%llu", append.options,
             (unsigned long long)rows_of(base));
    expecting.options = options;
    kill_imports(&expecting, base);
    case_remove(base);
}

/* Tells whether rows of an import that was killed wait in a store. */
static bool has_staged(const char *path)
{
    struct ny_store *opened;
    OWNED(ny_context) *ctx = NULL;
    bool waits = false;

    assert_int_equal(ny_context_new(&ctx), NY_OK);
    if (ny_shards_open(&opened, ctx, path, NULL, NY_SHARDS_ALL) == NY_OK) {
        assert_int_equal(ny_ingest_waits(opened, &waits), NY_OK);
        ny_store_close(opened);
    }
    return waits;
}

/* Rows that were staged with labels or names which were corrected since are not gone on with. */
TEST(files_beside_the_rows_are_corrected)
{
    const uint64_t rows = 5 * ROWS; /* some are staged before the end */
    char whole[200], broken[200];

    write_matrix(matrix, rows);
    write_labels(labels, rows, 3);
    write_names(cells, features, rows, "cell");
    snprintf(whole, sizeof(whole), "%s/whole.nys", directory);
    snprintf(broken, sizeof(broken), "%s/broken.nys", directory);
    for (int names = 0; names < 2; names++) {
        for (int tries = 0; !has_staged(broken); tries++) {
            assert_true(tries < TRIES_MAX);
            if (!kill_once(&sorted, broken, NULL, 1, 0)) case_remove(broken);
        }
        if (names)
            write_names(cells, features, rows, "of another kind");
        else
            write_labels(labels, rows, 2);
        run_whole(&sorted, whole, NULL);
        run_whole(&sorted, broken, NULL);
        same_points(whole, broken);
        check_sound(broken);
        case_remove(whole);
        case_remove(broken);
    }
}

AROUND_ALL(write_tables, stop)
