#include "peers/mpi.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/beside.h"

static const char plugin[] = "libnystream-mpi.so";

static int fail_to_load(struct ny_context *ctx, const char *path)
{
    const char *reason = dlerror();

    return ny_fail(ctx, NY_EUSAGE,
                   "the plug-in for MPI cannot be loaded (%s: %s); install or build nystream-mpi "
                   "('make mpi'), and name it in NYSTREAM_MPI",
                   path, reason ? reason : "");
}

/* Loads the plug-in. It stays loaded to the end of the process, which many an MPI needs. */
static int load(void **library, struct ny_context *ctx)
{
    const char *path = getenv("NYSTREAM_MPI");
    char found[PATH_MAX];

    if (!path || !*path) path = ny_find_beside(plugin, "lib", R_OK, found) ? found : plugin;
    *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return *library ? NY_OK : fail_to_load(ctx, path);
}

int ny_mpi_open(struct ny_transport **out, struct ny_context *ctx)
{
    ny_transport_open_fn *open_transport;
    char why[sizeof((*out)->why)] = "";
    void *library;
    int err = load(&library, ctx);

    *out = NULL;
    if (err) return err;
    *(void **)&open_transport = dlsym(library, NY_TRANSPORT_SYMBOL);
    if (!open_transport) return fail_to_load(ctx, plugin);
    *out = open_transport(why, sizeof(why));
    return *out ? NY_OK : ny_fail(ctx, NY_EIO, "MPI cannot be used: %s", why);
}
