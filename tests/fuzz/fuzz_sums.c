/* Sums whose checksums are right, so that it is their claims that decide. Those that load are saved
 * to the same bytes, added to, and solved to a model that places points, or say that they cannot.
 */
#include "base/checksum.h"
#include "fuzz/fuzz.h"
#include "nystream.h"

enum { MEMORY = 64 << 20, CHECKSUM_BYTES = 8, ROWS = 3, VALUES = 1 << 10, HEADER_BYTES = 48 };

/* Sets the checksum at the end of an image of so many bytes, where there is room for one. */
static void seal(char *image, size_t bytes)
{
    uint64_t checksum;

    if (bytes <= CHECKSUM_BYTES) return;
    checksum = ny_checksum(image, bytes - CHECKSUM_BYTES);
    memcpy(image + bytes - CHECKSUM_BYTES, &checksum, CHECKSUM_BYTES);
}

/* Sets that of the base, which lies behind the header and the text, then that of the whole. */
static void seal_all(char *image, size_t size)
{
    uint64_t sizes[3], first;

    if (size > HEADER_BYTES) {
        memcpy(sizes, image + HEADER_BYTES - sizeof(sizes), sizeof(sizes));
        first = HEADER_BYTES + ny_padded(sizes[0] < size ? sizes[0] : size);
        if (first < size && sizes[1] < size - first) seal(image + first, sizes[1]);
    }
    seal(image, size);
}

static void place(struct ny_context *ctx, struct ny_model *model)
{
    static float values[VALUES], embedding[VALUES];
    size_t d = ny_model_dimensions(model), p = ny_model_components(model);

    if (d > VALUES / ROWS || p > VALUES / ROWS) return;
    for (size_t i = 0; i < ROWS * d; i++)
        values[i] = (float)(i % 5) - 2;
    fuzz_status(ctx, ny_model_transform(model, values, ROWS, embedding));
}

static void use(struct ny_context *ctx, struct ny_sums *sums)
{
    struct ny_sums *more = NULL;
    struct ny_report *report = NULL;
    struct ny_model *model = NULL;
    const void *again;
    size_t bytes;

    if (fuzz_status(ctx, ny_sums_report(sums, &report)) == NY_OK) ny_report_free(report);
    FUZZ_CHECK(ny_sums_new(&more, ctx, NULL) == NY_OK);
    fuzz_status(ctx, ny_sums_merge(more, sums));
    fuzz_status(ctx, ny_sums_merge(more, sums)); /* a part twice, if there is one */
    ny_sums_free(more);
    if (ny_sums_image(sums, &again, &bytes) == NY_OK) {
        FUZZ_CHECK(ny_sums_load(&more, ctx, again, bytes) == NY_OK);
        ny_sums_free(more);
    }
    if (fuzz_status(ctx, ny_sums_solve(sums, &model, &report)) == NY_OK) {
        place(ctx, model);
        ny_report_free(report);
    }
    ny_model_free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ny_context *ctx = fuzz_context(MEMORY);
    char *image = malloc(size + 1);
    struct ny_sums *sums;

    memcpy(image, data, size);
    seal_all(image, size);
    if (fuzz_status(ctx, ny_sums_load(&sums, ctx, image, size)) == NY_OK) {
        use(ctx, sums);
        ny_sums_free(sums);
    }
    free(image);
    FUZZ_CHECK(ny_memory_used(ctx) == 0);
    return 0;
}
