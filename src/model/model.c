/*
 * The model of a result in memory, and its image: what part "model" holds, and what `export --part
 * model` writes.
 *
 * Stage solve makes a model and saves it; transform, stage project and updates load it. The image
 * is a header that says all sizes, the arrays, the landmarks, and an XXH3 checksum of what is
 * before it. Version 2 is written for dense landmarks, 3 for sparse ones, 4 and 5 where new rows
 * are to be prepared (base/prepare.h), 6 to 9 are these with the names of the columns, which a
 * model has outside of its store, and 10 to 17 all of these with the errors of the fit, which it
 * has there, too. 1, which has no struct image_map, can still be read.
 *
 * An image may come from anywhere, and its checksum may be right. So the sizes of the header must
 * add up to the length of the image, without overflow, before anything is allocated for them
 * (sizes_agree()), and sparse landmarks are checked as they are unpacked.
 */
#include "model/model.h"

#include <string.h>

#include "base/checksum.h"
#include "model/model_sparse.h"

/* Models of sparse landmarks have a version of their own, and those of prepared rows two more. */
enum {
    IMAGE_VERSION = 2,
    SPARSE_VERSION = 3,
    PREPARED_VERSION = 4,
    PREPARED_SPARSE_VERSION = 5,
    NAMED = 4, /* is added where columns have names */
    FOUND = 8, /* and this where the errors of the fit are known */
    LAST_VERSION = PREPARED_SPARSE_VERSION + NAMED + FOUND,
    CHECKSUM_BYTES = 8,
    KERNEL_NAME_BYTES = 32
};

/* The image begins with this, and from version 2 on with image_map, from 4 on
 * with a struct ny_prepared; then, if columns have names, their bytes (u64) and they themselves,
 * padded to 8 bytes; then centre[d], factor[d],
 * a[m], P[m·p], q[p], where the kernel is divided v[m], where coordinates are scaled their factors,
 * where errors are known NY_FOUND numbers, all f64, the raw landmarks (sparse:
 * model/model_sparse.h), padding to 8 bytes, the checksum. */
struct image_header {
    char magic[16];
    uint32_t version, dtype, precision, second;
    uint64_t m, d, p;
    double gamma, first;
    char kernel[KERNEL_NAME_BYTES];
};

/* Says how coordinates are made from the map, and which optional arrays follow. Version 1 counts
 * as one of zeros. */
struct image_map {
    uint32_t divided, skip, asymmetric, normalize, scaled, map; /* a code below */
    double mean_degree;
};

/* The maps by their codes in images, which never change. Those of 1.0 have 0. */
static const struct ny_map *const coded_maps[] = {
    NULL, &ny_map_svd, &ny_map_pca, &ny_map_kpca, &ny_map_laplacian, &ny_map_diffusion};
enum { CODED_MAPS = sizeof(coded_maps) / sizeof(coded_maps[0]) };

static uint32_t code_of(const struct ny_map *map)
{
    uint32_t code = CODED_MAPS;

    while (--code && coded_maps[code] != map)
        ;
    return code;
}

/* The parts of an image that describe it. */
struct image_parts {
    struct image_header header;
    struct image_map map;
    struct ny_prepared preparation;
    struct ny_sparse_image sparse; /* slots 0: dense landmarks */
    bool named, found;
    uint64_t name_bytes;
};

/* Returns the bytes before the names, or the arrays, of an image of this version without names. */
static size_t head_bytes(uint32_t version)
{
    return sizeof(struct image_header) + (version > 1 ? sizeof(struct image_map) : 0) +
           (version >= PREPARED_VERSION ? sizeof(struct ny_prepared) : 0);
}

static bool is_sparse(uint32_t version)
{
    return version == SPARSE_VERSION || version == PREPARED_SPARSE_VERSION;
}

