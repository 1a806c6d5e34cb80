/*
 * Blocks of sparse rows: encoding, decoding, and the rows of a decoded block. The format is in
 * store/csr.h.
 *
 * An import encodes each block that is full (store/ingest_sparse.c). Reading takes two steps:
 * ny_csr_count() adds up the counts of the rows, so that sizes are known and checked, and
 * ny_csr_decode() writes starts, columns and values. Both look at every byte that they use: a
 * frame with the right checksum may still hold counts that do not add up, or a column beyond the
 * last. A reader gives one room for a block, in which starts, values and columns stand one after
 * another and the encoded image behind them; nothing is allocated for a block, but where an append
 * has made it larger meanwhile.
 */
#include "store/csr.h"

#include <string.h>

#include "store/csr_numbers.h"

enum { HEAD_BYTES = 2 * sizeof(uint32_t), COUNT_BYTES_MAX = 5, COLUMN_BYTES_MAX = 4 };

_Static_assert(NY_STORE_COLUMNS_MAX < (uint64_t)1 << 7 * COLUMN_BYTES_MAX,
               "a column takes four bytes");

size_t ny_csr_bound(size_t rows, size_t nnz, enum ny_dtype dtype)
{
    return HEAD_BYTES + rows * COUNT_BYTES_MAX + nnz * (COLUMN_BYTES_MAX + ny_dtype_size(dtype));
}

/* ---- encoding ------------------------------------------------------------------------------ */

/* Writes a number in groups of seven bits and returns what is behind it. */
static unsigned char *put(unsigned char *at, uint32_t number)
{
    for (; number > 127; number >>= 7)
        *at++ = (unsigned char)(number | 128);
    *at++ = (unsigned char)number;
    return at;
}

size_t ny_csr_encode(const struct ny_csr *csr, size_t rows, void *out)
{
    uint32_t begin = csr->start[0], head[2] = {csr->start[rows] - begin, 0};
    size_t value_bytes = ny_dtype_size(csr->dtype);
    unsigned char *at = (unsigned char *)out + HEAD_BYTES;

    for (size_t i = 0; i < rows; i++)
        at = put(at, csr->start[i + 1] - csr->start[i]);
    for (size_t i = 0; i < rows; i++) {
        uint32_t next = 0;

        for (uint32_t k = csr->start[i]; k < csr->start[i + 1]; k++) {
            at = put(at, csr->index[k] - next);
            next = csr->index[k] + 1;
        }
    }
    head[1] = (uint32_t)(at - (unsigned char *)out - HEAD_BYTES);
    memcpy(out, head, sizeof(head));
    if (head[0]) memcpy(at, (const char *)csr->value + begin * value_bytes, head[0] * value_bytes);
    return (size_t)(at - (unsigned char *)out) + head[0] * value_bytes;
}

/* ---- decoding ------------------------------------------------------------------------------ */

NY_CPU_FAMILIES(ny_csr_columns_fn, ny_csr_columns)

/* The numbers of an image, and where its values are. */
static const char *open_image(const struct ny_csr_image *image, struct ny_csr_numbers *numbers,
                              uint32_t *nnz, const char **values)
{
    uint32_t head[2];
    size_t left;

    if (image->bytes < sizeof(head)) return "it is too short";
    memcpy(head, image->at, sizeof(head));
    left = image->bytes - sizeof(head);
    if (head[1] > left || left - head[1] != head[0] * ny_dtype_size(image->dtype))
        return "its parts have other sizes than it says";
    numbers->at = (const unsigned char *)image->at + sizeof(head);
    numbers->end = numbers->at + head[1];
    numbers->bad = false;
    *nnz = head[0];
    *values = (const char *)numbers->end;
    return NULL;
}

size_t ny_csr_count(const struct ny_csr_image *image, const char **wrong)
{
    size_t all = 0, wanted = 0;
    struct ny_csr_numbers numbers;
    const char *values;
    uint32_t nnz;

    *wrong = open_image(image, &numbers, &nnz, &values);
    if (*wrong) return 0;
    for (size_t i = 0; i < image->rows; i++) {
        uint32_t count = ny_csr_number(&numbers);

        all += count;
        if (i < image->wanted) wanted += count;
        if (count > image->d) numbers.bad = true;
    }
    if (numbers.bad || all != nnz) *wrong = "its rows have more or fewer values than it says";
    return *wrong ? 0 : wanted;
}

