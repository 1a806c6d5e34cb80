/* stream/rows_memory.h: rows in memory are, by every call of stream/rows.h, those of a store that
 * imported them, to the last bit of their statistics. */
#include "memory_rows_case.h"

#include <sys/mman.h>

#include "base/guard.h"
#include "stream/blocks.h"
#include "stream/pass.h"

OWNS(ny_rows_stats, ny_rows_stats_release(at, ctx))
OWNS(rows, free_rows(at))

/* ---- comparing ------------------------------------------------------------------------------ */

static struct ny_rows_info info_of(struct ny_rows *X)
{
    struct ny_rows_info info;

    CHECK(X->ops->info(X, &info));
    return info;
}

/* A record is compared up to its count; the rest of it is of no account. */
static void check_same(const struct ny_rows_info *info, const char *got, const char *want,
                       size_t count)
{
    size_t bytes = ny_rows_row_bytes(info), slots = (size_t)info->row_slots;

    if (!slots) {
        assert_memory_equal(got, want, count * bytes);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        struct ny_sparse a = ny_sparse_of(got + i * bytes, slots);
        struct ny_sparse b = ny_sparse_of(want + i * bytes, slots);

        assert_int_equal(a.count, b.count);
        assert_memory_equal(a.index, b.index, a.count * sizeof(*a.index));
        assert_memory_equal(a.value, b.value, a.count * ny_dtype_size(info->dtype));
    }
}

static void check_info(struct ny_rows *M, struct ny_rows *S)
{
    struct ny_rows_info got = info_of(M), want = info_of(S);

    if (want.layout == NY_DENSE) want.lengths = got.lengths; /* are of no account */
    assert_int_equal(got.here.first, want.here.first);
    assert_int_equal(got.here.end, want.here.end);
    assert_int_equal(got.block_rows, want.block_rows);
    assert_int_equal(got.row_slots, want.row_slots);
    assert_memory_equal(&got.preparation, &want.preparation, sizeof(got.preparation));
    assert_memory_equal(&got.lengths, &want.lengths, sizeof(got.lengths));
    assert_int_equal(got.n, want.n);
    assert_int_equal(got.d, want.d);
    assert_int_equal(got.dtype, want.dtype);
    assert_int_equal(got.stored_dtype, want.stored_dtype);
    assert_int_equal(got.layout, want.layout);
    assert_int_equal(got.nnz, want.nnz);
    assert_int_equal(got.unit_values, want.unit_values);
    assert_int_equal(got.kept_bytes, ny_points_raw_bytes(&want)); /* nothing is compressed */
    assert_int_equal(got.lost, 0);
}

static void check_stats(struct ny_rows *M, struct ny_rows *S)
{
    OWNED(ny_rows_stats) got, want;
    size_t bytes;

    CHECK(M->ops->stats(M, &got));
    CHECK(S->ops->stats(S, &want));
    assert_int_equal(got.n, want.n);
    assert_int_equal(got.d, want.d);
    bytes = (size_t)got.d * sizeof(double);
    assert_memory_equal(got.mean, want.mean, bytes);
    assert_memory_equal(got.variance, want.variance, bytes);
    assert_memory_equal(got.minimum, want.minimum, bytes);
    assert_memory_equal(got.maximum, want.maximum, bytes);
    assert_memory_equal(&got.mean_square_norm, &want.mean_square_norm, sizeof(double));
    assert_memory_equal(&got.mean_norm, &want.mean_norm, sizeof(double));
}

static void check_read(struct ny_rows *M, struct ny_rows *S)
{
    struct ny_rows_info info = info_of(S);
    size_t bytes = ny_rows_row_bytes(&info), slots = (size_t)info.row_slots;
    char *got = malloc(info.n * bytes + 1), *want = malloc(info.n * bytes + 1);
    const uint64_t ranges[][2] = {
        {0, info.n}, {info.n / 3, info.n - info.n / 3}, {info.n - 1, 1}, {info.n, 0}};

    for (size_t r = 0; r < sizeof(ranges) / sizeof(ranges[0]); r++) {
        CHECK(M->ops->read(M, slots, ranges[r][0], (size_t)ranges[r][1], got));
        CHECK(S->ops->read(S, slots, ranges[r][0], (size_t)ranges[r][1], want));
        check_same(&info, got, want, (size_t)ranges[r][1]);
    }
    REFUSED(M->ops->read(M, slots, info.n - 1, 2, got), NY_EINTERNAL);
    REFUSED(M->ops->read(M, slots ? 0 : 3, 0, 1, got), NY_EINTERNAL);
    free(got), free(want);
}

/* Rows that were visited: how often, where their values begin, and that they came in order. */
struct visits {
    const struct ny_rows_info *info;
    const uint64_t *row;
    char *out; /* records */
    size_t seen, last, end;
    int status; /* of the visit of number `end` */
};

