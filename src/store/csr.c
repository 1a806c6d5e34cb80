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

#include <endian.h>
#include <string.h>

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
    if (head[0])
        memcpy(at, (const char *)csr->value + begin * value_bytes, head[0] * value_bytes);
    return (size_t)(at - (unsigned char *)out) + head[0] * value_bytes;
}

/* ---- decoding ------------------------------------------------------------------------------ */

struct numbers {
    const unsigned char *at, *end;
    bool bad;
};

/* Reads a number that put() has written; sets from->bad where it does not end in time. */
static inline uint32_t get(struct numbers *from)
{
    uint32_t number = 0;

    for (unsigned shift = 0; from->at < from->end && shift < 35; shift += 7) {
        unsigned char byte = *from->at++;

        number |= (uint32_t)(byte & 127) << shift;
        if (byte < 128) return number;
    }
    from->bad = true;
    return 0;
}

/* Eight bytes hold numbers of one or two bytes, and which of them have the high bit tells where
 * each number begins, in bits, and whether it has seven bits more in a second byte. */
enum { WORD = 8 };
struct word_layout {
    uint8_t count, bytes;
    uint8_t shift[WORD];
    uint16_t second[WORD];
};

static void lay_out_words(struct word_layout layouts[256])
{
    for (unsigned mask = 0; mask < 256; mask++) {
        struct word_layout layout = {0};

        for (unsigned byte = 0; byte < WORD; byte++) {
            bool two = mask >> byte & 1;

            layout.shift[layout.count] = (uint8_t)(8 * byte);
            layout.second[layout.count] = two ? 127 << 7 : 0;
            byte += two;
            if (byte >= WORD) break;
            layout.count++;
            layout.bytes = (uint8_t)(byte + 1);
        }
        layouts[mask] = layout;
    }
}

/* Reads the gaps of up to eight columns from eight bytes, where each gap has one or two: `next`
 * columns are behind. Returns how many there are, or 0. All of index[0…7] are overwritten. */
static inline unsigned get_word(struct numbers *from, const struct word_layout *layouts,
                                uint64_t next, uint32_t *index)
{
    const uint64_t high_bits = 0x8080808080808080, to_mask = 0x0002040810204081;
    const struct word_layout *layout;
    uint64_t word, high;

    memcpy(&word, from->at, sizeof(word));
    word = le64toh(word);
    high = word & high_bits;
    if (high & high << 8) return 0;
    layout = &layouts[high * to_mask >> 56];
    word ^= high;
    for (unsigned k = 0; k < WORD; k++) {
        uint64_t number = word >> layout->shift[k];

        next += (number & 127) | (number >> 1 & layout->second[k]);
        index[k] = (uint32_t)next++;
    }
    from->at += layout->bytes;
    return layout->count;
}

/* Reads the columns of a row: false where one is not below d. Numbers are taken eight bytes at a
 * time while the image and the row have so many. */
static bool get_row(struct numbers *from, const struct word_layout *layouts, uint64_t d,
                    uint32_t *index, size_t count)
{
    uint64_t next = 0;

    for (size_t k = 0, got; k < count; k += got) {
        got = 0;
        if (count - k >= WORD && from->end - from->at >= WORD)
            got = get_word(from, layouts, next, index + k);
        if (got) {
            next = (uint64_t)index[k + got - 1] + 1;
        } else {
            next += (uint64_t)get(from) + 1;
            index[k] = (uint32_t)(next - 1);
            got = 1;
        }
        if (next > d) return false;
    }
    return true;
}

