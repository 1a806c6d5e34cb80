/* The record of a finished fit, replaced by any text: what reads results must take no count from it
 * on trust. */
#include "fuzz/fuzz_store.h"

#include "records/record.h"
#include "results/keep.h"

enum { MEMORY = 64 << 20, N = 60, D = 3, P = 4, VALUES = 256 };

static void fit(struct ny_context *ctx)
{
    static const char *const settings[][2] = {{"landmarks", "8"}, {"components", "4"},
                                              {"gamma", "0.5"},   {"map", "diffusion"},
                                              {"normalize", "asymmetric"}};
    float values[N * D];
    double labels[N];
    struct ny_options *options;

    for (size_t i = 0; i < (size_t)N * D; i++)
        values[i] = (float)((i * 37) % 101) / 50;
    for (size_t i = 0; i < N; i++)
        labels[i] = (double)(i % 3);
    FUZZ_CHECK(ny_append_rows(ctx, fuzz_store_path, values, N, D, labels) == NY_OK);
    FUZZ_CHECK(ny_options_new(&options, ctx) == NY_OK);
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
        FUZZ_CHECK(ny_options_set(options, settings[i][0], settings[i][1]) == NY_OK);
    FUZZ_CHECK(ny_fit(ctx, fuzz_store_path, "r", options, NULL) == NY_OK);
    ny_options_free(options);
}

static struct ny_store *store_of(struct ny_context *ctx)
{
    static struct ny_store *store;

    if (store) return store;
    fuzz_make_folder();
    fit(ctx);
    FUZZ_CHECK(ny_store_open(&store, ctx, fuzz_store_path) == NY_OK);
    return store;
}

static void write_record(struct ny_store *store, const uint8_t *data, size_t size)
{
    struct ny_batch *batch;

    FUZZ_CHECK(ny_batch_begin(&batch, store) == NY_OK);
    FUZZ_CHECK(ny_batch_put(batch, "r", "job", 0, data, size) == NY_OK);
    FUZZ_CHECK(ny_batch_commit(batch) == NY_OK);
}

static void place(struct ny_context *ctx)
{
    static const float row[D] = {0.5f, 1, 0};
    float out[VALUES];
    struct ny_model *model;

    if (fuzz_status(ctx, ny_model_open(&model, ctx, fuzz_store_path, "r"))) return;
    FUZZ_CHECK(ny_model_dimensions(model) == D && ny_model_components(model) <= VALUES);
    (void)fuzz_status(ctx, ny_model_transform(model, row, 1, out));
    ny_model_free(model);
}

static void read_rows(struct ny_context *ctx)
{
    float out[VALUES];
    uint64_t rows, p;

    if (fuzz_status(ctx, ny_embedding_shape(ctx, fuzz_store_path, "r", &rows, &p))) return;
    if (p <= VALUES)
        (void)fuzz_status(ctx, ny_embedding_read(ctx, fuzz_store_path, "r", rows / 2, 1, out));
}

/* A record that is taken has a state; what the state puts there, it reads again: a second time
 * nothing is to be changed. */
static void take_state(struct ny_context *ctx, struct ny_store *store)
{
    const struct ny_keep keep = ny_store_keep(store, "r");
    struct ny_state state;
    json_t *record, *once;

    if (fuzz_status(ctx, ny_record_get(&keep, &record)) || !record) return;
    ny_fields_begin();
    state = ny_state_of(ny_record_of(record));
    ny_codec_put(ny_record_of(record), &state);
    once = json_deep_copy(record);
    state = ny_state_of(ny_record_of(record));
    ny_codec_put(ny_record_of(record), &state);
    FUZZ_CHECK(ny_fields_check(ctx) == NY_OK && once && json_equal(once, record));
    json_decref(once);
    json_decref(record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ny_context *ctx = fuzz_context(MEMORY);
    struct ny_store *store = store_of(ctx);
    struct ny_report *report;
    size_t before;

    ny_snapshots_free(store);
    before = ny_memory_used(ctx);
    if (size > NY_CHUNK_BYTES) return 0;
    write_record(store, data, size);
    if (fuzz_status(ctx, ny_store_report(ctx, fuzz_store_path, &report)) == NY_OK)
        ny_report_free(report);
    if (fuzz_status(ctx, ny_result_report(ctx, fuzz_store_path, "r", &report)) == NY_OK) {
        FUZZ_CHECK(ny_report_json(report));
        ny_report_free(report);
    }
    for (const char *const *part = ny_export_parts(); *part; part++)
        (void)fuzz_status(ctx, ny_export(ctx, fuzz_store_path, "r", *part, "/dev/null"));
    place(ctx);
    read_rows(ctx);
    take_state(ctx, store);
    ny_snapshots_free(store);
    FUZZ_CHECK(ny_memory_used(ctx) == before);
    return 0;
}