/* Returns the version of the image of a model with these rows. */
static uint32_t version_of(const struct ny_columns_spec *spec)
{
    if (ny_prepares(&spec->preparation))
        return spec->slots ? PREPARED_SPARSE_VERSION : PREPARED_VERSION;
    return spec->slots ? SPARSE_VERSION : IMAGE_VERSION;
}

/* Returns the bytes that names of so many bytes take; 0: there are none. */
static size_t names_bytes(uint64_t bytes)
{
    return bytes ? sizeof(uint64_t) + ny_padded(bytes) : 0;
}

void ny_model_free(struct ny_model *model)
{
    if (!model) return;
    ny_names_release(&model->columns, model->ctx);
    if (model->few_rows) model->few_rows_free(model);
    ny_geometry_free((struct ny_geometry *)model->spec.geometry, model->ctx);
    ny_layout_free(&model->own);
    ny_sparse_list_release(&model->sparse, model->ctx);
    ny_free(model->ctx, model->image);
    ny_free(model->ctx, model->fitted.mean);
    ny_free(model->ctx, model->fitted.spread);
    ny_free(model->ctx, model->fitted.shrinkage);
    ny_free(model->ctx, model->fitted.figure);
    ny_degrees_release(&model->degrees, model->ctx);
    ny_coordinates_release(&model->coordinates, model->ctx);
    ny_free(model->ctx, model);
}

uint64_t ny_model_dimensions(const struct ny_model *model)
{
    return model ? model->d : 0;
}

uint64_t ny_model_components(const struct ny_model *model)
{
    return model ? ny_coordinates_count(&model->coordinates) : 0;
}

/* Returns the landmarks that are rows: none of a kernel whose landmark j is e_j. */
static size_t landmark_rows(const struct ny_model *model)
{
    return model->spec.kernel->base == NY_BASE_COORDINATE ? 0 : model->m;
}

/* Returns the bytes of dense landmarks. */
static size_t landmark_bytes(const struct ny_model *model)
{
    if (model->spec.slots) return 0;
    return landmark_rows(model) * ny_row_bytes(model->spec.dtype, model->d, 0);
}

/* A model of the sizes in *sizes, arrays uninitialised; of v, the coordinates' factors and what is
 * found it is asked whether they are there. */
static int allocate(struct ny_model **out, const struct ny_model *sizes)
{
    bool divided = sizes->degrees.v, scaled = sizes->coordinates.scale;
    struct ny_context *ctx = sizes->ctx;
    struct ny_model *model = ny_calloc(ctx, NY_MEM_MODEL, 1, sizeof(*model));
    struct ny_layout *l = &model->own;
    size_t m = sizes->m, row_bytes = ny_row_bytes(sizes->spec.dtype, sizes->d, 0);

    *out = model;
    if (!model) return NY_EBUDGET;
    *model = *sizes;
    l->ctx = ctx;
    model->spec.geometry = NULL;
    model->degrees.v = NULL;
    model->coordinates.scale = NULL;
    if (sizes->found) model->found = ny_lay(l, NY_MEM_MODEL, NY_FOUND(model->p), sizeof(double));
    if (landmark_bytes(model))
        model->landmarks = ny_lay(l, NY_MEM_MODEL, landmark_rows(model), row_bytes);
    model->a = ny_lay(l, NY_MEM_MODEL, m, sizeof(double));
    model->P = ny_lay(l, NY_MEM_MODEL, m, model->p * sizeof(double));
    model->q = ny_lay(l, NY_MEM_MODEL, model->p, sizeof(double));
    if (l->err) return l->err;
    if (divided) model->degrees.v = ny_alloc(ctx, NY_MEM_MODEL, m * sizeof(double));
    if (scaled)
        model->coordinates.scale =
            ny_alloc(ctx, NY_MEM_MODEL, ny_coordinates_count(&model->coordinates) * sizeof(double));
    return (divided && !model->degrees.v) || (scaled && !model->coordinates.scale) ? NY_EBUDGET
                                                                                   : NY_OK;
}

