/* --certify for landmarks that no dictionary chose: δ of all rows against their span. */
#include <string.h>

#include "select/rpcholesky.h"
#include "select/rules_private.h"
#include "stream/rows.h"

/* The dictionary of the landmarks, the farthest from those before it first: so the pivots of L are
 * as large as they can be, and landmarks that others represent, to rounding, are left out. `W` has
 * room for their kernel matrix, and `order` and `rows` for their numbers. */
struct factor {
    struct ny_matrix W;
    void *raw;                    /* dense rows, */
    struct ny_sparse_list sparse; /* or sparse ones, */
    struct ny_sparse *view;       /* and these as they were given, and in the order of the factor */
    size_t *order;
    uint64_t *rows;
};

static void lay(struct ny_layout *l, struct factor *f, const struct ny_columns_spec *spec, size_t m)
{
    f->W = ny_matrix(ny_lay(l, NY_MEM_DICTIONARY, m, m * sizeof(double)), m, m);
    if (spec->slots)
        f->view = ny_lay(l, NY_MEM_DICTIONARY, 2 * m, sizeof(*f->view));
    else
        f->raw = ny_lay(l, NY_MEM_DICTIONARY, m, ny_raw_bytes(spec));
    f->order = ny_lay(l, NY_MEM_DICTIONARY, m, sizeof(*f->order));
    f->rows = ny_lay(l, NY_MEM_DICTIONARY, m, sizeof(*f->rows));
}

/* Reads the m sparse landmarks, as they were given. */
static int load_sparse(const struct ny_selection_request *request, struct factor *f,
                       const uint64_t *rows, size_t m)
{
    const struct ny_gather_wish wish = {request->spec->slots, m, rows, NY_MEM_DICTIONARY};
    struct ny_raw_rows points = ny_raw_rows(request->landmark_points);
    int err = NY_OK;

    if (!points.at) {
        err = ny_rows_gather_list(request->X, &wish, &f->sparse);
        points = ny_raw_list(f->sparse.row);
    }
    for (size_t i = 0; !err && i < m; i++)
        f->view[i] = ny_sparse_row(request->spec, points, i);
    return err;
}

/* Reads `count` dense landmarks into f->raw: in the order of the factor, or as they were given. */
static int load(const struct ny_selection_request *request, struct factor *f, const uint64_t *rows,
                size_t count, bool ordered)
{
    size_t row_bytes = ny_raw_bytes(request->spec);

    if (!request->landmark_points)
        return request->X->ops->gather(request->X, request->spec->slots, rows, count, f->raw);
    for (size_t i = 0; i < count; i++)
        memcpy((char *)f->raw + i * row_bytes,
               (const char *)request->landmark_points + (ordered ? f->order[i] : i) * row_bytes,
               row_bytes);
    return NY_OK;
}

/* Computes W and its pivoted Cholesky factor, and puts the landmarks in its order, as many as its
 * rank. Points have no number but their place. */
static int factorise(struct ny_rpcholesky *rp, struct factor *f, const uint64_t *rows, size_t *rank)
{
    const struct ny_selection_request *request = rp->request;
    size_t m = f->W.rows;
    int err = f->view ? load_sparse(request, f, rows, m) : load(request, f, rows, m, false);

    if (!err)
        err = ny_columns_exact_square(rp->dictionary->none, (struct ny_raw_rows){f->raw, f->view},
                                      m, f->W);
    for (size_t i = 0; !err && i < m; i++)
        if (f->W.at[i * m + i] > rp->now.largest) rp->now.largest = f->W.at[i * m + i];
    if (!err) err = ny_cholesky_pivoted(rp->ctx, f->W, ny_pivot_zero(rp), f->order, rank);
    if (err) return err;
    for (size_t i = 0; i < *rank; i++)
        f->rows[i] = rows ? rows[f->order[i]] : f->order[i];
    for (size_t i = 0; f->view && i < *rank; i++)
        f->view[m + i] = f->view[f->order[i]];
    return *rank && f->raw ? load(request, f, f->rows, *rank, true) : NY_OK;
}

static int represent(struct ny_rpcholesky *rp, const uint64_t *rows, size_t m)
{
    struct ny_layout l = {.ctx = rp->ctx};
    struct factor f = {.view = NULL};
    size_t rank = 0;
    int err;

    lay(&l, &f, rp->request->spec, m);
    err = l.err ? l.err : factorise(rp, &f, rows, &rank);
    for (size_t i = 0; !err && i < rank; i++) {
        const double *L = f.W.at + i * m;
        const struct ny_factor_row row = {.Z = L, .Z_count = i, .pivot = L[i]};

        err = ny_dictionary_push(rp->dictionary, f.rows[i], &row, rp->now.largest);
    }
    if (!err)
        err = ny_dictionary_extend(
            rp->dictionary, f.raw ? ny_raw_rows(f.raw) : ny_raw_list(f.view + m), rank, NULL);
    ny_sparse_list_release(&f.sparse, rp->ctx);
    ny_layout_free(&l);
    return err;
}

/* Counts the factor, with a dictionary of `count` landmarks. */
static void plan_factor(struct ny_layout *l, const struct ny_selection_request *request, size_t m,
                        size_t count)
{
    ny_pivot_open_count(l, request, count);
    lay(l, &(struct factor){.view = NULL}, request->spec, m);
    if (request->spec->slots) ny_layout_add(l, NY_MEM_DICTIONARY, ny_kept_bytes(request->spec, m));
}

/* The factor is made of W, the dictionary of the factor; then the rows are measured. */
void ny_certify_count(struct ny_layout *l, const struct ny_selection_request *request, size_t m)
{
    const size_t dpstrf = 2 * sizeof(double) + sizeof(int);
    struct ny_layout_mark mark = ny_layout_mark(l);

    plan_factor(l, request, m, 0);
    ny_columns_square_count(l, request->spec, m, ny_selection_workers(request));
    ny_lay(l, NY_MEM_DICTIONARY, m, dpstrf);
    ny_layout_back(l, &mark);
    plan_factor(l, request, m, m);
    ny_layout_back(l, &mark);
    ny_pivot_count(l, request, m);
    ny_layout_back(l, &mark);
}

int ny_selection_certify(const struct ny_selection_request *request, struct ny_selection *selection)
{
    struct ny_selection_request own = *request;
    struct ny_rpcholesky *rp = ny_calloc(own.ctx, NY_MEM_DICTIONARY, 1, sizeof(*rp));
    struct ny_source *source = NULL;
    int err;

    if (!rp) return NY_EBUDGET;
    own.landmarks = selection->m;
    own.checkpoint.save = NULL;
    ny_blas_serial();
    err = ny_pivot_open(rp, &own);
    if (!err) err = represent(rp, selection->rows, selection->m);
    if (!err) err = ny_rows_source(own.X, own.n, own.spec->slots, rp->workers, &source);
    if (!err) err = ny_source_widen(&source, source, own.spec->dtype, rp->workers);
    if (err) goto done;
    rp->now.certified = true;
    rp->now.measured = 1;
    rp->now.enough = -1;
    err = ny_pivot_measure(rp, source, 0);
    if (err) goto done;
    ny_selection_residuals(selection, rp->bounds, rp->n);
    rp->bounds = NULL;
    selection->passes += (unsigned)rp->now.passes;
    selection->rows_read += rp->now.rows_read;
    selection->flops += rp->now.flops;
done:
    ny_source_free(source);
    ny_pivot_close(rp);
    ny_free(own.ctx, rp);
    return err;
}
