/*
 * By what an import is known after a kill, so that the same call goes on behind the rows that were
 * staged: its options, the names, sizes and times of its files, and of a pipe what it begins with.
 *
 * Another pipe may begin alike, so that a digest of its rows is staged with them. A repeated pipe
 * is read from its beginning, and the digest of as many rows has to be the same.
 */
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "api/import_private.h"
#include "base/checksum.h"
#include "base/clock.h"
#include "io/mtx_tables.h"

/* Adds name, size and time of a file to the fingerprint. */
static void identify_file(struct ny_import *import, const char *file)
{
    uint64_t parts[5] = {import->fingerprint, ny_checksum(file, strlen(file))};
    struct stat status;

    if (stat(file, &status) == 0) {
        parts[2] = (uint64_t)status.st_size;
        parts[3] = (uint64_t)status.st_mtim.tv_sec;
        parts[4] = (uint64_t)status.st_mtim.tv_nsec;
    }
    import->fingerprint = ny_checksum(parts, sizeof(parts));
}

/* Adds a file that is read behind another. What a pipe gives is not known yet: it is another pipe
 * each time. */
static void identify_later(struct ny_import *import, const char *file)
{
    double now = ny_now();

    identify_file(import, file);
    if (strcmp(file, "-") == 0) import->fingerprint ^= ny_checksum(&now, sizeof(now));
}

int ny_import_identify(struct ny_import *import, const struct ny_import_files *all)
{
    size_t count = all->count;

    if (all->rows) import->fingerprint ^= ny_checksum(all->rows, count * sizeof(*all->rows));
    identify_file(import, all->names[0]);
    for (size_t i = 1; i < count; i++)
        identify_later(import, all->names[i]);
    for (size_t i = 0; i < count; i++) {
        char beside[NY_MTX_TABLES][PATH_MAX];

        ny_mtx_tables_find(all->names[i], beside);
        for (size_t k = 0; k < NY_MTX_TABLES; k++)
            if (beside[k][0]) identify_file(import, beside[k]);
    }
    if (import->reading.labels_file) identify_later(import, import->reading.labels_file);
    if (import->reading.column_names) identify_later(import, import->reading.column_names);
    if (count == 1 || !import->reading.labels_file) return NY_OK;
    return ny_fail_idle(import->ctx, "labels", "several files");
}

/* ---- rows of a pipe ------------------------------------------------------------------------ */

/* Adds a row with all that is stored of it, and its number among the rows of all files: rows that
 * are left out change those of the others. */
static void add_row(struct ny_import *import, const struct ny_row_batch *batch, size_t i,
                    const char *name)
{
    uint64_t parts[6] = {import->digest, batch->source[i]};

    if (batch->sparse) {
        struct ny_sparse row = ny_csr_row(batch->sparse, i);

        parts[2] = ny_checksum(row.index, row.count * sizeof(*row.index));
        parts[3] = ny_checksum(row.value, row.count * ny_dtype_size(batch->sparse->dtype));
    } else {
        parts[3] = ny_checksum(import->values + i * import->row_bytes, import->row_bytes);
    }
    if (import->spec.labels) memcpy(&parts[4], &batch->labels[i], sizeof(parts[4]));
    if (name) parts[5] = ny_checksum(name, strlen(name));
    import->digest = ny_checksum(parts, sizeof(parts));
}

void ny_import_add_rows(struct ny_import *import, const struct ny_row_batch *batch)
{
    const char *name = batch->names ? batch->names->text : NULL;

    for (size_t i = 0; import->piped && i < batch->count; i++) {
        add_row(import, batch, i, name);
        if (name) name += strlen(name) + 1;
    }
}

uint32_t ny_import_digest(const struct ny_import *import)
{
    uint32_t digest = (uint32_t)(import->digest ^ import->digest >> 32);

    if (!import->piped) return 0;
    return digest ? digest : 1;
}

static int other_rows(const struct ny_import *import)
{
    return ny_fail_at(import->ctx, NY_EDATA, "standard input", NY_NO_LINE,
                      "standard input is not that of the interrupted import into %s; run the same "
                      "command again to start over",
                      ny_store_path(import->store));
}

int ny_import_check_rows(const struct ny_import *import)
{
    if (!import->taken || import->taken == ny_import_digest(import)) return NY_OK;
    return other_rows(import);
}

int ny_import_check_end(const struct ny_import *import)
{
    if (!import->piped || !import->skip) return NY_OK;
    if (import->order) return ny_import_check_rows(import);
    return import->consumed < import->skip ? other_rows(import) : NY_OK;
}
