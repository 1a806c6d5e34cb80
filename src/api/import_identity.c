/*
 * By what an import is known after a kill, so that the same call goes on behind the rows that were
 * staged: its options, and the names, sizes and times of its files. A pipe is another one each
 * time: an import of one starts over.
 */

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "api/import_private.h"
#include "base/checksum.h"
#include "base/clock.h"
#include "io/mtx_tables.h"

/* Adds name, size and time of a file to the fingerprint; of a pipe, the time of now. */
static void identify_file(struct ny_import *import, const char *file)
{
    uint64_t parts[5] = {import->asked.spec.fingerprint, ny_checksum(file, strlen(file))};
    double now = ny_now();
    struct stat status;

    if (strcmp(file, "-") == 0) {
        parts[2] = ny_checksum(&now, sizeof(now));
    } else if (stat(file, &status) == 0) {
        parts[2] = (uint64_t)status.st_size;
        parts[3] = (uint64_t)status.st_mtim.tv_sec;
        parts[4] = (uint64_t)status.st_mtim.tv_nsec;
    }
    import->asked.spec.fingerprint = ny_checksum(parts, sizeof(parts));
}

int ny_import_identify(struct ny_import *import, const struct ny_import_files *all)
{
    size_t count = all->count;

    if (all->rows)
        import->asked.spec.fingerprint ^= ny_checksum(all->rows, count * sizeof(*all->rows));
    for (size_t i = 0; i < count; i++) {
        char beside[NY_MTX_TABLES][PATH_MAX];

        identify_file(import, all->names[i]);
        ny_mtx_tables_find(all->names[i], beside);
        for (size_t k = 0; k < NY_MTX_TABLES; k++)
            if (beside[k][0]) identify_file(import, beside[k]);
    }
    if (import->asked.reading.labels_file) identify_file(import, import->asked.reading.labels_file);
    if (import->asked.reading.column_names)
        identify_file(import, import->asked.reading.column_names);
    if (count == 1 || !import->asked.reading.labels_file) return NY_OK;
    return ny_fail_idle(import->ctx, "labels", "several files");
}
