/*
 * The iteration of restarted.h. Its steps are, in the words of ny_restarted_next(): T's columns of
 * the block, what is left of H outside of the basis, the Ritz pairs with their residuals, perhaps
 * the restart, and the next block. Products over the N rows of the basis are those of
 * linalg/tall.h.
 */
#include "spectral/restarted.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "linalg/eigen_dense.h"
#include "linalg/tall.h"

enum { GROUP = 16, BLOCKS_LEAST = 4, BLOCKS_MOST = 12, ROUNDS = 4 };

/* Bytes that a basis may have, if it has more blocks than the fewest. */
static const size_t basis_bytes = (size_t)1 << 28;

/* The numbers at the beginning of a state; Ritz values and residuals follow. WAITS also has the
 * locked pairs, of which states of releases that locked none have 0. */
enum { USED, COUNT, STEP, CONVERGED, SEEDS, SEEDED, WAITS, NUMBERS };
static const double locked_unit = 0x1p31;

/* Below this share of the largest that is not locked, values are rounding. */
static const double floor_share = 0x1p-20;

struct ny_restarted_shape ny_restarted_shape(size_t order, size_t pairs, size_t oversample)
{
    struct ny_restarted_shape shape = {.order = order, .pairs = ny_smaller(pairs, order)};
    size_t wanted = shape.pairs + oversample, blocks;

    shape.width = ny_smaller((wanted + GROUP - 1) / GROUP * GROUP, order);
    shape.start = ny_smaller((wanted / 3 + GROUP - 1) / GROUP * GROUP, shape.width);
    shape.keep = ny_smaller(wanted, shape.width);
    blocks = basis_bytes / (order * shape.width * sizeof(double));
    blocks = blocks < BLOCKS_LEAST ? BLOCKS_LEAST : ny_smaller(blocks, BLOCKS_MOST);
    shape.most = ny_smaller(blocks * shape.width, order);
    return shape;
}

static size_t head_of(const struct ny_restarted_shape *shape)
{
    return NUMBERS + 2 * shape->pairs + (shape->bulk ? 1 + 3 * shape->pairs : 0);
}

size_t ny_restarted_state_bytes(const struct ny_restarted_shape *shape)
{
    return (head_of(shape) + shape->most * shape->most +
            shape->order * (shape->width + shape->most)) *
           sizeof(double);
}

/* Returns the Ritz pairs that are found at a time: those that a restart keeps and the next, or as
 * many as a block may have. */
static size_t looked_at(const struct ny_restarted_shape *shape)
{
    return shape->keep < shape->width ? shape->width : shape->keep + 1;
}

/* A step holds the sums of all lanes, then the small eigenproblem; a restart the rows of each lane.
 */
void ny_restarted_count(struct ny_layout *l, const struct ny_restarted_shape *shape)
{
    size_t most = shape->most, width = shape->width, looked = looked_at(shape);
    struct ny_layout_mark mark = ny_layout_mark(l), inner;

    ny_lay_matrix(l, NY_MEM_SOLVE, width, width); /* the Gram of what is left of H */
    inner = ny_layout_mark(l);
    ny_lay_matrix(l, NY_MEM_SOLVE, most + 1, width);
    ny_tall_inner_count(l, most, width);
    ny_orthonormalise_lanes_count(l, width);
    ny_layout_back(l, &inner);
    ny_lay_matrix(l, NY_MEM_SOLVE, looked, most + 1); /* Ritz pairs */
    inner = ny_layout_mark(l);
    ny_lay_matrix(l, NY_MEM_SOLVE, most, most);
    ny_eigen_top_count(l, most, ny_smaller(looked, most));
    ny_layout_back(l, &inner);
    ny_lay_matrix(l, NY_MEM_SOLVE, most, width);
    ny_tall_turn_count(l, width);
    ny_layout_back(l, &mark);
}

/* ---- the state ------------------------------------------------------------------------------- */

