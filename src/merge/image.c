/*
 * Sums as bytes: what ny_sums_image() gives, for a file, a message, or another process.
 *
 * The image is a header, `about` as JSON text, the image of the base (model/model.h), that of the
 * accumulator (spectral/accumulator.h), each padded to 8 bytes, and a checksum of all before it.
 * Numbers are as in memory, on machines that are little-endian. It may come from anywhere: sizes
 * have to add up to its length before anything is allocated for them, and each part is checked by
 * whoever reads it.
 */
#include <string.h>

#include "base/checksum.h"
#include "merge/sums.h"
#include "records/fields.h"

#define MAGIC "nystream sums\n\0"

enum { IMAGE_VERSION = 1, CHECKSUM_BYTES = 8 };

struct header {
    char magic[16];
    uint64_t version, about_bytes, base_bytes, sums_bytes;
};

/* Writes `about` to a buffer of so many bytes; returns the bytes of all of it, 0 without memory. */
static size_t dump(const struct ny_summed *sums, char *text, size_t bytes)
{
    return json_dumpb(sums->about, text, bytes, JSON_COMPACT | JSON_REAL_PRECISION(17));
}

static size_t image_bytes(const struct header *header)
{
    return sizeof(*header) + ny_padded(header->about_bytes) + ny_padded(header->base_bytes) +
           ny_padded(header->sums_bytes) + CHECKSUM_BYTES;
}

static struct header header_of(const struct ny_summed *sums)
{
    return (struct header){.magic = MAGIC,
                           .version = IMAGE_VERSION,
                           .about_bytes = dump(sums, NULL, 0),
                           .base_bytes = ny_model_save(sums->base, NULL),
                           .sums_bytes = ny_accumulator_image_bytes(sums->acc->m, sums->acc->G.at)};
}

/* Writes the parts behind the header, and the checksum behind them; false: there was no memory. */
static bool fill(const struct ny_summed *sums, const struct header *header, char *image)
{
    size_t bytes = image_bytes(header);
    char *at = image + sizeof(*header);
    uint64_t checksum;

    memset(image, 0, bytes);
    memcpy(image, header, sizeof(*header));
    if (dump(sums, at, header->about_bytes) != header->about_bytes) return false;
    at += ny_padded(header->about_bytes);
    ny_model_save(sums->base, at);
    at += ny_padded(header->base_bytes);
    ny_accumulator_save(sums->acc, 0, header->sums_bytes, at);
    checksum = ny_checksum(image, bytes - CHECKSUM_BYTES);
    memcpy(image + bytes - CHECKSUM_BYTES, &checksum, sizeof(checksum));
    return true;
}

int ny_summed_image(const struct ny_summed *sums, void **image, size_t *bytes)
{
    struct header header = header_of(sums);

    *image = NULL;
    *bytes = image_bytes(&header);
    if (!header.about_bytes) return ny_fields_no_memory(sums->ctx);
    *image = ny_alloc(sums->ctx, NY_MEM_GRAM, *bytes);
    if (!*image) return NY_EBUDGET;
    if (fill(sums, &header, *image)) return NY_OK;
    ny_free(sums->ctx, *image);
    *image = NULL;
    return ny_fields_no_memory(sums->ctx);
}

static int damaged(struct ny_context *ctx, const char *where)
{
    return ny_fail(ctx, NY_ESTORE, "the sums in %s are damaged, or none of a fit", where);
}

/* Checks magic, version, checksum and sizes. */
static int check(struct ny_context *ctx, const void *image, size_t bytes, const char *where,
                 struct header *header)
{
    uint64_t checksum;

    if (bytes < sizeof(*header) + CHECKSUM_BYTES || memcmp(image, MAGIC, sizeof(MAGIC)) != 0)
        return damaged(ctx, where);
    memcpy(header, image, sizeof(*header));
    if (header->version != IMAGE_VERSION)
        return ny_fail(ctx, NY_ESTORE,
                       "%s has sums of version %llu, and this nystream reads version %d", where,
                       (unsigned long long)header->version, IMAGE_VERSION);
    memcpy(&checksum, (const char *)image + bytes - CHECKSUM_BYTES, sizeof(checksum));
    if (header->about_bytes >= bytes || header->base_bytes >= bytes ||
        header->sums_bytes >= bytes || image_bytes(header) != bytes ||
        checksum != ny_checksum(image, bytes - CHECKSUM_BYTES))
        return damaged(ctx, where);
    return NY_OK;
}

/* Tells whether `about` has what others rely on: options, and parts with a digest and rows each,
 * which add up to those of the sums. */
static bool is_plausible(const struct ny_summed *sums)
{
    const json_t *parts = json_object_get(sums->about, "parts"), *part;
    json_int_t rows = 0;
    size_t i;

    json_array_foreach(parts, i, part)
    {
        if (!json_is_string(json_array_get(part, 0)) || !json_is_integer(json_array_get(part, 1)))
            return false;
        rows += json_integer_value(json_array_get(part, 1));
    }
    return json_is_object(json_object_get(sums->about, "options")) && json_is_array(parts) &&
           (uint64_t)rows == sums->acc->rows;
}

/* Reads the parts of an image whose sizes agree. */
static int read(struct ny_summed *sums, const struct header *header, const char *at,
                const char *where)
{
    struct ny_context *ctx = sums->ctx;
    int err;

    sums->about = json_loadb(at, header->about_bytes, 0, NULL);
    at += ny_padded(header->about_bytes);
    err = ny_model_read(&sums->base, ctx, at, header->base_bytes, where);
    if (err) return err;
    at += ny_padded(header->base_bytes);
    if (!sums->about || header->sums_bytes != ny_accumulator_image_bytes(sums->base->m, true))
        return damaged(ctx, where);
    err = ny_accumulator_new(&sums->acc, ctx, sums->base->m);
    if (err) return err;
    ny_accumulator_restore(sums->acc, at);
    return is_plausible(sums) ? NY_OK : damaged(ctx, where);
}

int ny_summed_load(struct ny_summed **out, struct ny_context *ctx, const void *image, size_t bytes,
                   const char *where)
{
    struct ny_summed *sums = NULL;
    struct header header;
    int err = check(ctx, image, bytes, where, &header);

    *out = NULL;
    if (!err) sums = ny_calloc(ctx, NY_MEM_OTHER, 1, sizeof(*sums));
    if (!err && !sums) err = NY_EBUDGET;
    if (err) return err;
    sums->ctx = ctx;
    err = read(sums, &header, (const char *)image + sizeof(header), where);
    if (!err) *out = sums;
    if (err) ny_summed_free(sums);
    return err;
}