/* The numbers of an image, and where its values are. */
static const char *open_image(const struct ny_csr_image *image, struct numbers *numbers,
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
    struct numbers numbers;
    const char *values;
    uint32_t nnz;

    *wrong = open_image(image, &numbers, &nnz, &values);
    if (*wrong) return 0;
    for (size_t i = 0; i < image->rows; i++) {
        uint32_t count = get(&numbers);

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
    struct word_layout layouts[256];
    struct numbers numbers;
    const char *values, *wrong;
    uint32_t all;

    wrong = open_image(image, &numbers, &all, &values);
    if (wrong) return wrong;
    for (size_t i = 0, sum = 0; i < image->rows; i++) {
        uint32_t count = get(&numbers);

        if (i >= image->wanted) continue;
        start[i] = (uint32_t)sum;
        sum += count;
        start[i + 1] = (uint32_t)sum;
        if (sum > nnz) return "its rows have more values than they can have";
    }
    lay_out_words(layouts);
    for (size_t i = 0; i < image->wanted; i++)
        if (!get_row(&numbers, layouts, image->d, index + start[i], start[i + 1] - start[i]))
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
    if (want.frame.rows == image->rows) ny_csr_count(image, wrong);
    else *wrong = "it has another number of rows than the store says";
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

static size_t decoded_bytes(size_t rows, size_t nnz, enum ny_dtype dtype)
{
    return sizeof(struct room_head) + ny_padded((rows + 1) * sizeof(uint32_t)) +
           ny_padded(nnz * ny_dtype_size(dtype)) + ny_padded(nnz * sizeof(uint32_t));
}

size_t ny_csr_room_bytes(size_t rows, size_t nnz, enum ny_dtype dtype)
{
    return decoded_bytes(rows, nnz, dtype) + ny_padded(ny_csr_bound(rows, nnz, dtype));
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
static int image_room(struct ny_store *store, const struct ny_points_info *info,
                      const struct ny_manifest *m, char *room, void **image, void **taken)
{
    size_t rows = (size_t)info->block_rows, nnz = (size_t)info->block_nnz;

    *image = room + decoded_bytes(rows, nnz, info->dtype);
    *taken = NULL;
    if (m->block_nnz <= info->block_nnz) return NY_OK;
    *image = *taken = ny_alloc(store->ctx, NY_MEM_STORE,
                               ny_csr_bound(rows, (size_t)m->block_nnz, info->dtype));
    return *image ? NY_OK : NY_EBUDGET;
}

/* Prepares the rows of a block, whose values lie `stored` in the end of their room. */
static void prepare_block(const struct ny_points_info *info, void *room, const char *stored)
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
static const char *decode_block(const struct ny_points_info *info, struct ny_csr_image *image,
                                size_t wanted, void *room)
{
    struct room_head *head = room;
    const char *wrong;
    char *stored;
    size_t nnz;

    image->wanted = wanted;
    nnz = ny_csr_count(image, &wrong);
    if (wrong) return wrong;
    if (nnz > info->block_nnz) return "it has more values than the store says";
    *head = (struct room_head){(uint32_t)wanted, (uint32_t)nnz,
                               (uint32_t)ny_dtype_size(info->dtype), 0};
    starts_of(room)[0] = 0;
    stored = values_of(room) + nnz * (head->value_bytes - ny_dtype_size(info->stored_dtype));
    wrong = ny_csr_decode(image, nnz, starts_of(room), columns_of(room), stored);
    if (!wrong && ny_prepares(&info->preparation)) prepare_block(info, room, stored);
    return wrong;
}

static int read_block(struct ny_snapshot *view, const struct ny_points_info *info,
                      const struct ny_manifest *m, uint64_t block, void *room, size_t *count)
{
    struct ny_store *store = view->store;
    uint64_t first = block * info->block_rows, left = info->n > first ? info->n - first : 0;
    uint64_t rows = ny_rows_in_block(m, block), wanted = left < rows ? left : rows;
    struct ny_csr_image image = {.rows = (size_t)rows};
    const char *wrong = NULL;
    void *taken;
    int err;

    if (!wanted || m->layout != NY_CSR || m->block_rows != info->block_rows)
        return ny_fail(store->ctx, NY_EINTERNAL,
                       "block %llu was asked for, which %s does not have as sparse rows",
                       (unsigned long long)block, store->path);
    err = image_room(store, info, m, room, &image.at, &taken);
    if (err) return err;
    if (ny_csr_read(view, m, ny_points_key(NY_KIND_POINTS, block), &image, &wrong) == NY_OK)
        wrong = decode_block(info, &image, (size_t)wanted, room);
    ny_free(store->ctx, taken);
    *count = wrong ? 0 : (size_t)wanted;
    return wrong ? ny_block_damaged(store, m, NY_KIND_POINTS, block, wrong) : NY_OK;
}

int ny_points_read_sparse(struct ny_store *store, const struct ny_points_info *info, uint64_t block,
                          void *room, size_t *count)
{
    struct ny_manifest m;
    struct ny_snapshot *view;
    int end, err = ny_snapshot_begin(&view, store, store->points);

    *count = 0;
    if (err) return err;
    err = ny_manifest_read(view, &m);
    if (!err) err = read_block(view, info, &m, block, room, count);
    end = ny_snapshot_end(view); /* a torn read without locks looks like damage, and is none */
    return end ? end : err;
}