/* Makes V, T, H and the numbers views into the state. */
static void view_state(struct ny_restarted *it)
{
    const struct ny_restarted_shape *shape = &it->how.shape;
    double *at = it->state + head_of(shape);

    it->used = (size_t)it->state[USED];
    it->count = (size_t)it->state[COUNT];
    it->step = (unsigned)it->state[STEP];
    it->converged = (size_t)it->state[CONVERGED];
    it->seeds = (size_t)it->state[SEEDS];
    it->seeded = (unsigned)it->state[SEEDED];
    it->locked = (size_t)(it->state[WAITS] / locked_unit);
    it->waits = (unsigned)(it->state[WAITS] - (double)it->locked * locked_unit);
    it->widest = shape->width;
    it->values = it->state + NUMBERS;
    it->residuals = it->values + shape->pairs;
    it->square = it->residuals + shape->pairs;
    it->before = it->square + 1;
    it->p = it->before + shape->pairs;
    it->shrinkage = it->p + shape->pairs;
    it->T = ny_matrix(at, shape->most, shape->most);
    it->H = ny_matrix(at + shape->most * shape->most, shape->order, it->count);
    it->V = ny_matrix(at + shape->most * shape->most + shape->order * shape->width, shape->order,
                      shape->most);
}

void ny_restarted_save(struct ny_restarted *it)
{
    it->state[USED] = (double)it->used;
    it->state[COUNT] = (double)it->count;
    it->state[STEP] = (double)it->step;
    it->state[CONVERGED] = (double)it->converged;
    it->state[SEEDS] = (double)it->seeds;
    it->state[SEEDED] = it->seeded;
    it->state[WAITS] = it->waits + (double)it->locked * locked_unit;
}

/* The numbers of an image that was stored are not believed. */
static bool fits(const struct ny_restarted_shape *shape, const double *image)
{
    return image[USED] >= 1 && image[USED] <= (double)shape->most && image[COUNT] >= 1 &&
           image[COUNT] <= fmin((double)shape->width, image[USED]) && image[STEP] >= 0 &&
           image[STEP] < 0x1p31 && image[CONVERGED] >= 0 &&
           image[CONVERGED] <= (double)shape->pairs && image[SEEDS] >= 1 &&
           image[SEEDS] <= (double)shape->order && image[SEEDED] >= 0 &&
           image[SEEDED] <= image[STEP] && image[WAITS] >= 0 &&
           image[WAITS] < (double)shape->pairs * locked_unit &&
           image[COUNT] + floor(image[WAITS] / locked_unit) <= image[USED];
}

/* Adds hashed numbers of this size to E, whose directions rounding may have left without any. */
static void disturb(const struct ny_restarted *it, struct ny_matrix E, double size)
{
    enum { AT_ONCE = 64 };
    uint64_t first = (uint64_t)(it->step + 1) * it->how.shape.order * it->how.shape.width;
    double g[AT_ONCE];

    for (size_t i = 0; i < E.rows; i++)
        for (size_t j = 0; j < E.cols; j += AT_ONCE) {
            size_t count = ny_smaller(AT_ONCE, E.cols - j);

            ny_gaussian(it->how.seed, NY_STREAM_RANGE, first + i * it->how.shape.width + j, g,
                        count);
            for (size_t k = 0; k < count; k++)
                E.at[i * E.stride + j + k] += size * g[k];
        }
}

/* Takes what orthonormal columns E have of V out of them; *share: the largest part that was. */
static int remove_basis(const struct ny_restarted *it, struct ny_matrix E, double *share)
{
    struct ny_matrix V = ny_cols(it->V, 0, it->used);
    double *S = ny_alloc(it->ctx, NY_MEM_SOLVE, (it->used + 1) * E.cols * sizeof(double));
    int err = S ? ny_tall_inner(it->ctx, V, E, S) : NY_EBUDGET;

    *share = 0;
    for (size_t i = 0; i < it->used * E.cols && !err; i++)
        *share = fmax(*share, fabs(S[i]));
    if (!err) err = ny_tall_subtract(it->ctx, V, ny_matrix(S, it->used, E.cols), E);
    ny_free(it->ctx, S);
    return err;
}

/* Appends the first columns of E to V, orthonormal to those there; E is in H, which becomes 0. E is
 * off V but for rounding, which grows as its columns get unit length, so that once is enough;
 * columns that are made up, as others depended on one another, may lie in V. */
