/* Models and stores whose checksums are right and whose claims are absurd: they are refused, and
 * nothing is allocated for what they claim. */
#include "base/checksum.h"
#include "results/record.h"
#include "model/model.h"
#include "store/store_private.h"
#include "support/store_folder.h"

enum { BUDGET = 64 << 20, WORTH = 4 << 20 }; /* WORTH: what reading an honest one may take */

static void start(void)
{
    make_folder();
    ny_context_set_memory(ctx, BUDGET);
}

/* ---- models -------------------------------------------------------------------------------- */

/* The header as model/model.c writes it. */
struct claim {
    char magic[16];
    uint32_t version, dtype, precision, degree;
    uint64_t m, d, p;
    double gamma, coef0;
    char kernel[32];
    uint32_t divided, skip, asymmetric, normalize, scaled, reserved;
    double mean_degree;
};

enum { M = 2, D = 3, P = 1, IMAGE_MAX = 4096 };

/* So many numbers an image of version 10 or 11 has of its fit. */
static size_t found_count;

/* An image of 2 f32 landmarks in 3 columns, of sparse ones in version 3 and 11; returns its bytes.
 */
static size_t image_of(const struct claim *claim, char *image)
{
    const double ones[2 * D + M + M * P + P] = {0, 0, 0, 1, 1, 1, 0, 0, 0.5, -0.5, 0};
    const double found[] = {NAN, -1, INFINITY, 1e300, 0, 0, 0};
    const float rows[M * D] = {1, 2, 3, 4, 5, 6};
    const uint64_t sizes[2] = {1, 2};         /* slots, values */
    const uint32_t numbers[4] = {1, 1, 0, 2}; /* counts, then columns */
    size_t bytes = sizeof(*claim);
    uint64_t checksum;

    memset(image, 0, IMAGE_MAX);
    memcpy(image, claim, sizeof(*claim));
    memcpy(image + bytes, ones, sizeof(ones));
    bytes += sizeof(ones);
    if (claim->version >= 10) {
        memcpy(image + bytes, found, found_count * sizeof(double));
        bytes += found_count * sizeof(double);
    }
    if (claim->version % 8 == 3) {
        memcpy(image + bytes, sizes, sizeof(sizes));
        memcpy(image + bytes + sizeof(sizes), numbers, sizeof(numbers));
        memcpy(image + bytes + sizeof(sizes) + sizeof(numbers), rows, 2 * sizeof(float));
        bytes += sizeof(sizes) + sizeof(numbers) + 2 * sizeof(float);
    } else {
        memcpy(image + bytes, rows, sizeof(rows));
        bytes += sizeof(rows);
    }
    checksum = ny_checksum(image, bytes);
    memcpy(image + bytes, &checksum, sizeof(checksum));
    return bytes + sizeof(checksum);
}

static struct claim honest(void)
{
    return (struct claim){.magic = NY_MODEL_MAGIC, .version = 2, .dtype = NY_F32, .degree = 3,
                          .m = M, .d = D, .p = P, .gamma = 0.5, .coef0 = 1, .kernel = "rbf"};
}

static int load(const struct claim *claim)
{
    _Alignas(8) char image[IMAGE_MAX];
    size_t bytes = image_of(claim, image);
    OWNED(ny_model) *model = NULL;
    int err;

    ny_error_clear(ctx);
    ny_memory_peak_reset(ctx);
    err = ny_model_read(&model, ctx, image, bytes, "it");
    assert_true(err == NY_OK ? model != NULL : model == NULL);
    assert_in_range(ny_memory_peak(ctx), 0, WORTH);
    return err;
}

TEST(honest_models_load)
{
    struct claim claim = honest();

    assert_int_equal(load(&claim), NY_OK);
    claim.version = 3;
    assert_int_equal(load(&claim), NY_OK);
}

/* Errors may be any numbers, which are told as they are, but they have to be there. */
TEST(models_with_errors_have_all_of_them)
{
    struct claim claim = honest();

    for (claim.version = 10; claim.version <= 11; claim.version++) {
        for (found_count = 0; found_count < NY_FOUND(P) + 3; found_count++)
            assert_int_equal(load(&claim), found_count == NY_FOUND(P) ? NY_OK : NY_ESTORE);
    }
    claim.version = 18;
    assert_int_equal(load(&claim), NY_ESTORE);
}

