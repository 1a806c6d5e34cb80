/* Estimates from a sample how large a dictionary will be at an ε, and which ε gives a size. */
#include "select/greedy.h"

#include <math.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/peers.h"
#include "base/random.h"
#include "stream/rows.h"

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
    expected =
        (double)m + last * (fabs(q - 1) < 1e-9 ? doublings : q * (pow(q, doublings) - 1) / (q - 1));
    return expected < (double)n ? (size_t)(expected + 0.5) : (size_t)n;
}

/* `sample` hashed rows, ascending, each once; all rows where there are no more. */
static size_t sample_rows(uint64_t *rows, size_t sample, uint64_t seed, uint64_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < sample; i++)
        rows[i] = sample == n ? i : (uint64_t)(ny_hash01(seed, NY_STREAM_SAMPLE, i) * (double)n);
    qsort(rows, sample, sizeof(*rows), ny_compare_rows);
    for (size_t i = 0; i < sample; i++)
        if (!kept || rows[i] != rows[kept - 1]) rows[kept++] = rows[i];
    return kept;
}

struct sample {
    size_t count;
    void *values;                 /* dense raw rows, in the order of their numbers, */
    struct ny_sparse_list sparse; /* or sparse ones */
};

static void release(struct sample *sample, struct ny_context *ctx)
{
    ny_free(ctx, sample->values);
    ny_sparse_list_release(&sample->sparse, ctx);
}

/* Reads the rows of the sample. */
static int read_rows(const struct ny_selection_request *request, const uint64_t *rows,
                     struct sample *sample)
{
    const struct ny_columns_spec *spec = request->spec;
    const struct ny_gather_wish wish = {spec->slots, sample->count, rows, NY_MEM_TILES};

    if (spec->slots) return ny_rows_gather_list(request->X, &wish, &sample->sparse);
    sample->values = ny_alloc(request->ctx, NY_MEM_TILES, sample->count * ny_raw_bytes(spec));
    if (!sample->values) return NY_EBUDGET;
    return request->X->ops->gather(request->X, 0, rows, sample->count, sample->values);
}

static int draw(const struct ny_selection_request *request, size_t wanted, struct sample *sample)
{
    uint64_t *rows = ny_alloc(request->ctx, NY_MEM_DICTIONARY, wanted * sizeof(*rows));
    int err = NY_EBUDGET;

    *sample = (struct sample){0};
    if (!rows) goto done;
    sample->count = sample_rows(rows, wanted, request->seed, request->n);
    err = read_rows(request, rows, sample);
done:
    ny_free(request->ctx, rows);
    return err;
}

/* Estimates the m that Algorithm 1 will reach at this ε on all rows. The sample's dictionary ends
 * at `most`. */
static int expect(const struct ny_selection_request *request, const struct sample *sample,
                  double tolerance, size_t most, size_t *m)
{
    const struct ny_columns_spec *spec = request->spec;
    const struct ny_greedy_limits limits = {
        tolerance, most < SAMPLE_LANDMARKS_MAX ? most : SAMPLE_LANDMARKS_MAX, true};
    struct ny_selection_request small = *request;
    struct ny_source *source = NULL;
    struct ny_greedy greedy;
    size_t reached;
    uint64_t seen = sample->count;
    int err;

    small.n = sample->count;
    small.here = (struct ny_row_range){0, 0};
    small.landmarks = limits.landmarks_max;
    small.greedy.dictionary.tolerance = tolerance;
    err = ny_greedy_open(&greedy, &small, small.n);
    if (!err)
        err = ny_source_of_raw(
            &source, request->ctx, (struct ny_raw_rows){sample->values, sample->sparse.row},
            &(struct ny_raw_shape){spec->dtype, small.n, spec->geometry->d, spec->slots});
    if (!err) err = ny_greedy_run(&greedy, &limits, source, 0, false);
    if (err) goto done;
    reached = ny_dictionary_size(greedy.dictionary);
    if (greedy.too_large) seen = greedy.dictionary->rows[reached - 1] + 1;
    /* The sample's rows stand for the store's in its order: the same growth, on more rows. */
    *m = ny_greedy_extrapolate(greedy.dictionary->rows, reached, seen, request->n);
done:
    ny_source_free(source);
    ny_greedy_close(&greedy);
    return err;
}

