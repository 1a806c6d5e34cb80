/* make_hdf5 FILE: what h5py, AnnData and 10x Genomics would write, small, and damaged kinds of it.
 *
 *   table   7 × 3 float32 in gzipped chunks of 2 × 2: value 10 row + column
 *   bytes   4 × 2 × 2 uint8: 0 … 15             counts  5 int64: −2 … 2
 *   words   two texts                           sparse_chunks   a dataset with one chunk of four
 *   X       4 × 5 csr (0: 2 5; 1: none; 2: 1 unordered 4 0; 3: 7 in the last column)
 *   by_columns, matrix (10x), repeated, outside, backwards, shapeless: as X, but */
#include <hdf5.h>
#include <string.h>

static void numbers(hid_t at, const char *name, hid_t type, int rank, const hsize_t *sizes,
                    const void *values)
{
    hid_t space = H5Screate_simple(rank, sizes, NULL);
    hid_t id = H5Dcreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);

    H5Dwrite(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(id);
    H5Sclose(space);
}

/* A dataset in chunks; `rows` of it are written. */
static void chunks(hid_t file, const char *name, hsize_t rows)
{
    hsize_t sizes[2] = {7, 3}, chunk[2] = {2, 2}, start[2] = {0, 0}, block[2] = {rows, 3};
    hid_t list = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(2, sizes, NULL);
    hid_t memory = H5Screate_simple(2, block, NULL), id;
    float values[7][3];

    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 3; j++)
            values[i][j] = (float)(10 * i + j);
    H5Pset_chunk(list, 2, chunk);
    H5Pset_deflate(list, 4);
    id = H5Dcreate2(file, name, H5T_IEEE_F32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, block, NULL);
    H5Dwrite(id, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, values);
    H5Dclose(id);
    H5Sclose(memory);
    H5Sclose(space);
    H5Pclose(list);
}

struct sparse {
    const char *name, *encoding; /* NULL: none */
    int shape;                   /* 0 none, 1 attribute, 2 dataset of 10x */
    int indices[6];
    long long starts[5];
};

static void words(hid_t at, const char *name, const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR), id;

    H5Tset_size(type, H5T_VARIABLE);
    id = H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(id, type, &text);
    H5Aclose(id);
    H5Sclose(space);
    H5Tclose(type);
}

static void sparse(hid_t file, const struct sparse *x)
{
    const float data[6] = {5, 1, 4, 0.5F, 7, 0};
    const long long shape[2] = {4, 5}, turned[2] = {5, 4};
    hsize_t two = 2, entries = 5, starts = 5;
    hid_t group = H5Gcreate2(file, x->name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, &two, NULL), id;

    numbers(group, "data", H5T_NATIVE_FLOAT, 1, &entries, data);
    numbers(group, "indices", H5T_NATIVE_INT, 1, &entries, x->indices);
    numbers(group, "indptr", H5T_NATIVE_LLONG, 1, &starts, x->starts);
    if (x->encoding) words(group, "encoding-type", x->encoding);
    if (x->shape == 2) numbers(group, "shape", H5T_NATIVE_LLONG, 1, &two, turned);
    if (x->shape == 1) {
        id = H5Acreate2(group, "shape", H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT);
        H5Awrite(id, H5T_NATIVE_LLONG, !strcmp(x->name, "by_columns") ? turned : shape);
        H5Aclose(id);
    }
    H5Sclose(space);
    H5Gclose(group);
}

int main(int argc, char **argv)
{
    static const struct sparse matrices[] = {
        {"X", "csr_matrix", 1, {1, 0, 3, 2, 4}, {0, 1, 1, 4, 5}},
        {"by_columns", "csc_matrix", 1, {1, 0, 3, 2, 4}, {0, 1, 1, 4, 5}},
        {"matrix", NULL, 2, {1, 0, 3, 2, 4}, {0, 1, 1, 4, 5}},
        {"repeated", "csr_matrix", 1, {1, 3, 0, 3, 4}, {0, 1, 1, 4, 5}},
        {"outside", "csr_matrix", 1, {1, 0, 3, 2, -1}, {0, 1, 1, 4, 5}},
        {"backwards", "csr_matrix", 1, {1, 0, 3, 2, 4}, {0, 4, 1, 4, 5}},
        {"shapeless", "csr_matrix", 0, {1, 0, 3, 2, 4}, {0, 1, 1, 4, 5}}};
    hid_t file = argc == 2 ? H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT) : -1;
    const hsize_t four[3] = {4, 2, 2}, five = 5, two = 2;
    const long long counts[5] = {-2, -1, 0, 1, 2};
    unsigned char bytes[16];

    if (file < 0) return 1;
    for (int i = 0; i < 16; i++)
        bytes[i] = (unsigned char)i;
    chunks(file, "table", 7);
    chunks(file, "sparse_chunks", 2);
    numbers(file, "bytes", H5T_NATIVE_UCHAR, 3, four, bytes);
    numbers(file, "counts", H5T_NATIVE_LLONG, 1, &five, counts);
    numbers(file, "words", H5T_C_S1, 1, &two, "ab");
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++)
        sparse(file, &matrices[i]);
    return H5Fclose(file) < 0;
}
