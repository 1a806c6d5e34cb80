/* A dictionary made again from its landmarks: to go on with it when rows were appended, or to
 * measure others against it. */
#include <math.h>

#include "select/greedy.h"
#include "stream/rows.h"

/* Runs the selection over the landmarks alone, each of which joins. */
static int run_over(struct ny_greedy *greedy, struct ny_raw_rows raw, size_t m)
{
    const struct ny_columns_spec *spec = greedy->request->spec;
    const struct ny_greedy_limits limits = {0, greedy->request->landmarks, false};
    const struct ny_row_range here = greedy->here;
    uint64_t n = greedy->n, rows_read = greedy->rows_read;
    struct ny_source *source;
    const struct ny_raw_shape shape = {spec->dtype, m, spec->geometry->d, spec->slots};
    int err = ny_source_of_raw(&source, greedy->ctx, raw, &shape);

    if (err) return err;
    greedy->n = m;
    greedy->here = (struct ny_row_range){0, m};
    err = ny_prefixes_begin(&greedy->prefixes, greedy->dictionary);
    if (!err) err = ny_greedy_run(greedy, &limits, source, 0, false);
    ny_source_free(source);
    greedy->n = n;
    greedy->here = here;
    greedy->rows_read = rows_read;
    for (uint64_t i = 0; i < m; i++)
        greedy->residuals[i] = INFINITY;
    return err;
}

/* Rounding left a landmark out: the selection begins at the first row, as if there were none. */
static int begin_anew(struct ny_greedy *greedy)
{
    const struct ny_selection_request *request = greedy->request;

    ny_greedy_close(greedy);
    return ny_greedy_open(greedy, request, request->n);
}

int ny_greedy_take_up(struct ny_greedy *greedy, uint64_t *first_unit)
{
    const struct ny_selection_request *request = greedy->request;
    const struct ny_selected *earlier = request->greedy.earlier;
    struct ny_columns *landmarks;
    int err = ny_columns_new(&landmarks, request->spec);

    *first_unit = 0;
    if (!err) err = ny_columns_gather(landmarks, request->X, earlier->rows, earlier->m);
    if (!err) err = run_over(greedy, ny_columns_rows(landmarks), earlier->m);
    ny_columns_free(landmarks);
    if (err) return err;
    if (ny_dictionary_size(greedy->dictionary) != earlier->m) return begin_anew(greedy);
    for (size_t i = 0; i < earlier->m; i++)
        greedy->dictionary->rows[i] = earlier->rows[i];
    err = earlier->residuals(earlier->arg, greedy->residuals);
    if (err) return err;
    greedy->decided = earlier->n;
    *first_unit = earlier->n / NY_UNIT_ROWS;
    return ny_prefixes_begin(&greedy->prefixes, greedy->dictionary);
}

int ny_greedy_measure(const struct ny_selection_request *request, struct ny_raw_rows landmarks,
                      size_t m, struct ny_source *source, uint64_t n, float *residuals)
{
    struct ny_selection_request all = *request;
    struct ny_greedy_limits limits = {-INFINITY, 0, false};
    struct ny_greedy greedy;
    int err;

    all.greedy.dictionary.tolerance = 1; /* none is asked for */
    all.landmarks = m;
    all.here = (struct ny_row_range){0, 0};
    err = ny_greedy_open(&greedy, &all, n > m ? n : m);
    if (!err) err = run_over(&greedy, landmarks, m);
    if (err) goto done;
    greedy.n = greedy.here.end = n;
    limits.landmarks_max = ny_dictionary_size(greedy.dictionary);
    err = ny_prefixes_begin(&greedy.prefixes, greedy.dictionary);
    if (!err && limits.landmarks_max) err = ny_greedy_run(&greedy, &limits, source, 0, false);
    for (uint64_t i = 0; !err && i < n; i++)
        residuals[i] = greedy.residuals[i];
done:
    ny_greedy_close(&greedy);
    return err;
}