static int append_block(struct ny_restarted *it, size_t count)
{
    const double much = 0.1;
    struct ny_matrix E = ny_cols(it->H, 0, count);
    double share = 1;
    int err = ny_orthonormalise_lanes(it->ctx, E);

    for (int round = 0; round < ROUNDS && share > much && it->used && !err; round++) {
        err = remove_basis(it, E, &share);
        if (!err) err = ny_orthonormalise_lanes(it->ctx, E);
    }
    if (err) return err;
    ny_copy(E, ny_cols(it->V, it->used, count));
    it->used += count;
    it->count = count;
    it->H = ny_matrix(E.at, E.rows, count);
    memset(it->H.at, 0, E.rows * count * sizeof(double));
    return NY_OK;
}

/* The first block: hashed normal numbers. */
static int begin(struct ny_restarted *it)
{
    it->seeds = it->how.shape.start;
    it->H.cols = it->H.stride = it->seeds;
    memset(it->H.at, 0, it->H.rows * it->seeds * sizeof(double));
    disturb(it, it->H, 1);
    if (it->how.centred) ny_centre_columns(it->H);
    return append_block(it, it->seeds);
}

int ny_restarted_begin(struct ny_restarted *it, struct ny_context *ctx,
                       const struct ny_restarted_how *how, double *state, bool resumed)
{
    const struct ny_restarted_shape *shape = &how->shape;

    *it = (struct ny_restarted){.ctx = ctx, .how = *how, .state = state};
    if (resumed && !fits(shape, state)) return ny_fail_damaged(ctx, NULL, NULL);
    if (!resumed) memset(state, 0, (head_of(shape) + shape->most * shape->most) * sizeof(double));
    view_state(it);
    return resumed ? NY_OK : begin(it);
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* T's columns and rows of the block, VᵀH, which leaves in H what is outside of V. */
static int extend_projection(struct ny_restarted *it)
{
    struct ny_matrix V = ny_cols(it->V, 0, it->used), T = it->T;
    size_t first = it->used - it->count, count = it->count;
    double *S = ny_alloc(it->ctx, NY_MEM_SOLVE, it->used * count * sizeof(double));
    int err = S ? ny_tall_inner(it->ctx, V, it->H, S) : NY_EBUDGET;

    if (!err) err = ny_tall_subtract(it->ctx, V, ny_matrix(S, it->used, count), it->H);
    for (size_t i = 0; i < it->used && !err; i++)
        for (size_t j = 0; j < count; j++) {
            double value = S[i * count + j];

            if (i >= first) value = (value + S[(first + j) * count + (i - first)]) / 2;
            T.at[i * T.stride + first + j] = T.at[(first + j) * T.stride + i] = value;
        }
    ny_free(it->ctx, S);
    return err;
}

/* Returns the columns of the basis that are not locked. */
static size_t free_of(const struct ny_restarted *it)
{
    return it->used - it->locked;
}

/* Returns T without what is locked, on which the others do not depend. */
static struct ny_matrix free_part(const struct ny_restarted *it)
{
    struct ny_matrix T = ny_rows(it->T, it->locked, free_of(it));

    return ny_cols(T, it->locked, T.rows);
}

/* The Ritz pairs behind the `skip` largest values, those that are locked aside: Y's rows are
 * vectors of T. */
static int ritz(const struct ny_restarted *it, size_t skip, size_t count, double *values, double *Y)
{
    struct ny_matrix T = free_part(it), vectors = ny_matrix(Y, count, T.rows);
    double *S = ny_alloc(it->ctx, NY_MEM_SOLVE, T.rows * T.rows * sizeof(double));
    struct ny_matrix copy = ny_matrix(S, T.rows, T.rows);
    int err = NY_EBUDGET;

    if (!S) return err;
    ny_copy(T, copy);
    err = skip ? ny_eigen_dense_behind(it->ctx, copy, skip, count, values, vectors)
               : ny_eigen_top(it->ctx, copy, count, values, vectors);
    ny_free(it->ctx, S);
    return err;
}

/* ‖E y_b‖² of the part y_b of a vector of T that belongs to the last block; R = EᵀE. */
static double residual_of(const struct ny_restarted *it, const double *R, const double *y)
{
    const double *last = y + free_of(it) - it->count;
    double square = 0;

    for (size_t i = 0; i < it->count; i++)
        square += last[i] * ny_dot(R + i * it->count, last, it->count);
    return sqrt(fmax(square, 0));
}

/* Returns the relative error of a value with this residual: `above` is no less than the values that
 * are not wanted; size: to what the error is relative. */
static double error_of(double value, double residual, double above, double size)
{
    double gap = value - above;

    return (gap > 0 ? fmin(residual, residual * residual / gap) : residual) / size;
}

double ny_restarted_floor(const struct ny_restarted *it)
{
    double floor = floor_share * it->values[it->locked];

    return it->locked ? fmax(floor, it->how.reach * it->values[0]) : floor;
}

/* Counts the wanted pairs that are found: all from `bulk` on are. `next` is no less than the values
 * that are not wanted. */
static size_t count_found(const struct ny_restarted *it, size_t pairs, double next, size_t bulk)
{
    size_t found = it->locked;
    bool whole = ny_restarted_is_whole(it);
    double floor = ny_restarted_floor(it);

    for (size_t k = it->locked; k < pairs; k++) {
        double size = fmax(it->values[k], floor);
        bool exact = whole || !(size > 0) || k >= bulk;

        found +=
            exact || error_of(it->values[k], it->residuals[k], next, size) <= it->how.tolerance;
    }
    return found;
}

/* Finds the Ritz pairs and how many of them are good. Y gets `count` vectors of T as rows; R = HᵀH.
 */
static int find_pairs(struct ny_restarted *it, size_t count, double *values, double *Y,
                      const double *R)
{
    size_t wanted = it->how.shape.pairs - it->locked, pairs = ny_smaller(wanted, count);
    size_t bulk = SIZE_MAX;
    double next = 0;
    int err = ritz(it, 0, count, values, Y);

    if (err) return err;
    for (size_t k = 0; k < pairs; k++) {
        it->values[it->locked + k] = values[k];
        it->residuals[it->locked + k] = residual_of(it, R, Y + k * free_of(it));
    }
    if (count > pairs) next = values[pairs] + residual_of(it, R, Y + pairs * free_of(it));
    if (it->how.shape.bulk) {
        ny_restarted_measure_bulk(it, Y, pairs);
        bulk = ny_restarted_bulk(it, it->locked + pairs);
    }
    it->converged = count_found(it, it->locked + pairs, next, bulk);
    it->looked = it->step;
    return NY_OK;
}

/* Returns ‖T‖, which no value that is not locked is above. */
static double size_of(const struct ny_restarted *it)
{
    struct ny_matrix T = free_part(it);
    double square = 0;

    for (size_t i = 0; i < T.rows; i++) {
        const double *row = T.at + i * T.stride;

        square += ny_dot(row, row, T.rows);
    }
    return sqrt(square);
}

/* Tells whether the last of the wanted pairs is surely not found, which takes a third of the work
 * of finding all of them: it is the last to be found of nearly all matrices. */
static int is_open(const struct ny_restarted *it, const double *R, bool *open)
{
    size_t pairs = it->how.shape.pairs, count = it->used > pairs ? 2 : 1;
    double values[2], above = 0, size, *Y;
    int err = NY_EBUDGET;

    *open = it->used < pairs;
    if (*open) return NY_OK;
    Y = ny_alloc(it->ctx, NY_MEM_SOLVE, count * free_of(it) * sizeof(double));
    if (!Y) return err;
    err = ritz(it, pairs - 1 - it->locked, count, values, Y);
    if (!err && count > 1) above = values[1] + residual_of(it, R, Y + free_of(it));
    size = err ? 0 : fmax(values[0], floor_share * size_of(it));
    if (it->locked) size = fmax(size, it->how.reach * it->values[0]);
    *open = size > 0 && error_of(values[0], residual_of(it, R, Y), above, size) > it->how.tolerance;
    ny_free(it->ctx, Y);
    return err;
}

/* V ← what is locked and the first `keep` Ritz vectors; T ← their values. The next block's share of
 * T follows when that is multiplied. */
static int restart(struct ny_restarted *it, size_t keep, const double *values, const double *Y)
{
    size_t rows = free_of(it), locked = it->locked;
    struct ny_matrix V = ny_cols(it->V, locked, rows), turned = ny_cols(it->V, locked, keep);
    double *X = ny_alloc(it->ctx, NY_MEM_SOLVE, rows * keep * sizeof(double));
    int err = NY_EBUDGET;

    if (!X) return err;
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < keep; k++)
            X[i * keep + k] = Y[k * rows + i];
    err = ny_tall_turn(it->ctx, V, ny_matrix(X, rows, keep), turned);
    ny_free(it->ctx, X);
    memset(it->T.at, 0, it->T.rows * it->T.stride * sizeof(double));
    for (size_t k = 0; k < locked + keep; k++)
        it->T.at[k * it->T.stride + k] = k < locked ? it->values[k] : values[k - locked];
    it->used = locked + keep;
    return err;
}

