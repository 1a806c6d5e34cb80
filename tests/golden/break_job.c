/*
 * Runs one job of a store and kills itself at a given write, so that what is left is a job that was
 * interrupted, the same one each time. Checkpoints are made after every unit.
 *
 *   break_job VERB STORE NAME|FILE[,FILE]… WRITES [OPTION VALUE]…
 *
 * WRITES 0: to the end; -1: to the end, and prints how many there were.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "nystream.h"

/* This is inside the library. It is declared here because its header is not in one place in all the
 * versions that this is linked with. */
void ny_context_set_checkpoint(struct ny_context *ctx, double seconds);

static atomic_long writes; /* shards are fitted by a thread each */
static long last_write;

static void count_write(void)
{
    if (atomic_fetch_add(&writes, 1) + 1 == last_write) _exit(9);
}

#pragma GCC visibility push(default) /* LMDB finds these too */
ssize_t pwrite(int fd, const void *data, size_t bytes, off_t at)
{
    static __typeof__(&pwrite) real;

    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "pwrite");
    count_write();
    return real(fd, data, bytes, at);
}

ssize_t writev(int fd, const struct iovec *pieces, int count)
{
    static __typeof__(&writev) real;

    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "writev");
    count_write();
    return real(fd, pieces, count);
}
#pragma GCC visibility pop

static int call(struct ny_context *ctx, char **word, const struct ny_options *options)
{
    const char *files[8];
    size_t count = 0;

    if (strcmp(word[1], "import") == 0) {
        for (char *file = strtok(word[3], ","); file && count < 8; file = strtok(NULL, ","))
            files[count++] = file;
        return ny_import(ctx, word[2], files, count, options, NULL);
    }
    if (strcmp(word[1], "select") == 0) return ny_select(ctx, word[2], word[3], options, NULL);
    if (strcmp(word[1], "graph") == 0) return ny_graph(ctx, word[2], word[3], options, NULL);
    return ny_fit(ctx, word[2], word[3], options, NULL);
}

int main(int count, char **word)
{
    struct ny_options *options = NULL;
    struct ny_context *ctx = NULL;
    int err;

    if (count < 5) return 2;
    err = ny_context_new(&ctx);
    if (err) return err;
    ny_context_set_threads(ctx, 1);
    ny_context_set_memory(ctx, (uint64_t)160 << 20);
    ny_context_set_checkpoint(ctx, 0);
    err = ny_options_new(&options, ctx);
    for (int i = 5; err == NY_OK && i + 1 < count; i += 2)
        err = ny_options_set(options, word[i], word[i + 1]);
    writes = 0;
    last_write = atol(word[4]);
    if (err == NY_OK) err = call(ctx, word, options);
    if (err == NY_OK && last_write < 0) printf("%ld\n", (long)writes);
    if (err) fprintf(stderr, "%s\n", ny_context_message(ctx));
    ny_options_free(options);
    ny_context_free(ctx);
    return err;
}
