/* Temporary files on file systems that have none without a name. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>

#include "base/scratch.h"
#include "support/context.h"
#include "support/store_case.h"
#include "support/test.h"

static int refused; /* errno for a file without a name */

__attribute__((visibility("default"))) int open(const char *path, int flags, ...)
{
    static __typeof__(&open) real;
    mode_t mode = 0;
    va_list more;

    va_start(more, flags);
    if (flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))) mode = va_arg(more, mode_t);
    va_end(more);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "open");
    if (!refused || (flags & O_TMPFILE) != O_TMPFILE) return real(path, flags, mode);
    errno = refused;
    return -1;
}

static size_t files_in(const char *folder)
{
    DIR *entries = opendir(folder);
    size_t count = 0;

    assert_non_null(entries);
    for (struct dirent *entry; (entry = readdir(entries));)
        count += entry->d_type == DT_REG;
    closedir(entries);
    return count;
}

TEST(a_file_is_made_without_a_name)
{
    static const int cases[] = {0, EOPNOTSUPP, EISDIR, ENOENT};
    char folder[128], got[5];

    case_directory(folder);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ny_scratch scratch = {.ctx = ctx, .folder = folder, .what = "a test"};

        refused = cases[i];
        assert_int_equal(ny_scratch_open(&scratch), NY_OK);
        assert_int_equal(files_in(folder), 0);
        assert_int_equal(ny_scratch_put(&scratch, "there", 5, 1000), NY_OK);
        assert_int_equal(ny_scratch_get(&scratch, got, 5, 1000), NY_OK);
        assert_memory_equal(got, "there", 5);
        ny_scratch_close(&scratch);
    }
    case_remove(folder);
}

TEST(a_folder_that_is_not_there_is_told)
{
    struct ny_scratch scratch = {.ctx = ctx, .folder = "/proc/none", .what = "a test"};

    assert_int_equal(ny_scratch_open(&scratch), NY_EIO);
    assert_non_null(strstr(ny_context_message(ctx), "/proc/none"));
}

AROUND_ALL(start, stop)