TEST(absurd_sizes_of_models_are_refused)
{
    static const uint64_t sizes[] = {0, 1, 1ULL << 20, 1ULL << 32, 1ULL << 40, 1ULL << 61,
                                     1ULL << 63, UINT64_MAX};

    for (uint32_t version = 2; version <= 3; version++)
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
            for (int field = 0; field < 5; field++) {
                struct claim claim = honest();

                claim.version = version;
                if (field == 0 || field == 3) claim.m = sizes[i];
                if (field == 1 || field == 3 || field == 4) claim.d = sizes[i];
                if (field == 2 || field == 4) claim.p = sizes[i];
                if (claim.m == M && claim.d == D && claim.p == P) continue;
                assert_int_equal(load(&claim), NY_ESTORE);
            }
}

TEST(impossible_models_are_refused)
{
    for (int what = 0; what < 8; what++) {
        struct claim claim = honest();

        switch (what) {
        case 0: claim.dtype = 0; break;
        case 1: claim.dtype = 77; break;
        case 2: claim.precision = 7; break;
        case 3: claim.skip = 1; break; /* of one pair */
        case 4: strcpy(claim.kernel, "unheard of"); break;
        case 5: memset(claim.kernel, 'r', sizeof(claim.kernel)); break;
        case 6: strcpy(claim.kernel, "precomputed"); break; /* 2 landmarks, rows of 3 */
        case 7: claim.version = 3; strcpy(claim.kernel, "coordinates"); break;
        }
        if (load(&claim) != NY_ESTORE) fail_msg("case %d: %s", what, ny_context_message(ctx));
    }
}

/* ---- manifests ----------------------------------------------------------------------------- */

static struct ny_store *open_store(void)
{
    struct ny_store *store;

    ny_error_clear(ctx);
    CHECK(ny_store_create(&store, ctx, path));
    return store;
}

static void put_manifest(struct ny_store *store, const struct ny_manifest *manifest)
{
    struct ny_frame frame = {.store = store->id,
                             .kind = NY_KIND_MANIFEST,
                             .raw_bytes = (uint32_t)ny_manifest_bytes(manifest)};
    struct ny_key key = ny_points_key(NY_KIND_MANIFEST, 0);
    struct ny_write write;

    assert_int_equal(ny_write_begin(&write, store, store->points, 1 << 20), NY_OK);
    assert_int_equal(ny_write_record(&write, &key, &frame, manifest), NY_OK);
    assert_int_equal(ny_write_commit(&write, NY_OK), NY_OK);
}

TEST(absurd_manifests_are_refused)
{
    const struct ny_manifest good = {.dtype = NY_F32, .n = 8, .d = 4,
                                     .block_rows = ny_block_rows_for(4, NY_F32)};
    const struct ny_manifest sparse = {.dtype = NY_F32, .layout = NY_CSR, .n = 8, .d = 4,
                                       .block_rows = 8, .nnz = 9, .row_nnz = 4, .block_nnz = 9};
    struct ny_store *store = open_store();
    struct ny_rows_info info;

    for (int what = 0; what < 22; what++) {
        struct ny_manifest m = what < 8 ? good : sparse;

        switch (what) {
        case 0: m.n = 1ULL << 60; break;
        case 1: m.d = 1ULL << 40; break;
        case 2: m.d = 0; break;
        case 3: m.block_rows = 1ULL << 40; break;
        case 4: m.block_rows = 0; break;
        case 5: m.dtype = 9; break;
        case 6: m.layout = 5; break;
        case 7: m.n = 1ULL << 40; break; /* of which there are no blocks */
        case 8: m.row_nnz = 1ULL << 40; break;
        case 9: m.block_nnz = 1ULL << 40; break;
        case 10: m.block_rows = 1ULL << 40; break;
        case 11: m.block_rows = 7; break;
        case 12: m.nnz = 0; break;
        case 13: m.n = 1ULL << 40; break;
        case 14: m.n = m.block_rows = 0; break;
        case 15: m.n = 0; m.dtype = 77; break;
        case 16: m.n = 0; m.d = 1ULL << 40; break;
        case 17:
            m.flags = NY_FLAG_PREPARED;
            break; /* and nothing to prepare */
        case 18:
            m.flags = NY_FLAG_PREPARED;
            m.preparation.values = 4;
            break;
        case 19:
            m.flags = NY_FLAG_PREPARED;
            m.preparation.rows = 3;
            break;
        case 20:
            m.flags = NY_FLAG_PREPARED;
            m.preparation.rows = NY_ROWS_TOTAL;
            break;
        case 21:
            m.flags = NY_FLAG_PREPARED;
            m.preparation = (struct ny_prepared){NY_ROWS_TOTAL, NY_VALUES_RAW, NAN};
            break;
        }
        put_manifest(store, &m);
        if (ny_points_info(store, &info) != NY_ESTORE) fail_msg("case %d is believed", what);
        ny_error_clear(ctx);
    }
    put_manifest(store, &sparse);
    assert_int_equal(ny_points_info(store, &info), NY_OK);
    put_manifest(store, &good);
    assert_int_equal(ny_points_info(store, &info), NY_OK);
    ny_store_close(store);
}