/* Copies the landmarks of a sparse model. */
static int copy_sparse(struct ny_model *model, struct ny_raw_rows landmarks)
{
    size_t m = model->spec.slots ? landmark_rows(model) : 0, bytes = 0;
    struct ny_sparse_room room;
    int err;

    model->spec.values = model->spec.unit_values = 0; /* the points have their own */
    for (size_t i = 0; i < m; i++)
        model->spec.values += ny_sparse_row(&model->spec, landmarks, i).count;
    if (!m) return NY_OK;
    for (size_t i = 0; i < m; i++)
        bytes +=
            ny_sparse_bytes(model->spec.dtype, ny_sparse_row(&model->spec, landmarks, i).count);
    err = ny_sparse_list_extend(&model->sparse, model->ctx, NY_MEM_MODEL, m, bytes, &room);
    for (size_t i = 0; !err && i < m; i++)
        (void)ny_sparse_room_put(&room, model->spec.dtype,
                                 ny_sparse_row(&model->spec, landmarks, i), &model->sparse.row[i]);
    return err;
}

int ny_model_new(struct ny_model **out, const struct ny_model_parts *parts)
{
    const struct ny_geometry *given = parts->spec->geometry;
    struct ny_model sizes = {.ctx = parts->spec->ctx,
                             .spec = *parts->spec,
                             .m = parts->m,
                             .d = given->d,
                             .p = parts->p,
                             .map = parts->map,
                             .precision = parts->precision,
                             .coordinates = *parts->coordinates};
    struct ny_model *model = NULL;
    struct ny_geometry *geometry;
    int err;

    *out = NULL;
    if (parts->degrees) sizes.degrees = *parts->degrees;
    err = allocate(&model, &sizes);
    if (err) goto done;
    err = ny_geometry_copy(&geometry, sizes.ctx, given->centre, given->factor, given->d);
    if (err) goto done;
    model->spec.geometry = geometry;
    if (model->landmarks) memcpy(model->landmarks, parts->landmarks.at, landmark_bytes(model));
    err = copy_sparse(model, parts->landmarks);
    if (err) goto done;
    memcpy(model->a, parts->a, model->m * sizeof(double));
    for (size_t k = 0; k < model->p; k++)
        model->q[k] = parts->q[k] * (parts->scale ? parts->scale[k] : 1);
    for (size_t i = 0; i < model->m; i++)
        for (size_t k = 0; k < model->p; k++)
            model->P[i * model->p + k] =
                parts->P[i * model->p + k] * (parts->scale ? parts->scale[k] : 1);
    if (model->degrees.v) memcpy(model->degrees.v, parts->degrees->v, model->m * sizeof(double));
    if (model->coordinates.scale)
        memcpy(model->coordinates.scale, parts->coordinates->scale,
               ny_coordinates_count(&model->coordinates) * sizeof(double));
    *out = model;
    model = NULL;
done:
    ny_model_free(model);
    return err;
}

/* Writes or reads the arrays of the model at `at`, in the order of the format. */
typedef void *copy_fn(void *image, void *array, size_t bytes);

/* Copies an array of the model into the image; from_image() copies the other way. */
static void *to_image(void *image, void *array, size_t bytes)
{
    return memcpy(image, array, bytes);
}

static void *from_image(void *image, void *array, size_t bytes)
{
    return memcpy(array, image, bytes);
}

/* Copies all but sparse landmarks, which are to follow, and returns the bytes; NULL: it only counts
 * them. */
