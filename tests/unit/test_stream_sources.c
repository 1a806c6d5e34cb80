/* stream/source.h: the rows that a pass sees are those of the store, the file or the memory, for
 * blocks larger and smaller than a unit, strips of any height and any number of workers. */
#include <sys/stat.h>
#include <time.h>

#include "base/thread.h"
#include "io/reader.h"
#include "io/reader_source.h"
#include "stream/pass.h"
#include "stream/share.h"
#include "support/files.h"
#include "support/store_folder.h"

OWNS_POINTER(ny_source, ny_source_free)
OWNS_POINTER(ny_reader, ny_reader_close)

enum { SEED = 3, WORKERS_MAX = 5 };

static const unsigned crews[] = {1, 2, WORKERS_MAX};

/* Every unit writes its rows where they belong, in strips of `height`. */
struct copy {
    char *out;
    size_t row_bytes, height, capacity;
    bool overrun[WORKERS_MAX];
    bool shared; /* strips are shared out */
};

static int unit(void *arg, const struct ny_tile *tile)
{
    struct copy *copy = arg;

    if (!tile->rows || tile->first_row + tile->rows > copy->capacity) {
        copy->overrun[tile->worker] = true;
        return NY_OK;
    }
    for (size_t first = 0; first < tile->rows; first += copy->height) {
        size_t left = tile->rows - first, count = left < copy->height ? left : copy->height;
        int err = ny_tile_strip(tile, first, count,
                                copy->out + (tile->first_row + first) * copy->row_bytes);

        if (err) return err;
    }
    return NY_OK;
}

/* The strips of a tile, which other workers copy as well. */
struct strips {
    struct copy *copy;
    const struct ny_tile *tile;
};

/* Takes its time, so that those who have no tile come and help. */
static int copy_strip(void *arg, size_t piece, unsigned worker)
{
    const struct strips *strips = arg;
    const struct copy *copy = strips->copy;
    const struct ny_tile seen = ny_tile_seen_by(strips->tile, worker);
    size_t first = piece * copy->height, left = seen.rows - first;

    nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    return ny_tile_strip(&seen, first, left < copy->height ? left : copy->height,
                         copy->out + (seen.first_row + first) * copy->row_bytes);
}

static int shared_unit(void *arg, const struct ny_tile *tile)
{
    struct copy *copy = arg;
    struct strips strips = {copy, tile};

    return ny_tile_share(tile, (tile->rows + copy->height - 1) / copy->height, copy_strip, &strips);
}

static int run(struct ny_source *source, unsigned workers, size_t height, struct copy *copy)
{
    const struct ny_pass_work work = {.unit = copy->shared ? shared_unit : unit};
    int err;

    copy->height = height;
    err = ny_pass_run(&(struct ny_pass){.source = source, .stage = "copy", .workers = workers},
                      &work, copy);
    for (unsigned w = 0; w < workers; w++)
        assert_false(copy->overrun[w]);
    return err;
}

static struct copy copy_new(size_t rows, size_t row_bytes)
{
    struct copy copy = {.out = lend(rows * row_bytes), .row_bytes = row_bytes, .capacity = rows};

    memset(copy.out, 0xA5, rows * row_bytes);
    return copy;
}

/* ---- points --------------------------------------------------------------------------------- */

struct shape {
    enum ny_dtype dtype;
    uint64_t d, rows;
    bool large; /* a block has more rows than a unit, or fewer */
};

static struct ny_store *store_of(const struct shape *shape)
{
    struct case_import import = {.seed = SEED,
                                 .count = shape->rows,
                                 .batch = 1000,
                                 .spec = {.d = shape->d, .dtype = shape->dtype}};
    struct ny_store *store;

    assert_int_equal(ny_store_create(&store, ctx, path), NY_OK);
    assert_int_equal(case_import(store, &import), NY_OK);
    return store;
}

static void check_points(struct ny_store *store, const struct shape *shape, uint64_t n)
{
    size_t row_bytes = (size_t)shape->d * ny_dtype_size(shape->dtype);
    char *rows = lend((size_t)n * row_bytes);

    case_rows(rows, SEED, shape->dtype, shape->d, 0, n);
    for (size_t c = 0; c < 3; c++)
        for (size_t height = NY_STRIP_ROWS; height > 300; height -= 191) {
            struct copy copy = copy_new((size_t)n, row_bytes);
            OWNED(ny_source) *source = NULL;

            assert_int_equal(ny_rows_source(ny_store_rows(store), n, 0, crews[c], &source), NY_OK);
            assert_int_equal(source->dtype, shape->dtype);
            assert_int_equal(source->d, shape->d);
            assert_int_equal(source->n, n);
            assert_int_equal(run(source, crews[c], height, &copy), NY_OK);
            assert_memory_equal(copy.out, rows, (size_t)n * row_bytes);
        }
}

