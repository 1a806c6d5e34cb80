/* How large a dictionary will be, from a sample. */
#include "select/greedy.h"

#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "store/store.h"

/* A sample's dictionary is not grown beyond this: a plan has to be quick. */
enum { SAMPLE_LANDMARKS_MAX = 1500, SAMPLE_BYTES_SHARE = 8 };

static size_t joined_before(const uint64_t *rows, size_t m, double row)
{
    size_t count = 0;

    while (count < m && (double)rows[count] < row)
        count++;
    return count;
}

/* Each doubling of the rows brings q times the landmarks that the last one brought: q = 1 is
 * logarithmic growth, q = 2^p the power law n^p, q < 1 a dictionary that gets complete. q is seen
 * on the last two doublings. */
size_t ny_greedy_extrapolate(const uint64_t *rows, size_t m, uint64_t seen, uint64_t n)
{
    double quarter = (double)joined_before(rows, m, 0.25 * (double)seen);
    double half = (double)joined_before(rows, m, 0.5 * (double)seen);
    double last = (double)m - half, doublings, q, expected;

    if (n <= seen || last <= 0) return m;
    doublings = log2((double)n / (double)seen);
    q = half > quarter ? last / (half - quarter) : 2;
    q = q > 2 ? 2 : q < 0.25 ? 0.25 : q;
    expected = (double)m + last * (fabs(q - 1) < 1e-9 ? doublings
                                                      : q * (pow(q, doublings) - 1) / (q - 1));
    return expected < (double)n ? (size_t)(expected + 0.5) : (size_t)n;
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* `sample` hashed rows, ascending, each once; all rows where there are no more. */
static size_t sample_rows(uint64_t *rows, size_t sample, uint64_t seed, uint64_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < sample; i++)
        rows[i] = sample == n ? i : (uint64_t)(ny_hash01(seed, NY_STREAM_SAMPLE, i) * (double)n);
    qsort(rows, sample, sizeof(*rows), ascending);
    for (size_t i = 0; i < sample; i++)
        if (!kept || rows[i] != rows[kept - 1]) rows[kept++] = rows[i];
    return kept;
}

static int grow_on_sample(const struct ny_selection_request *request, const void *values,
                          size_t count, size_t *m)
{
    const struct ny_columns_spec *spec = request->spec;
    struct ny_selection_request small = *request;
    struct ny_source *source = NULL;
    struct ny_greedy greedy;
    size_t reached;
    uint64_t seen = count;
    int err;

    small.n = count;
    if (small.landmarks > SAMPLE_LANDMARKS_MAX) small.landmarks = SAMPLE_LANDMARKS_MAX;
    err = ny_greedy_open(&greedy, &small, count);
    greedy.measure = false;
    if (!err)
        err = ny_source_of_memory(&source, request->ctx, values, spec->dtype, count,
                                  spec->geometry->d);
    if (!err) err = ny_greedy_run(&greedy, source, 0, false);
    if (err) goto done;
    reached = ny_dictionary_count(greedy.dictionary);
    if (ny_greedy_full(&greedy)) seen = greedy.dictionary->rows[reached - 1] + 1;
    /* The sample's rows stand for the store's in its order: the same growth, on more rows. */
    *m = ny_greedy_extrapolate(greedy.dictionary->rows, reached, seen, request->n);
    if (*m > request->landmarks) *m = request->landmarks;
    if (*m > request->dictionary.landmarks_max) *m = request->dictionary.landmarks_max;
done:
    ny_source_free(source);
    ny_greedy_close(&greedy);
    return err;
}

int ny_greedy_estimate(const struct ny_selection_request *request, size_t sample, size_t *m)
{
    size_t row_bytes = request->spec->geometry->d * ny_dtype_size(request->spec->dtype);
    size_t room = ny_memory_left(request->ctx) / SAMPLE_BYTES_SHARE / row_bytes;
    uint64_t *rows;
    void *values = NULL;
    int err = NY_EBUDGET;

    if (sample > request->n) sample = (size_t)request->n;
    if (sample > room) sample = room;
    rows = ny_alloc(request->ctx, NY_MEM_DICTIONARY, sample * sizeof(*rows));
    if (!rows) return NY_EBUDGET;
    sample = sample_rows(rows, sample, request->seed, request->n);
    values = ny_alloc(request->ctx, NY_MEM_TILES, sample * row_bytes);
    if (!values) goto done;
    err = ny_points_gather(request->store, rows, sample, values);
    if (!err) err = grow_on_sample(request, values, sample, m);
done:
    ny_free(request->ctx, values);
    ny_free(request->ctx, rows);
    return err;
}