static size_t copy_arrays(const struct ny_model *model, char *at, copy_fn *copy)
{
    const struct ny_geometry *geometry = model->spec.geometry;
    size_t bytes = 0;
    struct {
        void *array;
        size_t bytes;
    } arrays[] = {
        {geometry ? geometry->centre : NULL, model->d * sizeof(double)},
        {geometry ? geometry->factor : NULL, model->d * sizeof(double)},
        {model->a, model->m * sizeof(double)},
        {model->P, model->m * model->p * sizeof(double)},
        {model->q, model->p * sizeof(double)},
        {model->degrees.v, model->degrees.v ? model->m * sizeof(double) : 0},
        {model->coordinates.scale,
         model->coordinates.scale ? ny_coordinates_count(&model->coordinates) * sizeof(double) : 0},
        {model->found, model->found ? NY_FOUND(model->p) * sizeof(double) : 0},
        {model->landmarks, model->landmarks ? landmark_bytes(model) : 0}};

    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
        if (copy && arrays[i].bytes) copy(at + bytes, arrays[i].array, arrays[i].bytes);
        bytes += arrays[i].bytes;
    }
    return bytes;
}

size_t ny_model_save(const struct ny_model *model, void *image)
{
    struct image_header header = {.magic = NY_MODEL_MAGIC,
                                  .version = version_of(&model->spec),
                                  .dtype = (uint32_t)model->spec.dtype,
                                  .precision = (uint32_t)model->precision,
                                  .second = (uint32_t)model->spec.params.second,
                                  .m = model->m,
                                  .d = model->d,
                                  .p = model->p,
                                  .gamma = model->spec.params.gamma,
                                  .first = model->spec.params.first};
    struct image_map map = {.divided = model->degrees.v != NULL,
                            .skip = (uint32_t)model->coordinates.skip,
                            .asymmetric = model->coordinates.asymmetric,
                            .normalize = model->coordinates.normalize,
                            .scaled = model->coordinates.scale != NULL,
                            .map = code_of(model->map),
                            .mean_degree = model->degrees.mean};
    struct ny_sparse_image sparse = ny_sparse_image_of(&model->spec, &model->sparse, model->d);
    uint64_t checksum, text = model->columns.bytes;
    size_t head = head_bytes(header.version), names = names_bytes(text);
    size_t bytes = head + names + ny_padded(copy_arrays(model, NULL, NULL)) +
                   (sparse.slots ? ny_sparse_image_bytes(&sparse) : 0) + CHECKSUM_BYTES;
    char *after = image;

    if (!image) return bytes;
    memset(image, 0, bytes);
    after += head;
    strncpy(header.kernel, model->spec.kernel->name, KERNEL_NAME_BYTES - 1);
    if (text) {
        header.version += NAMED;
        memcpy(after, &text, sizeof(text));
        memcpy(after + sizeof(text), model->columns.text, text);
    }
    if (model->found) header.version += FOUND;
    memcpy(image, &header, sizeof(header));
    memcpy((char *)image + sizeof(header), &map, sizeof(map));
    if (ny_prepares(&model->spec.preparation))
        memcpy((char *)image + sizeof(header) + sizeof(map), &model->spec.preparation,
               sizeof(model->spec.preparation));
    after += names;
    after += copy_arrays(model, after, to_image);
    if (sparse.slots) ny_sparse_image_save(&sparse, &model->sparse, after);
    checksum = ny_checksum(image, bytes - CHECKSUM_BYTES);
    memcpy((char *)image + bytes - CHECKSUM_BYTES, &checksum, CHECKSUM_BYTES);
    return bytes;
}

/* Landmarks that are no rows stand for the columns of the points, one each. */
static bool shape_fits(const struct image_header *header)
{
    const struct ny_kernel *kernel = ny_kernel_find(header->kernel);
    bool given = kernel && (kernel->base == NY_BASE_COORDINATE || kernel->base == NY_BASE_GIVEN);

    if (!given) return true;
    return header->m == header->d && (!is_sparse(header->version) || kernel->features);
}