/* ---- records ------------------------------------------------------------------------------- */

/* A fit of 8 rows, its record with one number replaced; read, placed, exported. */
static void put_record(struct ny_store *store, const char *where, const char *key, json_t *value)
{
    OWNED(json_t) *record =
        json_pack("{s:i, s:s, s:s, s:i, s:{}, s:{},"
                  " s:{s:i, s:i, s:i, s:i, s:f, s:s, s:s, s:s, s:s}, s:{s:i, s:i, s:b}}",
                  "format", 1, "kind", "fit", "stage", "done", "model_bytes", 4096, "checkpoint",
                  "options", "report", "n", 8, "d", 4, "landmarks", 2, "components", 2,
                  "residual_max", 1.0, "precision", "f32", "kernel", "rbf", "approx", "projected",
                  "map", "kpca", "coordinates", "pairs", 2, "skip", 0, "asymmetric", 0);
    json_t *object = where ? json_object_get(record, where) : record;

    assert_non_null(record);
    assert_int_equal(json_object_set_new(object, key, value), 0);
    assert_int_equal(ny_record_save(store, "r", record), NY_OK);
}

static void check_record(const char *what)
{
    struct ny_model *model;
    uint64_t rows, p;
    float out[64];
    int err;
    char *output = lend_text("%s/out.npy", directory);

    for (const char *const *part = ny_export_parts(); *part; part++) {
        ny_memory_peak_reset(ctx);
        err = ny_export(ctx, path, "r", *part, output);
        if (err != NY_ESTORE && err != NY_EUSAGE && err != NY_EBUDGET && err != NY_OK)
            fail_msg("%s: %s: %s", what, *part, ny_context_message(ctx));
        assert_in_range(ny_memory_peak(ctx), 0, BUDGET);
        remove(output);
    }
    assert_int_not_equal(ny_model_open(&model, ctx, path, "r"), NY_OK);
    if (ny_embedding_shape(ctx, path, "r", &rows, &p) == NY_OK && p <= 64)
        assert_int_not_equal(ny_embedding_read(ctx, path, "r", 0, 1, out), NY_OK);
    ny_error_clear(ctx);
}

TEST(absurd_records_are_refused)
{
    static const struct {
        const char *where, *key;
    } fields[] = {{"report", "n"},          {"report", "d"},          {"report", "landmarks"},
                  {"coordinates", "pairs"}, {"coordinates", "skip"},  {NULL, "model_bytes"},
                  {"report", "components"}, {"report", "eigenvalues"}};
    static const json_int_t numbers[] = {0, -1, 1LL << 40, INT64_MAX, INT64_MIN};
    const struct ny_manifest good = {.dtype = NY_F32, .n = 8, .d = 4,
                                     .block_rows = ny_block_rows_for(4, NY_F32)};
    OWNED(ny_store) *store = open_store();

    put_manifest(store, &good);
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++) {
            put_record(store, fields[i].where, fields[i].key, json_integer(numbers[k]));
            check_record(fields[i].key);
        }
}

AROUND_ALL(start, remove_folder)
