/* Loads cairo (report/cairo.h). It stays loaded to the end of the process: fontconfig, which it
 * brings, cannot be unloaded safely. */
#include "report/cairo.h"

#include <dlfcn.h>

#include "base/mutex.h"

struct ny_cairo ny_cairo;

static struct ny_once once = NY_ONCE_INIT;
static const char *missing; /* the library or the function that is not there; NULL: all are */

/* Looks a function up. A pointer of a function is set through one of an object, as POSIX has it. */
static void find(void *library, const char *name, void *function)
{
    *(void **)function = dlsym(library, name);
    if (!*(void **)function && !missing) missing = name;
}

static void load(void)
{
    static const char file[] = "libcairo.so.2";
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);

    if (!library) {
        missing = file;
        return;
    }
#define FIND(name) find(library, "cairo_" #name, &ny_cairo.name);
    NY_CAIRO_FUNCTIONS(FIND)
#undef FIND
}

int ny_cairo_load(struct ny_context *ctx)
{
    ny_once(&once, load);
    if (!missing) return NY_OK;
    return ny_fail(ctx, NY_EIO,
                   "pictures are drawn with cairo, but this system has no %s; install libcairo2",
                   missing);
}

int ny_cairo_error(struct ny_context *ctx, cairo_status_t status)
{
    bool memory = status == CAIRO_STATUS_NO_MEMORY || status == CAIRO_STATUS_PNG_ERROR;

    if (memory) return ny_fail_memory(ctx);
    return ny_fail(ctx, NY_EINTERNAL, "cairo could not draw the picture: %s",
                   ny_cairo.status_to_string(status));
}
