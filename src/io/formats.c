/* The table of file formats, and which of them a file has: by its first bytes, then by its name. */
#include "io/format.h"

#include <string.h>
#include <strings.h>

/* Tried from top to bottom. Name, summary, suffixes, implementation: a new format is its file and
 * a line here. */
#define FORMATS(X)                                                                                 \
    X("npy", "NumPy array, one row a point (N-D: flattened by row)", ".npy", ny_format_npy)        \
    X("idx", "IDX, the format of MNIST", ".idx -ubyte", ny_format_idx)                             \
    X("fvecs", "rows of float32, each after its length", ".fvecs", ny_format_fvecs)                \
    X("bvecs", "rows of bytes, each after its length", ".bvecs", ny_format_bvecs)                  \
    X("npz", "sparse matrix of scipy (save_npz), CSR or CSC", ".npz", ny_format_npz)               \
    X("h5ad", "AnnData (HDF5), read by the program nystream-hdf5", ".h5ad", ny_format_hdf5)        \
    X("h5", "HDF5 of 10x Genomics: counts of cells, by nystream-hdf5", ".h5", ny_format_hdf5)      \
    X("bed", "genotypes of PLINK 1, with .bim and .fam beside them", ".bed", ny_format_bed)        \
    X("mtx", "matrix of MatrixMarket, sparse (coordinate) or dense (array)", ".mtx",               \
      ny_format_mtx)                                                                               \
    X("libsvm", "sparse text: label index:value …", ".libsvm .svm .svmlight", ny_format_libsvm)    \
    X("tsv", "text, columns separated by tabs", ".tsv .tab", ny_format_tsv)                        \
    X("csv", "text, columns separated by comma, semicolon, tab or blanks", ".csv", ny_format_csv)

#define DECLARE(name, summary, suffixes, format) extern const struct ny_format format;
FORMATS(DECLARE)

#define INFO(name, summary, suffixes, format) {name, summary},
static const struct ny_format_info infos[] = {FORMATS(INFO)};

#define ENTRY(name, summary, suffixes, format) {{name, summary}, &format, suffixes},
static const struct ny_format_entry entries[] = {FORMATS(ENTRY)};

static const size_t count_of_entries = sizeof(entries) / sizeof(*entries);

const struct ny_format_info *ny_formats(size_t *count)
{
    *count = count_of_entries;
    return infos;
}

const struct ny_format_entry *ny_format_table(size_t *count)
{
    *count = count_of_entries;
    return entries;
}

#define LISTED(name, summary, suffixes, format) ", " name
const char *ny_format_list(void)
{
    return &FORMATS(LISTED)[2];
}

/* Tells whether a name ends in one of the suffixes, such as ".idx -ubyte", in letters of any case.
 * A name that is a suffix and nothing else does not count. */
static bool ends_with(const char *name, size_t length, const char *suffixes)
{
    for (const char *p = suffixes; *p; p += strspn(p, " ")) {
        size_t bytes = strcspn(p, " ");

        if (bytes < length && strncasecmp(name + length - bytes, p, bytes) == 0) return true;
        p += bytes;
    }
    return false;
}

int ny_format_guess(struct ny_bytes *bytes, const struct ny_format_entry **entry)
{
    const struct ny_format_entry *likely = NULL;
    size_t length = strlen(bytes->path);
    int err = ny_bytes_need(bytes, NY_PROBE_BYTES);

    *entry = NULL;
    if (err) return err;
    if (ends_with(bytes->path, length, ".gz")) length -= 3;
    for (size_t i = 0; i < count_of_entries; i++) {
        const struct ny_format *format = entries[i].format;
        enum ny_guess guess = NY_GUESS_NO;

        if (format->probe) guess = format->probe(bytes->at, (size_t)(bytes->end - bytes->at));
        if (guess == NY_GUESS_SURE) {
            *entry = &entries[i];
            return NY_OK;
        }
        if (guess == NY_GUESS_MAYBE && !likely) likely = &entries[i];
    }
    for (size_t i = count_of_entries; i-- > 0;)
        if (ends_with(bytes->path, length, entries[i].suffixes)) *entry = &entries[i];
    if (!*entry) *entry = likely;
    return NY_OK;
}