TEST(points_of_a_store)
{
    static const struct shape shapes[] = {
        {NY_U8, 3, 200000, true},
        {NY_F32, 5, 30001, true},
        {NY_F64, 700, 2500, false},
        {NY_I16, 1500, 2048, false},
    };

    for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++) {
        struct ny_store *store = store_of(&shapes[s]);
        struct ny_rows_info info;

        assert_int_equal(ny_points_info(store, &info), NY_OK);
        assert_int_equal(info.n, shapes[s].rows);
        assert_true(shapes[s].large ? info.block_rows > NY_UNIT_ROWS
                                    : info.block_rows < NY_UNIT_ROWS);
        check_points(store, &shapes[s], info.n);
        check_points(store, &shapes[s], info.n - 1234); /* as of a job's start */
        check_points(store, &shapes[s], NY_UNIT_ROWS);
        check_points(store, &shapes[s], 1);
        ny_store_close(store);
        case_remove(path);
    }
}

TEST(points_cost_the_announced_memory)
{
    static const struct shape shape = {NY_F32, 20, 20000, true};
    struct ny_store *store = store_of(&shape);
    uint64_t limit = ny_context_memory(ctx);
    struct ny_rows_info info;
    struct ny_source *source;
    struct ny_layout counted = {0};
    size_t before, bytes;

    assert_int_equal(ny_points_info(store, &info), NY_OK);
    ny_rows_source_count(&counted, NY_MEM_STORE, &info, 3);
    bytes = ny_layout_most(&counted);
    before = ny_memory_used(ctx);
    assert_int_equal(ny_rows_source(ny_store_rows(store), info.n, 0, 3, &source), NY_OK);
    assert_in_range(ny_memory_used(ctx) - before, bytes, bytes + 2048);
    ny_source_free(source);
    ny_context_set_memory(ctx, before + bytes / 2);
    assert_int_equal(ny_rows_source(ny_store_rows(store), info.n, 0, 3, &source), NY_EBUDGET);
    assert_null(source);
    ny_error_clear(ctx);
    ny_context_set_memory(ctx, limit);
    assert_int_equal(ny_memory_used(ctx), before);
    ny_store_close(store);
    case_remove(path);
}

/* Zeroes in the middle of the file of points; returns the first row of their block. */
static uint64_t damage(struct ny_store **store, uint64_t rows, size_t block_bytes)
{
    static const char zeroes[4096];
    char file[192], *block = lend(block_bytes);
    struct ny_stored_points points;
    struct stat status;
    uint64_t bad = 0;
    size_t count;
    FILE *data;

    ny_store_close(*store);
    snprintf(file, sizeof(file), "%s/points/data.mdb", path);
    assert_int_equal(stat(file, &status), 0);
    data = fopen(file, "r+b");
    assert_non_null(data);
    fseek(data, status.st_size / 2 / 4096 * 4096 + 100, SEEK_SET);
    assert_int_equal(fwrite(zeroes, 1, sizeof(zeroes), data), sizeof(zeroes));
    fclose(data);
    assert_int_equal(ny_store_open(store, ctx, path), NY_OK);
    assert_int_equal(ny_points_stored(*store, &points), NY_OK);
    while (bad < points.blocks && ny_points_read_block(*store, bad, block, &count) == NY_OK)
        bad++;
    assert_true(bad * points.rows.block_rows < rows);
    ny_error_clear(ctx);
    return bad * points.rows.block_rows;
}

struct rush {
    struct ny_source *source;
    uint64_t row;
    int wrong[WORKERS_MAX];
};

/* Reads more often than there are slots: a failed one must come free again. */
static int read_damaged(void *arg, unsigned worker)
{
    struct rush *rush = arg;
    struct ny_tile tile = {
        .source = rush->source, .first_row = rush->row, .rows = NY_STRIP_ROWS, .worker = worker};
    char *rows = lend(NY_STRIP_ROWS * 160);

    for (int i = 0; i < 30; i++)
        rush->wrong[worker] += ny_tile_strip(&tile, 0, NY_STRIP_ROWS, rows) != NY_ESTORE;
    return NY_OK;
}

/* No worker may wait for ever for a block that cannot be read. */
TEST(a_damaged_block_stops_the_pass)
{
    static const struct shape shape = {NY_F32, 40, 40000, true};
    struct ny_store *store = store_of(&shape);
    uint64_t row = damage(&store, shape.rows, (size_t)4 << 20);
    struct copy copy = copy_new(40000, 160);

    for (size_t c = 0; c < 3; c++) {
        struct rush rush = {.row = row};

        CHECK(ny_rows_source(ny_store_rows(store), shape.rows, 0, crews[c], &rush.source));
        REFUSED(run(rush.source, crews[c], NY_STRIP_ROWS, &copy), NY_ESTORE);
        assert_int_equal(ny_parallel(ctx, crews[c], read_damaged, &rush), NY_OK);
        for (unsigned w = 0; w < crews[c]; w++)
            assert_int_equal(rush.wrong[w], 0);
        ny_error_clear(ctx);
        ny_source_free(rush.source);
    }
    ny_store_close(store);
    case_remove(path);
}

