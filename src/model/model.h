/*
 * The model: all that placing a point needs — the kernel with its frozen width, the geometry, the
 * landmarks, the shift a, and the map (P, q): y = ((c − a)P + q), divided by √d = √(c·v) where the
 * kernel is, and what makes coordinates of it.
 */
#ifndef NY_MODEL_MODEL_H
#define NY_MODEL_MODEL_H

#include "base/traits.h"
#include "job/keep.h"
#include "model/coordinates.h"
#include "model/degrees.h"
#include "model/map.h"
#include "job/record.h"

/* How rows of the fit lie about what the model explains, as place/drift.c has learnt it from some
 * of them. */
struct ny_fitted_rows {
    bool by_variance; /* what is explained is their variance, by the linear kernel or cosine; only
                       * where the result of the fit has opened the model */
    double *mean;     /* then μ of the features, d numbers; NULL: 0, or centred as they are read */
    double *spread;   /* and Σy²/n along each component, p numbers */
    double *shrinkage; /* of genotypes: what coordinates of new rows are of those of the fit, p
                        * numbers; 0: along a component of noise; NULL: not known */
    double whole;      /* the mean of ‖φ − μ‖², or of k(x,x) */
    double share;      /* the share of it that is left out */
    uint64_t rows;     /* of the fit; 0: not known */
    size_t count;      /* of them, that were looked at; 0: nothing is learnt */
    double *figure;    /* of each, what is left out, ascending; of variance as many along, too */
};

struct ny_model {
    struct ny_layout own;
    struct ny_context *ctx;
    struct ny_columns_spec spec; /* kernel, params, geometry (owned), dtype of the landmarks */
    size_t m, d, p;              /* p: eigenpairs, columns of P */
    enum ny_precision precision;
    const struct ny_map *map;     /* NULL: not known, of models of 1.0 */
    void *landmarks;              /* m raw rows; NULL: none, or they are sparse */
    struct ny_sparse_list sparse; /* then these */
    double *a;                    /* shift, m */
    double *P;                    /* m × p */
    double *q;                    /* p */
    struct ny_degrees degrees;    /* v = NULL: the kernel is not divided */
    struct ny_coordinates coordinates;
    struct ny_names columns; /* their names, of a model outside of its store; none: count 0 */
    double *found; /* NY_FOUND numbers of the fit: its p eigenvalues, their errors, the standard
                    * errors of these, and the trace error; NaN: not known; NULL: none is */
    struct ny_fitted_rows fitted;
    void *image; /* of ny_model_image(); NULL until it is asked for */
    /* Kept from one call that places few rows to the next, and freed with the model. */
    void *few_rows;
    void (*few_rows_free)(struct ny_model *model);
};

/* The parts of a model to be made. Nothing is taken over: arrays are copied. */
struct ny_model_parts {
    const struct ny_columns_spec *spec;
    enum ny_precision precision;
    size_t m, p;
    const struct ny_map *map;
    struct ny_raw_rows landmarks;
    const double *a, *P, *q;
    const double *scale; /* p: column k of P and q_k are multiplied by scale[k]; NULL: 1 */
    const struct ny_degrees *degrees; /* NULL: not divided */
    const struct ny_coordinates *coordinates;
};
/* Makes a model from copies of the parts; ny_model_free() it. */
int ny_model_new(struct ny_model **out, const struct ny_model_parts *parts);

/* Returns what its rows have in common; `whose` names the model in messages, and is borrowed. */
struct ny_party ny_model_party(const struct ny_model *model, const char *whose);
/* Reads the names of columns, one for each, of an image; `bytes` 0: there are none. NY_ESTORE. */
int ny_model_names_load(struct ny_model *model, const char *text, size_t bytes, const char *where);
/* How many numbers a model of p pairs has of what its fit has found. */
#define NY_FOUND(p) (3 * (p) + 1)
/* Takes the errors of the fit from its report into the model, whose image then has them: in steps
 * of 10⁻⁶, so that images of shards have the bytes of one store. NY_EBUDGET. */
int ny_model_take_errors(struct ny_model *model, struct ny_record record);
/* The figures of pairs among them, in this order. */
enum ny_found { NY_FOUND_VALUES, NY_FOUND_ERRORS, NY_FOUND_ERRORS_SE };
/* Returns the share of the trace that the fit has left out; NaN: not known. */
double ny_model_trace_error(const struct ny_model *model);
/* Puts the columns of the model in another order: column j is the one that was place[j], with the
 * names of the caller. */
int ny_model_turn(struct ny_model *model, const uint32_t *place, const struct ny_names *names);

/* Returns the landmarks, which stay the model's. */
static inline struct ny_raw_rows ny_model_rows(const struct ny_model *model)
{
    return (struct ny_raw_rows){model->landmarks, model->sparse.row};
}

/* Every image begins with this. */
#define NY_MODEL_MAGIC "nystream model\n"
/* Fails with NY_ESTORE: `where` names what is not a model. */
int ny_model_foreign(struct ny_context *ctx, const char *where);
/* Writes the image, and returns its bytes: header, arrays, checksum of all before it; NULL: it is
 * not written. Its numbers are as in memory, on machines that are little-endian. */
size_t ny_model_save(const struct ny_model *model, void *image);
/* Makes a model from its image. NY_ESTORE when that is no model, of another version, cut short or
 * damaged; `where` names it. */
int ny_model_read(struct ny_model **out, struct ny_context *ctx, const void *image, size_t bytes,
                  const char *where);

/* Loads the model of a finished result, whose record this is, or fails with NY_EUSAGE if it has
 * none. *out is NULL after an error. */
int ny_model_of_record(struct ny_model **out, const struct ny_keep *keep, struct ny_record record);

/* Returns the spec of the model's landmarks and of rows of `dtype` (NY_DTYPE_NONE: the model's
 * own), records of so many slots. */
struct ny_columns_spec ny_model_spec(const struct ny_model *model, enum ny_dtype dtype,
                                     size_t slots);
/* Makes columns with the model's landmarks and shift, for raw rows of `dtype`, to which the
 * landmarks are widened; NY_DTYPE_NONE: the landmarks' own. For a sparse model, records have
 * `slots`, at least the model's own; 0: the model's. */
int ny_model_columns(const struct ny_model *model, enum ny_dtype dtype, size_t slots,
                     struct ny_columns **out);

#endif
