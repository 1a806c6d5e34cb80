/* Texts in an HDF5 file (hdf5_file.h), such as names of cells and genes, read some at a time. */
#include <string.h>

#include "base/names.h"
#include "hdf5_file.h"

#define ULL(x) ((unsigned long long)(x))

enum { BAND_TEXTS = 4096 };

/* Takes the type of the texts, which it is of, or closes the dataset. */
static void take(struct hdf5_texts *texts, hid_t type)
{
    if (type < 0 || H5Tget_class(type) != H5T_STRING) {
        if (type >= 0) H5Tclose(type);
        H5Oclose(texts->at.id);
        return;
    }
    texts->id = texts->at.id;
    texts->at.type = type;
    texts->variable = H5Tis_variable_str(type) > 0;
}

void hdf5_open_texts(const struct hdf5_file *f, const char *group, const char *name,
                     struct hdf5_texts *texts)
{
    char path[600];
    hid_t space;

    *texts = (struct hdf5_texts){.id = -1};
    snprintf(path, sizeof path, "%.290s/%.290s", group, name);
    texts->at.id = H5Oopen(f->id, path, H5P_DEFAULT); /* also below a folder that is not there */
    if (texts->at.id >= 0 && H5Iget_type(texts->at.id) == H5I_GROUP) { /* texts may be missing */
        H5Oclose(texts->at.id);
        snprintf(path, sizeof path, "%.290s/%.290s/values", group, name);
        texts->at.id = H5Oopen(f->id, path, H5P_DEFAULT);
    }
    if (texts->at.id < 0) return;
    take(texts, H5Iget_type(texts->at.id) == H5I_DATASET ? H5Dget_type(texts->at.id) : -1);
    if (texts->id < 0) return;
    space = H5Dget_space(texts->id);
    texts->at.rank = H5Sget_simple_extent_dims(space, texts->at.sizes, NULL);
    H5Sclose(space);
}

void hdf5_open_index(const struct hdf5_file *f, const char *table, struct hdf5_texts *texts)
{
    char name[256] = "";
    hid_t group = H5Oopen(f->id, table, H5P_DEFAULT), type;

    *texts = (struct hdf5_texts){.id = -1};
    if (group < 0) return;
    type = hdf5_open_field(f, table, NULL, &texts->at);
    if (type >= 0) take(texts, type);
    if (H5Iget_type(group) == H5I_GROUP) hdf5_attribute_text(group, "_index", name, sizeof name);
    if (H5Iget_type(group) == H5I_GROUP && !name[0]) snprintf(name, sizeof name, "_index");
    H5Oclose(group);
    if (name[0]) hdf5_open_texts(f, table, name, texts);
}

void hdf5_check_texts(const struct hdf5_file *f, const struct hdf5_texts *texts, uint64_t count,
                      const char *what)
{
    size_t bytes;

    if (texts->id < 0) return;
    if (texts->at.rank != 1 || texts->at.sizes[0] != count)
        tool_fail(NY_EDATA, "%s: the names of %s are not one for each of the %llu %s of %s.",
                  f->path, what, ULL(count), what, f->name);
    bytes = H5Tget_size(texts->at.type);
    if (!texts->variable && bytes > NY_NAME_BYTES_MAX)
        tool_fail(NY_EDATA, "%s: the names of %s take %zu bytes each; a name has %d at most.",
                  f->path, what, bytes, NY_NAME_BYTES_MAX);
    hdf5_check_storage(f, &texts->at, what);
}

/* Length of a text of fixed size, which is filled up with zeros or blanks. */
static size_t length_of(const char *text, size_t bytes)
{
    size_t length = strnlen(text, bytes);

    while (length && text[length - 1] == ' ')
        length--;
    return length;
}

void hdf5_each_text(const struct hdf5_file *f, struct hdf5_texts *texts, hdf5_text_fn *each,
                    void *user)
{
    size_t bytes = texts->variable ? sizeof(char *) : H5Tget_size(texts->at.type);
    char *band = tool_alloc(f->ctx, BAND_TEXTS, bytes);

    for (hsize_t at = 0, count; at < texts->at.sizes[0]; at += count) {
        count = texts->at.sizes[0] - at < BAND_TEXTS ? texts->at.sizes[0] - at : BAND_TEXTS;
        hdf5_read_rows(f, &texts->at, at, count, band);
        for (size_t i = 0; i < count; i++) {
            char **variable = (char **)(void *)band + i;

            if (!texts->variable) {
                each(user, band + i * bytes, length_of(band + i * bytes, bytes));
                continue;
            }
            each(user, *variable ? *variable : "", *variable ? strlen(*variable) : 0);
            H5free_memory(*variable);
            *variable = NULL;
        }
    }
    H5Tclose(texts->at.type);
    H5Dclose(texts->id);
}
