/*
 * The columns of a probe (fit/probe.c): S is drawn, its rows are gathered for the columns of K, and
 * the stored rows of the embedding for those of K̃.
 *
 * Over shards, each draws those of S that lie in its rows and loads what it has stored of them;
 * zero stands for what others have, so that a sum over the shards is exact.
 */
#include "fit/probe_private.h"

#include <math.h>
#include <stdlib.h>

#include "base/compare.h"
#include "fit/drawn_rows.h"
#include "fit/sizes.h"
#include "base/peers.h"
#include "linalg/numbers.h"

void ny_probe_widen(const struct ny_probe *run, const void *stored, size_t rows, struct ny_matrix Y)
{
    size_t width = ny_coordinates_width(&run->coordinates);

    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < run->p; k++) {
            double y = ny_number(stored, run->f64, i * width + k);

            Y.at[i * Y.stride + k] = isnan(y) ? 0 : y; /* of a row that no landmark reaches */
        }
}

/* The next 1/d_i, from the stored 1/√d_i. */
struct diagonal {
    const struct ny_probe *run;
    uint64_t row;
    size_t at, count;
};

static int next_diagonal(struct diagonal *diagonal, double *value)
{
    const struct ny_probe *run = diagonal->run;
    const struct ny_fit *fit = run->fit;
    double *piece = run->side[0].averages;
    int err = NY_OK;

    if (diagonal->at == diagonal->count) {
        uint64_t left = ny_rows_here(&fit->job.points) - diagonal->row;

        diagonal->at = 0;
        diagonal->count = left < NY_UNIT_ROWS ? (size_t)left : NY_UNIT_ROWS;
        err = ny_check_interrupt(fit->job.ctx);
        if (err == NY_OK)
            err = ny_embedding_rows(&fit->job.keep, &run->averages, diagonal->row, diagonal->count,
                                    piece);
        if (err) return err;
        diagonal->row += diagonal->count;
    }
    *value = piece[diagonal->at] * piece[diagonal->at];
    diagonal->at++;
    return NY_OK;
}

/* Sums up 1/d_i: *before over the rows of shards before this one, *total over all. */
static int sum_diagonal(const struct ny_probe *run, double *before, double *total)
{
    const struct ny_fit *fit = run->fit;
    struct ny_peers *peers = ny_context_peers(fit->job.ctx);
    unsigned shards = ny_peers_shards(peers), self = ny_peers_shard(peers);
    struct diagonal diagonal = {.run = run};
    double here = 0, value, *all = ny_calloc(fit->job.ctx, NY_MEM_OTHER, shards, sizeof(*all));
    int err = all ? NY_OK : NY_EBUDGET;

    for (uint64_t row = 0; row < ny_rows_here(&fit->job.points) && err == NY_OK; row++) {
        err = next_diagonal(&diagonal, &value);
        here += err == NY_OK ? value : 0;
    }
    if (err == NY_OK) err = ny_peers_gather_equal(peers, &here, sizeof(here), all);
    *before = *total = 0;
    for (unsigned k = 0; k < shards && err == NY_OK; k++) {
        if (k == self) *before = *total;
        *total += all[k];
    }
    ny_free(fit->job.ctx, all);
    return err;
}

/* Draws those of S that are here: the points of (0, 1), ascending, that fall into the p_i of these
 * rows, which lie side by side. */
static int draw_here(struct ny_probe *run, const double *point)
{
    const struct ny_fit *fit = run->fit;
    const struct ny_row_range *here = &fit->job.points.here;
    struct diagonal diagonal = {.run = run};
    double n = (double)fit->job.points.n, before, total, value, sum;
    size_t drawn = 0;
    int err = sum_diagonal(run, &before, &total);

    if (err) return err;
    sum = ((double)here->first / n + before / total) / 2;
    while (drawn < run->r && point[drawn] < sum)
        drawn++;
    for (uint64_t row = here->first; row < here->end && drawn < run->r && err == NY_OK; row++) {
        double share;

        err = next_diagonal(&diagonal, &value);
        if (err) break;
        share = (1 / n + value / total) / 2;
        sum += share;
        /* Rounding may leave a point above the whole sum: it falls to the last row. */
        while (drawn < run->r && (point[drawn] < sum || row + 1 == fit->job.points.n)) {
            run->weights[drawn] = n * share;
            run->rows[drawn++] = row + 1;
        }
    }
    return err;
}

/* Draws S, ascending, with one row perhaps more than once. What other shards have drawn is filled
 * in: numbers of rows count from 1 meanwhile, and 0 is none. */
