/*
 * The records of points/, each with a right checksum in its place: manifest, statistics, class
 * names, blocks of points, labels and source rows. What is read is read as a fit, `info` and
 * `verify` do.
 *
 * The input is a sequence of records: kind, number, rows (3 bytes), LZ4 or not, bytes (2), then
 * those; of LZ4 the first three say how many they decode to.
 */
#include "fuzz/fuzz_store.h"

enum { MEMORY = 48 << 20, ROWS = 5 };

static struct ny_store *store_of(struct ny_context *ctx)
{
    static struct ny_store *store;

    if (store) return store;
    fuzz_make_folder();
    FUZZ_CHECK(ny_store_create(&store, ctx, fuzz_store_path) == NY_OK);
    return store;
}

static bool any(const void *arg, const MDB_val *key)
{
    (void)arg;
    return key->mv_size > 1; /* not the pulse */
}

static void write_record(struct ny_write *write, struct fuzz_bytes *bytes)
{
    unsigned kind = fuzz_number(bytes, 1) % 16, number = fuzz_number(bytes, 1);
    struct ny_frame frame = {.store = write->store->id, .number = number};
    struct ny_key key = ny_points_key(kind ? kind : NY_KIND_MANIFEST, number);
    struct ny_header header;
    size_t length;
    void *room;

    frame.kind = (enum ny_kind)(kind ? kind : NY_KIND_MANIFEST);
    frame.rows = fuzz_number(bytes, 3);
    frame.codec = fuzz_number(bytes, 1) & 1 ? NY_CODEC_LZ4 : NY_CODEC_RAW;
    length = fuzz_number(bytes, 2);
    if (frame.codec == NY_CODEC_LZ4) frame.raw_bytes = fuzz_number(bytes, 3);
    if (length > bytes->left) length = bytes->left;
    if (frame.codec == NY_CODEC_RAW) frame.raw_bytes = (uint32_t)length;
    header = ny_frame_seal(&frame, bytes->at, length);
    FUZZ_CHECK(ny_write_room(write, &key, sizeof(header) + length, header.checksum,
                             &room) == NY_OK);
    memcpy(room, &header, sizeof(header));
    fuzz_take(bytes, (char *)room + sizeof(header), length);
}

static void write_records(struct ny_store *store, struct fuzz_bytes bytes)
{
    struct ny_key first = {.bytes = 1, .data = {1}};
    struct ny_write write;
    size_t count;

    FUZZ_CHECK(ny_write_begin(&write, store, store->points, 1 << 20) == NY_OK);
    FUZZ_CHECK(ny_write_delete_from(&write, &first, any, NULL, SIZE_MAX, &count) == NY_OK);
    while (bytes.left)
        write_record(&write, &bytes);
    FUZZ_CHECK(ny_write_commit(&write, NY_OK) == NY_OK);
}

/* The first rows, a block, one by one, and their labels and sources. */
static void read_rows(struct ny_store *store, const struct ny_stored_points *points)
{
    const struct ny_rows_info *info = &points->rows;
    struct ny_context *ctx = store->ctx;
    size_t count = info->n < ROWS ? (size_t)info->n : ROWS, got, bytes;
    uint64_t last[1] = {info->n - 1};
    double labels[ROWS];
    uint64_t source[ROWS];
    void *room;

    (void)fuzz_status(ctx, ny_points_labels(store, 0, count, labels));
    ny_error_clear(ctx);
    (void)fuzz_status(ctx, ny_points_source(store, 0, count, source));
    ny_error_clear(ctx);
    if (ny_product(ctx, &bytes, ROWS, ny_rows_row_bytes(info), 1) == NY_OK &&
        (room = ny_alloc(ctx, NY_MEM_OTHER, bytes))) {
        (void)fuzz_status(ctx, ROWS_OF(store, read, (size_t)info->row_slots, 0, count, room));
        ny_error_clear(ctx);
        (void)fuzz_status(ctx, ROWS_OF(store, gather, (size_t)info->row_slots, last, 1, room));
        ny_free(ctx, room);
    }
    ny_error_clear(ctx);
    room = ny_alloc(ctx, NY_MEM_OTHER, ny_points_block_bytes(points));
    if (room)
        (void)fuzz_status(ctx, info->row_slots ? ny_points_read_sparse(store, points, 0, room, &got)
                                               : ny_points_read_block(store, 0, room, &got));
    ny_free(ctx, room);
    ny_error_clear(ctx);
}

static int count_damage(void *user, const struct ny_damage *damage)
{
    (void)user;
    FUZZ_CHECK(damage->what && damage->what[0]);
    return NY_OK;
}

static void read_all(struct ny_store *store)
{
    struct ny_context *ctx = store->ctx;
    struct ny_rows_stats stats;
    struct ny_stored_points points;
    char **names;
    size_t count;

    if (fuzz_status(ctx, ny_points_stored(store, &points)) == NY_OK && points.rows.n > 0)
        read_rows(store, &points);
    ny_error_clear(ctx);
    if (fuzz_status(ctx, ROWS_OF(store, stats, &stats)) == NY_OK)
        ny_rows_stats_release(&stats, ctx);
    ny_error_clear(ctx);
    if (fuzz_status(ctx, ny_points_class_names(store, &names, &count)) == NY_OK) {
        for (size_t i = 0; i < count; i++)
            FUZZ_CHECK(strlen(names[i]) <= UINT16_MAX);
        ny_free(ctx, names);
    }
    ny_error_clear(ctx);
    (void)fuzz_status(ctx, ny_store_verify(store, count_damage, NULL));
    ny_snapshots_free(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ny_context *ctx = fuzz_context(MEMORY);
    struct ny_store *store = store_of(ctx);
    size_t before;

    ny_snapshots_free(store);
    before = ny_memory_used(ctx);
    write_records(store, (struct fuzz_bytes){data, size});
    read_all(store);
    FUZZ_CHECK(ny_memory_used(ctx) == before);
    return 0;
}