/* Returns the sizes to allocate; arrays that the image has point to `present`. */
static struct ny_model sizes_of(const struct image_parts *parts, struct ny_context *ctx,
                                double *present)
{
    const struct image_header *header = &parts->header;
    const struct image_map *map = &parts->map;

    return (struct ny_model){
        .ctx = ctx,
        .m = header->m,
        .d = header->d,
        .p = header->p,
        .map = map->map < CODED_MAPS ? coded_maps[map->map] : NULL,
        .precision = (enum ny_precision)header->precision,
        .found = parts->found ? present : NULL,
        .spec = {.ctx = ctx,
                 .kernel = ny_kernel_find(header->kernel),
                 .params = {header->gamma, header->first, header->second},
                 .dtype = (enum ny_dtype)header->dtype,
                 .slots = parts->sparse.slots,
                 .values = parts->sparse.nnz,
                 .preparation = parts->preparation},
        .degrees = {.m = header->m, .v = map->divided ? present : NULL, .mean = map->mean_degree},
        .coordinates = {.pairs = header->p,
                        .skip = map->skip,
                        .asymmetric = map->asymmetric,
                        .normalize = map->normalize,
                        .scale = map->scaled ? present : NULL}};
}

/* The header's sizes agree with the length of the image, without overflow; fills parts->sparse. */
static bool sizes_agree(struct image_parts *parts, const char *image, size_t bytes)
{
    const struct image_header *header = &parts->header;
    const struct image_map *map = &parts->map;
    struct ny_model sizes;
    double present;
    size_t entries, raw, total;
    bool none; /* no landmark is a row */

    if (header->dtype < NY_U8 || header->dtype > NY_GENOTYPE || !header->m || !header->d ||
        !header->p || header->precision > NY_PRECISION_F64 || map->skip > 1 ||
        !shape_fits(header) || !ny_prepared_plausible(&parts->preparation) ||
        ny_prepares(&parts->preparation) != (header->version >= PREPARED_VERSION))
        return false;
    if (__builtin_mul_overflow(header->m, header->p, &entries) ||
        __builtin_mul_overflow(header->m, header->d, &raw) || entries > bytes ||
        header->d > bytes || header->m > bytes || header->p > bytes || map->skip >= header->p)
        return false;
    sizes = sizes_of(parts, NULL, &present);
    total = head_bytes(header->version) + names_bytes(parts->name_bytes) + CHECKSUM_BYTES +
            copy_arrays(&sizes, NULL, NULL);
    none = sizes.spec.kernel && sizes.spec.kernel->base == NY_BASE_COORDINATE;
    if (none) raw = 0;
    if (parts->name_bytes > bytes) return false;
    if (!is_sparse(header->version) && raw > bytes) return false;
    if (is_sparse(header->version)) {
        parts->sparse = (struct ny_sparse_image){
            .m = none ? 0 : header->m, .d = header->d, .dtype = (enum ny_dtype)header->dtype};
        return total <= bytes &&
               ny_sparse_image_open(&parts->sparse, image + total - CHECKSUM_BYTES, bytes - total);
    }
    return total + ny_padded(raw * ny_dtype_size((enum ny_dtype)header->dtype)) == bytes;
}

int ny_model_foreign(struct ny_context *ctx, const char *where)
{
    return ny_fail(ctx, NY_ESTORE,
                   "%s is not a model of nystream; make one with "
                   "'nystream export STORE NAME --part model -o MODEL.nym'",
                   where);
}

/* Checks magic, version, checksum and sizes, in this order, and fills `parts`. */
static int check_image(struct ny_context *ctx, const void *image, size_t bytes, const char *where,
                       struct image_parts *parts)
{
    struct image_header *header = &parts->header;
    uint64_t checksum;