static int draw_by_diagonal(struct ny_probe *run)
{
    const struct ny_fit *fit = run->fit;
    struct ny_peers *peers = ny_context_peers(fit->job.ctx);
    double *point = ny_calloc(fit->job.ctx, NY_MEM_DICTIONARY, run->r, sizeof(*point));
    int err = point ? NY_OK : NY_EBUDGET;

    for (size_t s = 0; s < run->r && err == NY_OK; s++) {
        point[s] = ny_hash01(fit->settings->seed, NY_STREAM_PROBES, s);
        run->weights[s] = 0;
    }
    if (err == NY_OK) qsort(point, run->r, sizeof(*point), ny_compare_doubles);
    if (err == NY_OK) err = draw_here(run, point);
    for (size_t s = 0; s < run->r && err == NY_OK; s++)
        point[s] = (double)run->rows[s];
    if (err == NY_OK) err = ny_peers_fold(peers, point, run->r);
    if (err == NY_OK) err = ny_peers_fold(peers, run->weights, run->r);
    for (size_t s = 0; s < run->r && err == NY_OK; s++)
        run->rows[s] = (uint64_t)point[s] - 1;
    ny_free(fit->job.ctx, point);
    return err;
}

/* Reads the rows of S and makes columns of K of them, which are evaluated exactly, in f64. */
static int make_columns(struct ny_probe *run)
{
    struct ny_columns_spec of_fit = ny_fit_spec(run->fit), spec = ny_settings_probe_spec(&of_fit);

    return ny_fit_gather_columns(run->fit, &spec, run->rows, run->r, &run->columns);
}

/* The rows of S that are in this shard: their numbers here, and their places in S. */
struct found {
    uint64_t *row;
    size_t *place, count;
    double *averages; /* one for each of them */
};

static int find_here(const struct ny_probe *run, struct ny_layout *l, struct found *found)
{
    const struct ny_row_range *here = &run->fit->job.points.here;

    found->row = ny_lay(l, NY_MEM_SOLVE, run->r, sizeof(*found->row));
    found->place = ny_lay(l, NY_MEM_SOLVE, run->r, sizeof(*found->place));
    found->averages = ny_lay(l, NY_MEM_SOLVE, run->r, sizeof(*found->averages));
    if (l->err) return l->err;
    for (size_t s = 0; s < run->r; s++) {
        if (run->rows[s] < here->first || run->rows[s] >= here->end) continue; /* another's */
        found->row[found->count] = run->rows[s] - here->first;
        found->place[found->count++] = s;
    }
    return NY_OK;
}

/* Loads the stored rows of `found`, as many at a time as a unit has, into their places of Z. */
static int load_rows(const struct ny_probe *run, const struct found *found)
{
    struct ny_fit *fit = run->fit;
    void *stored = run->side[0].stored;
    size_t row_bytes = run->embedding.row_bytes;
    int err = NY_OK;

    for (size_t first = 0, count; first < found->count && err == NY_OK; first += count) {
        count = found->count - first < NY_UNIT_ROWS ? found->count - first : NY_UNIT_ROWS;
        err =
            ny_embedding_gather(&fit->job.keep, &run->embedding, found->row + first, count, stored);
        for (size_t i = 0; i < count && err == NY_OK; i++)
            ny_probe_widen(run, (char *)stored + i * row_bytes, 1,
                           ny_rows(run->Z, found->place[first + i], 1));
        if (err == NY_OK) err = ny_check_interrupt(fit->job.ctx);
    }
    return err;
}

/* Loads Z, the stored rows of S, as Y itself or as Û Λ̂, and the averages of S. Rows of other
 * shards are zero until they are added. */
static int load_columns(struct ny_probe *run)
{
    struct ny_fit *fit = run->fit;
    struct ny_peers *peers = ny_context_peers(fit->job.ctx);
    struct ny_layout l = {.ctx = fit->job.ctx};
    struct found found = {0};
    int err = find_here(run, &l, &found);

    if (err == NY_OK) err = load_rows(run, &found);
    if (err == NY_OK && run->averages.part.name[0])
        err = ny_embedding_gather(&fit->job.keep, &run->averages, found.row, found.count,
                                  found.averages);
    for (size_t i = 0; i < found.count && err == NY_OK; i++)
        run->column_averages[found.place[i]] = found.averages[i];
    for (size_t s = 0; s < run->r && err == NY_OK && run->coordinates.skip; s++)
        for (size_t k = 0; k < run->p; k++)
            run->Z.at[s * run->Z.stride + k] *= ny_job_eigenvalue(&fit->job, k);
    if (err == NY_OK) err = ny_peers_fold(peers, run->Z.at, run->r * run->p);
    if (err == NY_OK) err = ny_peers_fold(peers, run->column_averages, run->r);
    ny_layout_free(&l);
    return err;
}

int ny_probe_columns(struct ny_probe *run)
{
    int err;

    for (size_t s = 0; s < run->r; s++)
        run->weights[s] = 1;
    err = run->by_diagonal ? draw_by_diagonal(run)
                           : ny_draw_rows(run->fit, NY_STREAM_PROBES, run->r, run->rows);
    if (err == NY_OK) err = make_columns(run);
    return err == NY_OK ? load_columns(run) : err;
}