const char *ny_csr_decode(const struct ny_csr_image *image, size_t nnz, uint32_t *start,
                          uint32_t *index, void *value)
{
    struct ny_csr_numbers numbers;
    const char *values, *wrong;
    uint32_t all;

    wrong = open_image(image, &numbers, &all, &values);
    if (wrong) return wrong;
    for (size_t i = 0, sum = 0; i < image->rows; i++) {
        uint32_t count = ny_csr_number(&numbers);

        if (i >= image->wanted) continue;
        start[i] = (uint32_t)sum;
        sum += count;
        start[i + 1] = (uint32_t)sum;
        if (sum > nnz) return "its rows have more values than they can have";
    }
    if (!ny_csr_columns_families[ny_cpu_family()](&numbers, image->d, start, image->wanted, index))
        return "a column number is beyond the last";
    if (numbers.bad) return "its column numbers end too early";
    if (nnz) memcpy(value, values, nnz * ny_dtype_size(image->dtype));
    return NULL;
}

int ny_csr_read(struct ny_snapshot *view, const struct ny_manifest *m, struct ny_key key,
                struct ny_csr_image *image, const char **wrong)
{
    uint64_t number;
    unsigned kind;
    MDB_val name = {key.bytes, key.data};
    struct ny_want want = {.key = key,
                           .frame = {.store = view->store->id, .kind = NY_KIND_POINTS},
                           .capacity = ny_csr_bound((size_t)m->block_rows, (size_t)m->block_nnz,
                                                    (enum ny_dtype)m->dtype)};

    ny_points_key_parse(&name, &kind, &number);
    want.frame.number = number;
    if (ny_snapshot_read(view, &want, image->at, wrong)) return NY_ESTORE;
    image->bytes = want.frame.raw_bytes;
    image->wanted = image->rows;
    image->d = m->d;
    image->dtype = (enum ny_dtype)m->dtype;
    if (want.frame.rows == image->rows)
        ny_csr_count(image, wrong);
    else
        *wrong = "it has another number of rows than the store says";
    return *wrong ? NY_ESTORE : NY_OK;
}

/* ---- a block in memory ---------------------------------------------------------------------- */

/* Precedes the starts, values and columns. */
struct room_head {
    uint32_t rows, nnz, value_bytes, reserved;
};

static uint32_t *starts_of(const void *room)
{
    return (uint32_t *)(uintptr_t)((const struct room_head *)room + 1);
}

static char *values_of(const void *room)
{
    const struct room_head *head = room;

    return (char *)starts_of(room) + ny_padded((head->rows + 1) * sizeof(uint32_t));
}

static uint32_t *columns_of(const void *room)
{
    const struct room_head *head = room;

    return (uint32_t *)(void *)(values_of(room) + ny_padded((size_t)head->nnz * head->value_bytes));
}

/* Sparse rows have the decoded block, and its image behind. */
size_t ny_points_block_bytes(const struct ny_stored_points *points)
{
    const struct ny_rows_info *info = &points->rows;
    size_t rows = (size_t)info->block_rows, nnz = (size_t)points->block_nnz;

    if (!info->row_slots) return rows * ny_rows_row_bytes(info);
    return sizeof(struct room_head) + ny_padded((rows + 1) * sizeof(uint32_t)) +
           ny_padded(nnz * ny_dtype_size(info->dtype)) + ny_padded(nnz * sizeof(uint32_t)) +
           ny_padded(ny_csr_bound(rows, nnz, info->dtype));
}

struct ny_sparse ny_sparse_block_row(const void *room, size_t i)
{
    const struct room_head *head = room;
    const uint32_t *start = starts_of(room);

    return (struct ny_sparse){start[i + 1] - start[i], columns_of(room) + start[i],
                              values_of(room) + (size_t)start[i] * head->value_bytes};
}