    if (bytes < sizeof(*header) + CHECKSUM_BYTES ||
        memcmp(image, NY_MODEL_MAGIC, sizeof(NY_MODEL_MAGIC) - 1) != 0)
        return ny_model_foreign(ctx, where);
    memcpy(header, image, sizeof(*header));
    header->kernel[KERNEL_NAME_BYTES - 1] = '\0';
    if (header->version < 1 || header->version > LAST_VERSION)
        return ny_fail(ctx, NY_ESTORE,
                       "%s is a model of version %u; this nystream %s reads "
                       "versions up to %d",
                       where, header->version, ny_version(), LAST_VERSION);
    parts->found = header->version > PREPARED_SPARSE_VERSION + NAMED;
    if (parts->found) header->version -= FOUND;
    parts->named = header->version > PREPARED_SPARSE_VERSION;
    if (parts->named) header->version -= NAMED;
    parts->map = (struct image_map){0};
    if (bytes >= head_bytes(header->version) && header->version > 1)
        memcpy(&parts->map, (const char *)image + sizeof(*header), sizeof(parts->map));
    parts->preparation = (struct ny_prepared){0};
    if (bytes >= head_bytes(header->version) && header->version >= PREPARED_VERSION)
        memcpy(&parts->preparation, (const char *)image + sizeof(*header) + sizeof(parts->map),
               sizeof(parts->preparation));
    if (parts->named && bytes >= head_bytes(header->version) + sizeof(parts->name_bytes))
        memcpy(&parts->name_bytes, (const char *)image + head_bytes(header->version),
               sizeof(parts->name_bytes));
    memcpy(&checksum, (const char *)image + bytes - CHECKSUM_BYTES, CHECKSUM_BYTES);
    if (checksum != ny_checksum(image, bytes - CHECKSUM_BYTES) ||
        !parts->named != !parts->name_bytes || !sizes_agree(parts, image, bytes))
        return ny_fail(ctx, NY_ESTORE,
                       "%s is a damaged model (%zu bytes, checksum or sizes do not "
                       "agree); export it again",
                       where, bytes);
    return NY_OK;
}

/* Reads the landmarks of a sparse model from its image. */
static int load_sparse(struct ny_model *model, const struct ny_sparse_image *image, const char *at,
                       const char *where)
{
    const size_t padding = 2 * sizeof(uint64_t), value = ny_dtype_size(image->dtype);
    struct ny_sparse_room room;
    int err = NY_OK;

    if (image->m) /* with room for all that there may be, as counts are not believed yet */
        err = ny_sparse_list_extend(&model->sparse, model->ctx, NY_MEM_MODEL, image->m,
                                    image->m * padding + image->nnz * (sizeof(uint32_t) + value),
                                    &room);
    if (err || ny_sparse_image_load(image, at, &room, model->sparse.row)) return err;
    return ny_fail(model->ctx, NY_ESTORE, "the landmarks of %s are invalid; export the model again",
                   where);
}

int ny_model_read(struct ny_model **out, struct ny_context *ctx, const void *image, size_t bytes,
                  const char *where)
{
    struct image_parts parts = {0};
    double present;
    struct ny_model sizes, *model = NULL;
    struct ny_geometry *geometry;
    const double *arrays;
    const char *after;
    int err;

    *out = NULL;
    err = check_image(ctx, image, bytes, where, &parts);
    if (err) goto done;
    sizes = sizes_of(&parts, ctx, &present);
    if (!sizes.spec.kernel) {
        err =
            ny_fail(ctx, NY_ESTORE, "%s uses the kernel '%s', which this nystream %s does not have",
                    where, parts.header.kernel, ny_version());
        goto done;
    }
    err = allocate(&model, &sizes);
    if (err) goto done;
    after = (const char *)image + head_bytes(parts.header.version);
    err = ny_model_names_load(model, after + sizeof(uint64_t), parts.name_bytes, where);
    if (err) goto done;
    after += names_bytes(parts.name_bytes);
    arrays = (const double *)(const void *)after;
    err = ny_geometry_copy(&geometry, ctx, arrays, arrays + sizes.d, sizes.d);
    if (err) goto done;
    model->spec.geometry = geometry;
    after += copy_arrays(model, (char *)image + (after - (const char *)image), from_image);
    if (parts.sparse.slots) err = load_sparse(model, &parts.sparse, after, where);
    if (err) goto done;
    *out = model;
    model = NULL;
done:
    ny_model_free(model);
    return err;
}