/* ---- readers -------------------------------------------------------------------------------- */

enum { D = 3, N = 7 * NY_UNIT_ROWS + 137 };

static void write_bytes(const uint8_t *bytes)
{
    double *values = lend(N * D * sizeof(*values));

    for (size_t i = 0; i < N * D; i++)
        values[i] = bytes[i];
    write_npy(path, "|u1", values, N, D);
}

/* Line `bad` (0-based; N: none) is not a number. */
static void write_lines(const float *rows, size_t bad)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    for (size_t i = 0; i < N; i++)
        if (i == bad)
            fprintf(file, "1,what,3\n");
        else
            fprintf(file, "%.9g,%.9g,%.9g\n", (double)rows[D * i], (double)rows[D * i + 1],
                    (double)rows[D * i + 2]);
    fclose(file);
}

static int read_file(enum ny_dtype dtype, unsigned workers, struct copy *copy, uint64_t *n)
{
    struct ny_reader_options options = {.header = NY_HEADER_NO};
    OWNED(ny_reader) *reader = NULL;
    OWNED(ny_source) *source = NULL;
    int err;

    assert_int_equal(ny_reader_open(&reader, ctx, path, &options), NY_OK);
    CHECK(
        ny_source_of_reader(&source, ctx, reader, &(struct ny_raw_shape){.dtype = dtype}, workers));
    *n = source->n;
    err = run(source, workers, 321, copy);
    return err;
}

TEST(those_who_help_see_the_rows_of_the_tile)
{
    uint8_t *bytes = lend(N * D);
    uint64_t n;

    case_rows(bytes, SEED, NY_U8, D, 0, N);
    write_bytes(bytes);
    for (size_t c = 0; c < 3; c++) {
        struct copy copy = copy_new(N, D * sizeof(float));

        copy.shared = true;
        assert_int_equal(read_file(NY_F32, crews[c], &copy, &n), NY_OK);
        for (size_t i = 0; i < N * D; i++)
            assert_true(((float *)copy.out)[i] == (float)bytes[i]);
    }
}

TEST(readers_give_the_rows_of_the_file)
{
    float *rows = lend(N * D * sizeof(*rows));
    uint8_t *bytes = lend(N * D);
    uint64_t n;

    case_rows(rows, SEED, NY_F32, D, 0, N);
    case_rows(bytes, SEED, NY_U8, D, 0, N);
    for (size_t c = 0; c < 3; c++) {
        struct copy copy = copy_new(N, D * sizeof(double)), same = copy_new(N, D);

        write_lines(rows, N);
        copy.row_bytes = D * sizeof(float);
        assert_int_equal(read_file(NY_F32, crews[c], &copy, &n), NY_OK);
        assert_int_equal(n, 0); /* not known before the end */
        assert_memory_equal(copy.out, rows, N * D * sizeof(float));

        write_bytes(bytes);
        assert_int_equal(read_file(NY_U8, crews[c], &same, &n), NY_OK);
        assert_int_equal(n, N);
        assert_memory_equal(same.out, bytes, N * D);
        assert_int_equal(read_file(NY_F32, crews[c], &copy, &n), NY_OK);
        for (size_t i = 0; i < N * D; i++)
            assert_true(((float *)copy.out)[i] == (float)bytes[i]);
        copy.row_bytes = D * sizeof(double);
        assert_int_equal(read_file(NY_F64, crews[c], &copy, &n), NY_OK);
        for (size_t i = 0; i < N * D; i++)
            assert_true(((double *)copy.out)[i] == (double)bytes[i]);

        write_lines(rows, 3 * NY_UNIT_ROWS + 5);
        copy.row_bytes = D * sizeof(float);
        REFUSED(read_file(NY_F32, crews[c], &copy, &n), NY_EDATA);
    }
}

/* A unit of wide rows would be more than all that come. */
TEST(few_rows_of_a_file_take_little_memory)
{
    static const float rows[] = {1, 2, 3, 4, 5, 6};
    struct ny_reader_options options = {.header = NY_HEADER_NO};
    const struct ny_raw_shape shape = {.dtype = NY_F32, .n = 2};
    struct copy copy = copy_new(2, D * sizeof(float));
    OWNED(ny_reader) *reader = NULL;
    OWNED(ny_source) *source = NULL;
    size_t before;

    write_text(path, "1,2,3\n4,5,6\n");
    assert_int_equal(ny_reader_open(&reader, ctx, path, &options), NY_OK);
    before = ny_memory_used(ctx);
    assert_int_equal(ny_source_of_reader(&source, ctx, reader, &shape, 1), NY_OK);
    assert_true(ny_memory_used(ctx) - before < NY_UNIT_ROWS * D * sizeof(float));
    assert_int_equal(run(source, 1, 321, &copy), NY_OK);
    assert_memory_equal(copy.out, rows, sizeof(rows));
}

AROUND_ALL(make_folder, remove_folder)