/* Returns how many wanted pairs are surely the largest. Where as many values lie together as the
 * space had hashed columns, more vectors may belong to them than it can tell apart, and would come
 * before the values below. Those that lie further apart are told apart by the powers that find the
 * last of them. */
static size_t count_certain(const struct ny_restarted *it, size_t seeds)
{
    double together = fmin(0.05, fmax(128 * it->how.tolerance, 0x1p-16));
    size_t pairs = it->how.shape.pairs;

    for (size_t k = it->locked; k + seeds < pairs && seeds < it->how.shape.keep; k++) {
        double last = it->values[k + seeds - 1];

        if (last > ny_restarted_floor(it) && it->values[k] - last <= together * last)
            return k + seeds;
    }
    return pairs;
}

/* Appends hashed normal columns to H, which has `count`: new directions for the space, which get as
 * many steps to show their pairs as the ones before took. Returns how many columns there are now.
 */
static size_t widen(struct ny_restarted *it, double size)
{
    size_t count = it->count, order = it->how.shape.order;
    size_t wide = ny_smaller(count + it->how.shape.start, it->widest);

    for (size_t i = order; i-- > 0 && wide > count;) {
        memmove(it->H.at + i * wide, it->H.at + i * count, count * sizeof(double));
        memset(it->H.at + i * wide + count, 0, (wide - count) * sizeof(double));
    }
    it->H = ny_matrix(it->H.at, order, wide);
    disturb(it, ny_cols(it->H, count, wide - count), size > 0 ? size : 1);
    it->seeds += wide - count;
    it->waits = it->step + (it->step - it->seeded);
    it->seeded = it->step;
    return wide;
}