static int note_visit(void *arg, size_t position, struct ny_sparse row)
{
    struct visits *visits = arg;
    size_t slots = (size_t)visits->info->row_slots;

    assert_true(!visits->seen || visits->row[position] >= visits->row[visits->last]);
    visits->last = position;
    ny_sparse_pack(visits->out + position * ny_rows_row_bytes(visits->info), slots,
                   visits->info->dtype, row);
    return ++visits->seen == visits->end ? visits->status : NY_OK;
}

static void check_gather(struct ny_rows *M, struct ny_rows *S)
{
    enum { COUNT = 400, FEW = 20 }; /* FEW: of rows that are a block each */
    struct ny_rows_info info = info_of(S);
    size_t bytes = ny_rows_row_bytes(&info), slots = (size_t)info.row_slots;
    size_t count = bytes < 1 << 20 ? COUNT : FEW;
    char *got = malloc(count * bytes), *want = malloc(count * bytes);
    uint64_t rows[COUNT], beyond[2] = {0, info.n};

    for (uint64_t i = 0; i < count; i++)
        rows[i] = ny_hash64(3, NY_STREAM_DATA, i) % info.n;
    rows[count - 1] = rows[0]; /* twice the same, or more often */
    CHECK(M->ops->gather(M, slots, rows, count, got));
    CHECK(S->ops->gather(S, slots, rows, count, want));
    check_same(&info, got, want, count);
    CHECK(M->ops->gather(M, slots, rows, 0, got));
    REFUSED(M->ops->gather(M, slots, beyond, 2, got), NY_EINTERNAL);
    if (slots) {
        struct visits visits = {.info = &info, .row = rows, .out = got};

        memset(got, 0, count * bytes);
        CHECK(M->ops->visit(M, slots, rows, count, note_visit, &visits));
        assert_int_equal(visits.seen, count);
        check_same(&info, got, want, count);
        for (int ended = 0; ended < 2; ended++) {
            int status = ended ? NY_END : NY_ENUMERIC;

            visits =
                (struct visits){.info = &info, .row = rows, .out = got, .end = 3, .status = status};
            assert_int_equal(M->ops->visit(M, slots, rows, count, note_visit, &visits), status);
            assert_int_equal(visits.seen, 3);
        }
    }
    free(got), free(want);
}

/* ---- passes --------------------------------------------------------------------------------- */

/* All rows that a pass sees, by strips and, where the source shows rows, once more by visits. */
struct seen {
    const struct ny_rows_info *info;
    char *strips, *visits;
};

/* The place of the row that is shown next. */
struct next {
    const struct ny_rows_info *info;
    char *to;
};

static int keep_row(void *arg, struct ny_sparse row)
{
    struct next *next = arg;

    ny_sparse_pack(next->to, (size_t)next->info->row_slots, next->info->dtype, row);
    next->to += ny_rows_row_bytes(next->info);
    return NY_OK;
}

static int see_unit(void *arg, const struct ny_tile *tile)
{
    enum { HEIGHT = 300, FIRST = 5 };
    struct seen *seen = arg;
    size_t bytes = ny_rows_row_bytes(seen->info);
    char *to = seen->strips + tile->first_row * bytes;
    struct next next = {seen->info, seen->visits + (tile->first_row + FIRST) * bytes};
    int err = NY_OK;

    for (size_t at = 0; !err && at < tile->rows; at += HEIGHT)
        err = ny_tile_strip(tile, at, tile->rows - at < HEIGHT ? tile->rows - at : HEIGHT,
                            to + at * bytes);
    if (err || !seen->info->row_slots) return err;
    memcpy(seen->visits + tile->first_row * bytes, to,
           (tile->rows < FIRST ? tile->rows : FIRST) * bytes);
    return tile->rows <= FIRST
               ? NY_OK
               : tile->source->ops->visit(tile->source, tile, FIRST, keep_row, &next);
}

static void check_passes(struct ny_rows *M, struct ny_rows *S)
{
    static const struct ny_pass_work work = {.unit = see_unit};
    struct ny_rows_info info = info_of(S);
    size_t bytes = ny_rows_row_bytes(&info), slots = (size_t)info.row_slots;
    char *want = malloc(info.n * bytes);

    CHECK(S->ops->read(S, slots, 0, (size_t)info.n, want));
    for (unsigned workers = 1; workers <= 3; workers++) {
        uint64_t n = workers == 2 && info.n > 1 ? info.n - 1 : info.n;
        struct seen seen = {&info, calloc(info.n, bytes), calloc(info.n, bytes)};
        struct ny_pass pass = {.stage = "see", .workers = workers};
        size_t before = ny_memory_used(ctx);
        struct ny_rows_info own = info_of(M);
        struct ny_layout counted = {0};

        CHECK(ny_rows_source(M, workers == 3 ? UINT64_MAX : n, slots, workers, &pass.source));
        ny_rows_source_count(&counted, NY_MEM_STORE, &own, workers);
        assert_true(ny_memory_used(ctx) - before <= ny_layout_most(&counted));
        assert_int_equal(pass.source->n, n);
        assert_int_equal(pass.source->dtype, info.dtype);
        assert_int_equal(pass.source->slots, slots);
        CHECK(ny_pass_run(&pass, &work, &seen));
        ny_source_free(pass.source);
        check_same(&info, seen.strips, want, (size_t)n);
        if (slots) check_same(&info, seen.visits, want, (size_t)n);
        free(seen.strips), free(seen.visits);
    }
    free(want);
}