/* The image behind what becomes of it, where there is room; a block that an append has filled up
 * meanwhile may need more. */
static int image_room(struct ny_store *store, const struct ny_stored_points *points,
                      const struct ny_manifest *m, char *room, void **image, void **taken)
{
    size_t rows = (size_t)points->rows.block_rows, nnz = (size_t)points->block_nnz;
    enum ny_dtype dtype = points->rows.dtype;

    *image = room + ny_points_block_bytes(points) - ny_padded(ny_csr_bound(rows, nnz, dtype));
    *taken = NULL;
    if (m->block_nnz <= points->block_nnz) return NY_OK;
    *image = *taken =
        ny_alloc(store->ctx, NY_MEM_STORE, ny_csr_bound(rows, (size_t)m->block_nnz, dtype));
    return *image ? NY_OK : NY_EBUDGET;
}

/* Prepares the rows of a block, whose values lie `stored` in the end of their room. */
static void prepare_block(const struct ny_rows_info *info, void *room, const char *stored)
{
    const struct room_head *head = room;
    const uint32_t *start = starts_of(room);

    for (size_t i = 0; i < head->rows; i++)
        ny_prepare_row(&info->preparation, info->stored_dtype,
                       stored + (size_t)start[i] * ny_dtype_size(info->stored_dtype),
                       start[i + 1] - start[i], info->dtype,
                       values_of(room) + (size_t)start[i] * head->value_bytes);
}

/* Decodes the image of a block into the room; NULL, or what is wrong. */
static const char *decode_block(const struct ny_stored_points *points, struct ny_csr_image *image,
                                size_t wanted, void *room)
{
    const struct ny_rows_info *info = &points->rows;
    struct room_head *head = room;
    const char *wrong;
    char *stored;
    size_t nnz;

    image->wanted = wanted;
    nnz = ny_csr_count(image, &wrong);
    if (wrong) return wrong;
    if (nnz > points->block_nnz) return "it has more values than the store says";
    *head = (struct room_head){(uint32_t)wanted, (uint32_t)nnz,
                               (uint32_t)ny_dtype_size(info->dtype), 0};
    starts_of(room)[0] = 0;
    stored = values_of(room) + nnz * (head->value_bytes - ny_dtype_size(info->stored_dtype));
    wrong = ny_csr_decode(image, nnz, starts_of(room), columns_of(room), stored);
    if (!wrong && ny_prepares(&info->preparation)) prepare_block(info, room, stored);
    return wrong;
}

static int read_block(struct ny_snapshot *view, const struct ny_stored_points *points,
                      const struct ny_manifest *m, uint64_t block, void *room, size_t *count)
{
    const struct ny_rows_info *info = &points->rows;
    struct ny_store *store = view->store;
    uint64_t first = block * info->block_rows, left = info->n > first ? info->n - first : 0;
    uint64_t rows = ny_rows_in_block(m, block), wanted = left < rows ? left : rows;
    struct ny_csr_image image = {.rows = (size_t)rows};
    const char *wrong = NULL;
    void *taken;
    int err;

    if (!wanted || m->layout != NY_CSR || m->block_rows != info->block_rows)
        return NY_BUG(store->ctx);
    err = image_room(store, points, m, room, &image.at, &taken);
    if (err) return err;
    if (ny_csr_read(view, m, ny_points_key(NY_KIND_POINTS, block), &image, &wrong) == NY_OK)
        wrong = decode_block(points, &image, (size_t)wanted, room);
    ny_free(store->ctx, taken);
    *count = wrong ? 0 : (size_t)wanted;
    return wrong ? ny_block_damaged(store, m, NY_KIND_POINTS, block, wrong) : NY_OK;
}

int ny_points_read_sparse(struct ny_store *store, const struct ny_stored_points *points,
                          uint64_t block, void *room, size_t *count)
{
    struct ny_manifest m;
    struct ny_snapshot *view;
    int err = ny_snapshot_begin(&view, store, store->points);

    *count = 0;
    if (err) return err;
    err = ny_manifest_read(view, &m);
    if (!err) err = read_block(view, points, &m, block, room, count);
    return ny_snapshot_end(view, err);
}