/* Returns how many pairs could be locked, so that smaller ones, which are lost in the rounding of
 * the largest, are found behind them; 0: nothing that is wanted is so small. */
static size_t lockable(const struct ny_restarted *it)
{
    size_t pairs = it->how.shape.pairs, count = it->locked;
    double floor = ny_restarted_floor(it);

    if (!(it->how.reach > 0) || !(it->values[count] > it->how.reach * it->values[0])) return 0;
    while (count < pairs && it->values[count] > floor)
        count++;
    return count < pairs ? count : 0;
}

/* Tells whether the first `count` pairs are exact enough to be locked. A vector that is off by
 * ‖r‖/θ moves values behind it by up to ‖r‖²/θ, which has to be little beside the smallest that
 * can be told; 2⁻⁴⁸ of the largest is the rounding of products. */
static bool are_sharp(const struct ny_restarted *it, size_t count)
{
    double small = it->how.tolerance * it->how.reach / 4 * it->values[0];

    for (size_t k = it->locked; k < count && !ny_restarted_is_whole(it); k++) {
        double r = it->residuals[k];

        if (r * r > small * it->values[k] && r > 0x1p-48 * it->values[0]) return false;
    }
    return true;
}

/* Makes the next block of what is left of H, disturbed where hardly anything is, and with new
 * columns where pairs may be hidden. */
static int next_block(struct ny_restarted *it, const double *R, double largest, bool hidden)
{
    const double lost = 0x1p-45;
    size_t left = it->how.shape.order - it->used, count = ny_smaller(it->count, left);
    double least = count < it->count ? 0 : INFINITY; /* any vectors complete the space */

    for (size_t j = 0; j < count; j++)
        least = fmin(least, R[j * it->count + j]);
    if (!(sqrt(least) > lost * largest)) disturb(it, it->H, largest > 0 ? lost * largest : 1);
    if (hidden) count = ny_smaller(widen(it, largest), left);
    if (it->how.centred) ny_centre_columns(it->H);
    return append_block(it, count);
}