static void check_all(struct ny_rows *M, struct ny_rows *S)
{
    check_info(M, S);
    check_stats(M, S);
    check_read(M, S);
    check_gather(M, S);
    check_passes(M, S);
}

/* ---- every shape ---------------------------------------------------------------------------- */

static void check_shape(const struct shape *shape)
{
    struct ny_rows *M, *S = ny_store_rows(store);
    char got[NY_COLUMN_WORDS_BYTES], want[NY_COLUMN_WORDS_BYTES];
    uint64_t array[2] = {1, 2};
    struct rows rows = rows_of_shape(shape);

    CHECK(import(&rows, 0));
    CHECK(ny_rows_of_memory(&M, ctx, &rows.memory));
    check_all(M, S);
    ny_rows_raw(M, true), ny_rows_raw(S, true);
    check_all(M, S);
    ny_rows_raw(M, false), ny_rows_raw(S, false);
    check_info(M, S);
    CHECK(M->ops->column_words(M, shape->d - 1, got));
    CHECK(S->ops->column_words(S, shape->d - 1, want));
    assert_string_equal(got, want);
    CHECK(ny_rows_complete(M, 2, array, sizeof(array[0])));
    assert_true(array[0] == 1 && array[1] == 2 && ny_rows_number(M, 4) == 4);
    ny_memory_rows_free(M);
    free_rows(&rows);
    new_store();
}

/* A gap of one byte lets most rows begin where no number of their type may. */
TEST(rows_of_any_type_and_number)
{
    static const uint64_t lengths[] = {1, 5, 2047, 2048, 2049, 5000};

    for (size_t l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++)
        for (int k = NY_U8; k <= NY_F64; k++) {
            enum ny_dtype dtype = (enum ny_dtype)k;
            size_t gap = l % 2 ? 1 : 48;
            unsigned index = k % 2 ? 4 : 8;

            check_shape(&(struct shape){lengths[l], 37, dtype, 0, 0, &as_they_are});
            check_shape(&(struct shape){lengths[l], 37, dtype, gap, 0, &as_they_are});
            check_shape(&(struct shape){lengths[l], 150, dtype, 0, index, &as_they_are});
        }
    check_shape(&(struct shape){5000, 150, NY_F64, 0, 4, &as_they_are});
    check_shape(&(struct shape){5000, 150, NY_F32, 0, 8, &as_they_are});
}

/* More than the 8 MiB that are counted at a time, and more columns than a strip of the sums has. */
TEST(wide_rows)
{
    check_shape(&(struct shape){4200, 300, NY_F64, 0, 0, &as_they_are});
    check_shape(&(struct shape){2100, 300, NY_F32, 24, 0, &as_they_are});
    check_shape(&(struct shape){3, 140000, NY_F64, 0, 0, &as_they_are}); /* a block is one row */
    check_shape(&(struct shape){2100, 300, NY_U8, 0, 4, &as_they_are});
}

TEST(prepared_rows)
{
    for (int dtype = NY_U8; dtype <= NY_F64; dtype++)
        for (unsigned way = 0; way < 4; way++)
            check_shape(&(struct shape){2100, 130, (enum ny_dtype)dtype, way == 1 ? 3 : 0,
                                        way < 2 ? 0 : way * 4 - 4, &by_total});
}

TEST(rows_at_an_odd_address)
{
    const struct shape shape = {5000, 37, NY_F64, 0, 0, &as_they_are};
    const size_t bytes = 5000 * 37 * 8;
    char *odd = malloc(bytes + 1);
    struct ny_rows *M;
    struct rows rows = rows_of_shape(&shape);

    CHECK(import(&rows, 0));
    memcpy(odd + 1, rows.packed, bytes);
    rows.memory.kept.values = ny_borrowed_of(odd + 1, bytes);
    CHECK(ny_rows_of_memory(&M, ctx, &rows.memory));
    check_all(M, ny_store_rows(store));
    ny_memory_rows_free(M);
    free_rows(&rows);
    free(odd);
}

