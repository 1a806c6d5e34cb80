/* The file of a store in shards: any text is refused, or read as what is written again alike. */
#include "fuzz/fuzz.h"
#include "shards/held.h"

enum { MEMORY = 256 << 20 };

static int parse(struct ny_context *ctx, const char *text, size_t bytes, struct ny_shards **out)
{
    struct ny_shards *shards = ny_calloc(ctx, NY_MEM_OTHER, 1, sizeof(*shards));
    const char *wrong;
    int err;

    FUZZ_CHECK(shards);
    shards->ctx = ctx;
    shards->path = ny_strdup(ctx, "x");
    FUZZ_CHECK(shards->path);
    err = ny_shards_parse(shards, text, bytes, &wrong);
    FUZZ_CHECK((err == NY_ESTORE) == (wrong != NULL));
    *out = shards;
    return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ny_context *ctx = fuzz_context(MEMORY);
    size_t before = ny_memory_used(ctx), bytes, again_bytes;
    struct ny_shards *shards, *again;
    char *text, *again_text;

    if (parse(ctx, (const char *)data, size, &shards) == NY_OK) {
        FUZZ_CHECK(shards->count > 0 && shards->count <= NY_SHARDS_MAX);
        FUZZ_CHECK(ny_shards_print(shards, &text, &bytes) == NY_OK);
        FUZZ_CHECK(parse(ctx, text, bytes, &again) == NY_OK);
        FUZZ_CHECK(ny_shards_print(again, &again_text, &again_bytes) == NY_OK);
        FUZZ_CHECK(bytes == again_bytes && memcmp(text, again_text, bytes) == 0);
        ny_free(ctx, again_text);
        ny_free(ctx, text);
        ny_shards_free(again);
    }
    ny_shards_free(shards);
    FUZZ_CHECK(ny_memory_used(ctx) == before);
    return 0;
}