int ny_greedy_estimate(const struct ny_selection_request *request, size_t sample_rows_max,
                       size_t *m)
{
    size_t row_bytes = ny_raw_bytes(request->spec);
    uint64_t room = ny_memory_left(request->ctx) / SAMPLE_BYTES_SHARE / row_bytes;
    size_t count, most = request->landmarks;
    struct sample sample;
    int err = ny_peers_least(ny_context_peers(request->ctx), &room); /* all read the same rows */

    if (err) return err;
    count = sample_rows_max < room ? sample_rows_max : (size_t)room;
    if (count > request->n) count = (size_t)request->n;
    *m = most < request->n ? most : (size_t)request->n;
    if (!count) return NY_OK; /* no room for a row: there may be as many as are allowed */
    err = draw(request, count, &sample);
    if (!err) err = expect(request, &sample, request->greedy.dictionary.tolerance, most, m);
    if (*m > most) *m = most;
    release(&sample, request->ctx);
    return err;
}

/* ---- the pilot of Algorithm 2 --------------------------------------------------------------- */

/* A few for each landmark; of many points more, as growth cannot be foretold over many doublings.
 */
size_t ny_greedy_pilot_rows(const struct ny_selection_request *request, size_t m)
{
    enum { ROWS_PER_LANDMARK = 4, SHARE = 4, LEAST = 512, MOST = 8192, SMALL_SHARE = 256 };
    const size_t most_bytes = (size_t)16 << 20;
    size_t rows = m < MOST / ROWS_PER_LANDMARK ? m * ROWS_PER_LANDMARK : MOST;
    size_t more = most_bytes / ny_raw_bytes(request->spec);

    if (more > request->n / SMALL_SHARE) more = (size_t)(request->n / SMALL_SHARE);
    if (rows < more) rows = more;
    if (rows > request->n / SHARE) rows = (size_t)(request->n / SHARE);
    return rows < LEAST ? 0 : rows;
}

/* Too large a bracket costs short runs; ε⁻ that gives too many landmarks costs a whole one, ε⁺ that
 * gives too few makes the search begin anew. So m expected at ε⁻ is to be 80 to 92 % of what is
 * asked for, and at ε⁺ a third more. */
static const double pilot_least = 0.8, pilot_aim = 0.86, pilot_most = 0.92, pilot_plenty = 1.33;

/* Returns the ε between two at which the straight line through log m and log ε meets `aim`. */
static double between(double low, double low_m, double high, double high_m, double aim)
{
    double share = log(low_m / aim) / log(low_m / fmax(high_m, 1));

    return low * pow(high / low, fmin(fmax(share, 0.1), 0.9));
}

int ny_greedy_pilot(const struct ny_selection_request *request, struct ny_greedy_bracket *bracket)
{
    enum { EVALUATIONS_MAX = 24 };
    const double close = 1.02, step = 3.1622776601683795, m = (double)request->landmarks;
    size_t count = ny_greedy_pilot_rows(request, request->landmarks);
    double low = 0, low_m = 0, high = INFINITY, high_m = 0, tried = 1;
    struct sample sample;
    int err;

    *bracket = (struct ny_greedy_bracket){NAN, NAN};
    if (!count) return NY_OK;
    bracket->low = 0;
    err = draw(request, count, &sample);
    for (int i = 0; !err && i < EVALUATIONS_MAX && high > close * low; i++) {
        size_t expected = 0;

        err = expect(request, &sample, tried, request->landmarks, &expected);
        if ((double)expected >= pilot_plenty * m) bracket->low = fmax(bracket->low, tried);
        if ((double)expected > pilot_most * m) {
            low = tried;
            low_m = (double)expected;
        } else {
            high = tried;
            high_m = (double)expected;
        }
        if (high_m >= pilot_least * m) break;
        tried = isinf(high) ? step * low
                : low > 0   ? between(low, low_m, high, high_m, pilot_aim * m)
                            : high / step;
    }
    bracket->high = isinf(high) ? low : high;
    release(&sample, request->ctx);
    return err;
}