/* Values that a reader has left out count where an import decides how large a block is. */
TEST(blocks_are_cut_by_what_came)
{
    const struct shape shape = {5000, 150, NY_F32, 0, 4, &as_they_are};
    struct ny_rows *M;
    OWNED(rows) rows;

    rows = rows_of_shape(&shape);
    rows.memory.entries = 5000 * 140;
    CHECK(import(&rows, rows.memory.entries));
    CHECK(ny_rows_of_memory(&M, ctx, &rows.memory));
    assert_true(info_of(M).block_rows < ny_sparse_block_rows_for(15, NY_F32));
    check_info(M, ny_store_rows(store));
    check_stats(M, ny_store_rows(store));
    ny_memory_rows_free(M);
}

TEST(columns_have_names)
{
    const struct shape shape = {5, 3, NY_U8, 0, 0, &as_they_are};
    char words[NY_COLUMN_WORDS_BYTES];
    struct ny_names names = {0};
    struct ny_rows *M;
    OWNED(rows) rows;

    rows = rows_of_shape(&shape);
    CHECK(ny_names_append(&names, ctx, "age\0height\0weight", 3));
    rows.memory.columns = &names;
    CHECK(ny_rows_of_memory(&M, ctx, &rows.memory));
    CHECK(M->ops->column_words(M, 1, words));
    assert_string_equal(words, "column 'height'");
    ny_memory_rows_free(M);
    ny_names_release(&names, ctx);
}

/* ---- a mapped file -------------------------------------------------------------------------- */

/* Returns the bytes of the map at this address that are in the memory of this process. */
static size_t resident_bytes(const char *at)
{
    char line[256];
    FILE *maps = fopen("/proc/self/smaps", "r");
    size_t kib = 0;
    bool here = false;
    char *range = lend_text("%lx-", (unsigned long)(uintptr_t)at);

    assert_non_null(maps);
    while (fgets(line, sizeof(line), maps)) {
        if (strstr(line, range) == line) here = true;
        if (here && sscanf(line, "Rss: %zu kB", &kib) == 1) break;
    }
    fclose(maps);
    assert_true(here);
    return kib << 10;
}

/* Pages that were read are given back, and a file that is cut short is an error. */
TEST(rows_of_a_mapped_file)
{
    static const struct ny_pass_work work = {.unit = see_unit};
    const struct shape shape = {5000, 700, NY_F64, 0, 0, &as_they_are};
    const size_t bytes = 5000 * 700 * 8;
    struct ny_rows_info info;
    struct ny_rows *M;
    OWNED(rows) rows;
    struct seen seen = {.info = &info};
    struct ny_pass pass = {.stage = "see", .workers = 2};
    uint64_t list[50];
    char file[200], *map, *got = malloc(bytes);
    FILE *out;

    ny_guard_install();
    rows = rows_of_shape(&shape);
    snprintf(file, sizeof(file), "%s/rows", directory);
    out = fopen(file, "wb+");
    assert_non_null(out);
    assert_int_equal(fwrite(rows.packed, 1, bytes, out), bytes);
    fflush(out);
    map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fileno(out), 0);
    assert_true(map != MAP_FAILED);
    rows.memory.kept.values = ny_borrowed_of(map, bytes);
    assert_true(rows.memory.kept.values.shared);

    CHECK(ny_rows_of_memory(&M, ctx, &rows.memory));
    assert_true(resident_bytes(map) < bytes / 4);
    info = info_of(M);
    seen.strips = got;
    CHECK(ny_rows_source(M, info.n, 0, 2, &pass.source));
    CHECK(ny_pass_run(&pass, &work, &seen));
    assert_memory_equal(got, rows.packed, bytes);
    assert_true(resident_bytes(map) < bytes / 4);
    for (uint64_t i = 0; i < 50; i++)
        list[i] = i * 4999 % 5000;
    CHECK(M->ops->gather(M, 0, list, 50, got));
    assert_memory_equal(got + 2 * 5600, rows.packed + 4998 * 5600, 5600);
    CHECK(M->ops->read(M, 0, 0, 5000, got));
    assert_memory_equal(got, rows.packed, bytes);
    assert_true(resident_bytes(map) < bytes / 4);

    assert_int_equal(ftruncate(fileno(out), (off_t)bytes / 2), 0);
    REFUSED(ny_pass_run(&pass, &work, &seen), NY_EIO);
    REFUSED(M->ops->gather(M, 0, list, 50, got), NY_EIO);
    REFUSED(M->ops->read(M, 0, 4000, 1, got), NY_EIO);
    ny_source_free(pass.source);
    ny_memory_rows_free(M);
    REFUSED(ny_rows_of_memory(&M, ctx, &rows.memory), NY_EIO);
    munmap(map, bytes);
    fclose(out);
    free(got);
}

AROUND_EACH(start, stop)