/* Makes the last `count` columns of the basis the block that is to be multiplied. */
static void multiply_anew(struct ny_restarted *it, size_t count)
{
    size_t first = it->used - count;

    for (size_t i = first; i < it->used; i++)
        memset(it->T.at + i * it->T.stride, 0, it->used * sizeof(double));
    it->count = count;
    it->H = ny_matrix(it->H.at, it->H.rows, count);
    memset(it->H.at, 0, it->H.rows * count * sizeof(double));
}

/* Locks the first `count` pairs, and begins anew with the next Ritz vectors as the first block. */
static int lock(struct ny_restarted *it, size_t count, const double *values, const double *Y)
{
    size_t most = ny_smaller(it->how.shape.width, ny_smaller(it->used, count + it->widest));
    int err = restart(it, most - it->locked, values, Y);

    it->locked = count;
    multiply_anew(it, most - count);
    return err;
}

/* Takes the Ritz pairs as they are: *done; or a restart where the basis is full or pairs are
 * locked, and *hidden: pairs may be that the space does not show. */
static int look(struct ny_restarted *it, const double *R, bool *done, bool *hidden)
{
    const struct ny_restarted_shape *shape = &it->how.shape;
    size_t count = ny_smaller(looked_at(shape), it->used) - it->locked, certain = shape->pairs;
    size_t locks = 0;
    double *values = ny_alloc(it->ctx, NY_MEM_SOLVE, count * (1 + free_of(it)) * sizeof(double));
    double *Y = values ? values + count : NULL;
    int err = values ? find_pairs(it, count, values, Y, R) : NY_EBUDGET;
    bool waits = it->step < it->waits, full;

    if (err) goto done;
    if (it->used < shape->order)
        certain = count_certain(it, waits ? it->seeds - shape->start : it->seeds);
    *done = it->used == shape->order || it->step >= it->how.steps_most ||
            (it->converged == shape->pairs && certain == shape->pairs);
    if (*done) it->converged = ny_smaller(it->converged, certain);
    *hidden = it->converged == shape->pairs && !waits && !*done;
    if (*done && it->step < it->how.steps_most) locks = lockable(it);
    *done = *done && !locks;
    if (locks && !are_sharp(it, locks)) locks = 0;
    full =
        it->used + (*hidden ? shape->width : it->count) > shape->most && shape->most < shape->order;
    if (locks)
        err = lock(it, locks, values, Y);
    else if (*done)
        err = restart(it, ny_smaller(shape->width, it->used) - it->locked, values, Y);
    else if (full)
        err = restart(it, shape->keep - it->locked, values, Y);
done:
    ny_free(it->ctx, values);
    return err;
}

int ny_restarted_next(struct ny_restarted *it, bool *done)
{
    const struct ny_restarted_shape *shape = &it->how.shape;
    double *R = ny_alloc(it->ctx, NY_MEM_SOLVE, it->count * it->count * sizeof(double));
    int err = R ? extend_projection(it) : NY_EBUDGET;
    bool open = false, hidden = false;
    size_t locked = 0;
    double size = 0;

    *done = false;
    if (!err) err = ny_tall_inner(it->ctx, it->H, it->H, R);
    if (err) goto done;
    it->step++;
    size = size_of(it);
    if (it->used + it->count <= shape->most && it->used < shape->order &&
        it->step < it->how.steps_most && !shape->bulk)
        err = is_open(it, R, &open);
    locked = it->locked;
    if (!err && !open) err = look(it, R, done, &hidden);
    if (!err && !*done && it->locked == locked) err = next_block(it, R, size, hidden);
done:
    ny_free(it->ctx, R);
    return err;
}

void ny_restarted_vectors(const struct ny_restarted *it, struct ny_matrix X)
{
    size_t pairs = ny_smaller(X.cols, it->used);

    for (size_t i = 0; i < X.rows; i++) {
        memcpy(X.at + i * X.stride, it->V.at + i * it->V.stride, pairs * sizeof(double));
        memset(X.at + i * X.stride + pairs, 0, (X.cols - pairs) * sizeof(double));
    }
}

void ny_restarted_refine(struct ny_restarted *it, size_t widest)
{
    it->widest = widest;
    it->used = ny_smaller(it->used, widest);
    it->locked = it->converged = 0;
    multiply_anew(it, it->used);
}
