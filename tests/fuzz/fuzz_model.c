/* Models whose checksum is right, so that it is their claims that decide. One that loads is saved
 * and loaded again, and places points at finite coordinates, or says that it cannot. */
#include "base/checksum.h"
#include "model/model.h"
#include "fuzz/fuzz.h"

enum { MEMORY = 64 << 20, CHECKSUM_BYTES = 8, ROWS = 3, VALUES = 1 << 12 };

static void place(struct ny_context *ctx, struct ny_model *model)
{
    static float values[VALUES], embedding[VALUES];
    size_t d = ny_model_dimensions(model), p = ny_model_components(model);
    int status;

    if (d > VALUES / ROWS || p > VALUES / ROWS) return;
    for (size_t i = 0; i < ROWS * d; i++)
        values[i] = (float)(i % 5) - 2;
    status = fuzz_status(ctx, ny_model_transform(model, values, ROWS, embedding));
    for (size_t i = 0; status == NY_OK && i < ROWS * p; i++) /* NaN: no landmark reaches the row */
        FUZZ_CHECK(isfinite(embedding[i]) || isnan(embedding[i - i % p]));
}

static void tell(struct ny_context *ctx, struct ny_model *model)
{
    struct ny_report *report;

    if (fuzz_status(ctx, ny_model_report(model, &report)) == NY_OK) ny_report_free(report);
}

static void save_and_load(struct ny_context *ctx, const struct ny_model *model)
{
    size_t bytes = ny_model_save(model, NULL);
    char *image = malloc(bytes);
    struct ny_model *again;

    ny_model_save(model, image);
    FUZZ_CHECK(ny_model_read(&again, ctx, image, bytes, "again") == NY_OK);
    ny_model_free(again);
    free(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ny_context *ctx = fuzz_context(MEMORY);
    char *image = malloc(size + 1);
    struct ny_model *model;

    memcpy(image, data, size);
    if (size > CHECKSUM_BYTES) {
        uint64_t checksum = ny_checksum(image, size - CHECKSUM_BYTES);

        memcpy(image + size - CHECKSUM_BYTES, &checksum, CHECKSUM_BYTES);
    }
    if (fuzz_status(ctx, ny_model_read(&model, ctx, image, size, "model")) == NY_OK) {
        save_and_load(ctx, model);
        tell(ctx, model);
        place(ctx, model);
        ny_model_free(model);
    }
    free(image);
    FUZZ_CHECK(ny_memory_used(ctx) == 0);
    return 0;
}
