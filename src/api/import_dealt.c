/*
 * An import of files whose rows are dealt out to the shards of a store (option shards), by one
 * process or by several, each of which imports the shards that it has, one after another.
 *
 * Rows keep the order of the files. Of formats whose rows are found without reading those before
 * them, a file is cut where a share ends: shares are as large as one another, and hold multiples of
 * 2,048 rows but for the last, so that sums over them are cut as those of one store. Other files
 * go to one shard each as a whole, by their sizes.
 *
 * Shards have these rows however many processes there are. A shard that is there already is left as
 * it is, so that the same command goes on after a kill.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "api/call.h"
#include "api/import_private.h"
#include "api/report.h"
#include "api/settings.h"
#include "base/checksum.h"
#include "base/clock.h"
#include "base/memory.h"
#include "io/identity.h"
#include "io/refuse.h"
#include "peers/group.h"
#include "peers/open.h"
#include "shards/shards.h"
#include "stream/source.h"
#include "records/fields.h"

/* Rows that came in, that were left out; bytes and left out values of those that came in; bytes
 * that are stored of all. */
struct sums {
    double added, dropped, bytes, left_out, stored;
};

struct dealt {
    const char *path;
    const struct ny_import_files *files;
    const struct ny_options *options;
    unsigned shards;
    bool by_rows;                /* else each file goes to one shard */
    uint64_t *before;            /* rows, or bytes, of the files before each, and of all */
    uint64_t *begin;             /* the row, or file, with which each share begins; the end */
    struct ny_row_range *ranges; /* room for those of one shard */
    struct sums *sums;           /* of this call, by shard */
    double started_s;
    json_t *report;
};

static void lay(struct ny_layout *l, struct dealt *dealt)
{
    size_t files = dealt->files->count + 1, shards = (size_t)dealt->shards + 1;

    dealt->before = ny_lay(l, NY_MEM_IO, files, sizeof(*dealt->before));
    dealt->begin = ny_lay(l, NY_MEM_IO, shards, sizeof(*dealt->begin));
    dealt->ranges = ny_lay(l, NY_MEM_IO, files, sizeof(*dealt->ranges));
    dealt->sums = ny_lay(l, NY_MEM_IO, shards, sizeof(*dealt->sums));
}

/* Refuses too many shards, and ways to reach other processes that there are not. */
static int check_options(struct ny_context *ctx, const struct ny_options *options, uint64_t shards)
{
    if (shards > NY_SHARDS_MAX)
        return ny_fail_value(ctx, "shards", "at most 100000", ny_options_get(options, "shards"));
    return ny_transport_check(ctx, ny_options_get(options, "peers"),
                              ny_options_is_set(options, "peers-wait") ? "" : NULL);
}

/* ---- dealing ------------------------------------------------------------------------------ */

/* Counts the rows of all files; by_rows is false where those of one are not known. */
static int count_rows(struct dealt *dealt, struct ny_context *ctx)
{
    struct ny_reader_options reading = ny_settings_reader(dealt->options);
    int err = NY_OK;

    dealt->by_rows = !reading.nan_drop && !ny_options_is_set(dealt->options, "min-values");
    for (size_t i = 0; i < dealt->files->count && !err && dealt->by_rows; i++) {
        uint64_t rows;

        err = ny_reader_count_rows(ctx, dealt->files->names[i], &reading, &rows);
        dealt->by_rows = !err && rows != NY_ROWS_UNKNOWN;
        dealt->before[i + 1] = dealt->before[i] + rows;
    }
    return err;
}

/* Refuses what another process cannot read as well. */
static int check_files(const struct dealt *dealt, struct ny_context *ctx, uint64_t *sizes)
{
    for (size_t i = 0; i < dealt->files->count; i++) {
        const char *name = dealt->files->names[i];
        bool piped = strcmp(name, "-") == 0;
        struct stat status;

        if (!piped && stat(name, &status)) return ny_fail_errno(ctx, "open", name);
        if (piped || !S_ISREG(status.st_mode)) return ny_refuse_pipe(ctx, NY_EUSAGE, name);
        sizes[i + 1] = sizes[i] + (uint64_t)status.st_size;
    }
    return NY_OK;
}

/* Gives each shard so many units of rows as another, or one more. */
static int deal_rows(struct dealt *dealt, struct ny_context *ctx)
{
    uint64_t n = dealt->before[dealt->files->count], units = ny_units_of(n);

    if (units < dealt->shards)
        return ny_fail(ctx, NY_EUSAGE,
                       "the rows are too few for %u shards; give --shards %llu or fewer",
                       dealt->shards, (unsigned long long)units);
    for (unsigned k = 0; k < dealt->shards; k++)
        dealt->begin[k] = units * k / dealt->shards * NY_UNIT_ROWS;
    dealt->begin[dealt->shards] = n;
    return NY_OK;
}

/* Gives each shard a file at least, and ends its share where the share of the bytes does. */
static int deal_files(struct dealt *dealt, struct ny_context *ctx)
{
    size_t count = dealt->files->count, file = 0;
    double bytes = (double)dealt->before[count];

    if (count < dealt->shards)
        return ny_fail(
            ctx, NY_EUSAGE,
            "files that are not divided by rows are too few for %u shards; give --shards "
            "%zu or fewer",
            dealt->shards, count);
    for (unsigned k = 0; k < dealt->shards; k++) {
        double share = bytes * (k + 1) / dealt->shards;

        dealt->begin[k] = file++;
        while (count - file > dealt->shards - 1 - k &&
               (double)(dealt->before[file] + dealt->before[file + 1]) / 2 < share)
            file++;
    }
    dealt->begin[dealt->shards] = count;
    return NY_OK;
}

static int deal(struct dealt *dealt, struct ny_context *ctx)
{
    int err = check_files(dealt, ctx, dealt->before);

    if (!err && dealt->files->count > 1 && ny_options_is_set(dealt->options, "labels"))
        return ny_fail_idle(ctx, "labels", "several files");
    if (!err) err = count_rows(dealt, ctx);
    if (!err && dealt->by_rows) return deal_rows(dealt, ctx);
    if (!err) err = check_files(dealt, ctx, dealt->before); /* bytes again */
    return err ? err : deal_files(dealt, ctx);
}

/* Returns the files of a shard; of rows, only those ranges of them. */
static struct ny_import_files share_of(const struct dealt *dealt, unsigned shard)
{
    uint64_t begin = dealt->begin[shard], end = dealt->begin[shard + 1];
    struct ny_import_files share = {.names = dealt->files->names};
    size_t first = 0;

    if (!dealt->by_rows) {
        share.names += begin;
        share.count = (size_t)(end - begin);
        return share;
    }
    while (dealt->before[first + 1] <= begin)
        first++;
    share.names += first;
    share.rows = dealt->ranges;
    for (size_t i = first; i < dealt->files->count && dealt->before[i] < end; i++) {
        uint64_t from = dealt->before[i], to = dealt->before[i + 1];

        dealt->ranges[share.count++] = (struct ny_row_range){(begin > from ? begin : from) - from,
                                                             (end < to ? end : to) - from};
    }
    return share;
}

/* Hears whether the other processes deal the same out. */
static int agree(void *arg, struct ny_context *ctx, unsigned shard)
{
    const struct dealt *dealt = arg;
    const uint64_t parts[] = {
        ny_options_fingerprint(dealt->options, NY_GROUP_IMPORT),
        ny_checksum(dealt->before, (dealt->files->count + 1) * sizeof(*dealt->before)),
        ny_checksum(dealt->begin, ((size_t)dealt->shards + 1) * sizeof(*dealt->begin))};

    (void)shard;
    return ny_peers_agree(ny_context_peers(ctx), ny_checksum(parts, sizeof(parts)),
                          "files or options");
}

/* ---- importing ---------------------------------------------------------------------------- */

/* Opens the store of a shard; *store is NULL where there is none yet. NY_EUSAGE where the folder
 * has another number of shards. */
static int open_shard(struct ny_store **store, struct ny_context *ctx, const struct dealt *dealt,
                      unsigned shard)
{
    struct ny_shards *shards;
    int err;

    *store = NULL;
    if (!ny_shards_at(dealt->path)) return NY_OK;
    err = ny_shards_load(&shards, ctx, dealt->path);
    if (err) return err;
    if (shards->count != dealt->shards)
        err = ny_fail(ctx, NY_EUSAGE, "%s has %u shards; give --shards %u", dealt->path,
                      shards->count, shards->count);
    else
        err = ny_shards_store(store, shards, shard);
    ny_shards_free(shards);
    return err;
}

/* Tells whether a shard has its rows already. NY_EUSAGE where it has others. */
static int find_there(const struct dealt *dealt, struct ny_context *ctx, unsigned shard,
                      bool *there)
{
    uint64_t share = dealt->begin[shard + 1] - dealt->begin[shard];
    struct ny_rows_info points = {0};
    struct ny_store *store;
    int err = open_shard(&store, ctx, dealt, shard);

    if (!err && store) err = ny_points_info(store, &points);
    *there = points.n > 0;
    if (!err && *there && dealt->by_rows && points.n != share)
        err = ny_fail(ctx, NY_EUSAGE,
                      "shard %u of %s holds other rows than these files would give it", shard,
                      dealt->path);
    ny_store_close(store);
    return err;
}

/* Computes a digest of the name, size and time of a file, and of pieces of it. */
static int digest_file(struct ny_context *ctx, const char *file, uint64_t *digest)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    uint64_t parts[4] = {ny_checksum(name, strlen(name))};
    struct stat status;
    int err = stat(file, &status) ? ny_fail_errno(ctx, "open", file) : NY_OK;

    if (!err) err = ny_file_identity(ctx, file, &parts[3]);
    if (err) return err;
    parts[1] = (uint64_t)status.st_mtim.tv_sec;
    parts[2] = (uint64_t)status.st_mtim.tv_nsec;
    *digest = ny_checksum(parts, sizeof(parts));
    return NY_OK;
}

/* Makes digests of the options, with the files of labels and of names, and of all files, as they
 * are now: *text, which ny_free() frees, also after a failure. */
static int identify(const struct dealt *dealt, struct ny_context *ctx, char **text)
{
    static const char *const beside[] = {"labels", "column-names"};
    uint64_t digest = ny_options_fingerprint(dealt->options, NY_GROUP_IMPORT), other;
    int err;

    *text = ny_alloc(ctx, NY_MEM_IO, (dealt->files->count + 1) * NY_DIGEST_DIGITS + 1);
    err = *text ? NY_OK : NY_EBUDGET;
    for (size_t i = 0; !err && i < sizeof(beside) / sizeof(beside[0]); i++) {
        const char *file = ny_options_get(dealt->options, beside[i]);

        if (!file || strcmp(file, "none") == 0) continue;
        err = digest_file(ctx, file, &other);
        if (!err) digest ^= other;
    }
    for (size_t i = 0; !err && i <= dealt->files->count; i++) {
        if (i > 0) err = digest_file(ctx, dealt->files->names[i - 1], &digest);
        if (!err)
            snprintf(*text + i * NY_DIGEST_DIGITS, NY_DIGEST_DIGITS + 1, "%016llx",
                     (unsigned long long)digest);
    }
    return err;
}

/* Imports the share of one shard, unless it is there. */
static int import_share(void *arg, struct ny_context *ctx, unsigned shard)
{
    struct dealt *dealt = arg;
    struct ny_import_files share = share_of(dealt, shard);
    struct ny_options options = *dealt->options; /* only read, but for the errors about them */
    struct ny_report *report = NULL;
    struct ny_deal deal = {.names = dealt->files->names};
    char number[32], *digests;
    bool there;
    int err = find_there(dealt, ctx, shard, &there);

    if (err) return err;
    if (there) {
        ny_log(ctx, NY_LOG_NOTE, "shard %u of %s exists already and is left as it is", shard,
               dealt->path);
        return NY_OK;
    }
    options.ctx = ctx;
    snprintf(number, sizeof(number), "%u/%u", shard, dealt->shards);
    share.shard = number;
    share.deal = &deal;
    err = identify(dealt, ctx, &digests);
    deal.digests = digests;
    if (!err) err = ny_import_all(ctx, dealt->path, &share, &options, &report);
    ny_report_number(report, "rows", &dealt->sums[shard].added);
    ny_report_number(report, "dropped", &dealt->sums[shard].dropped);
    ny_report_number(report, "bytes_added", &dealt->sums[shard].bytes);
    ny_report_number(report, "values_left_out", &dealt->sums[shard].left_out);
    ny_report_free(report);
    ny_free(ctx, digests);
    return err;
}

/* ---- the end ------------------------------------------------------------------------------ */

/* Describes the rows of all shards, with the sums over these. */
static json_t *describe(const struct dealt *dealt, struct ny_context *ctx,
                        const struct ny_rows_info *points, const struct sums *sums)
{
    const struct ny_import_dropped dropped = {.rows = (uint64_t)sums->dropped};
    const struct ny_import_told told = {.rows = (uint64_t)sums->added,
                                        .dropped = &dropped,
                                        .values_left_out = (uint64_t)sums->left_out,
                                        .stored_bytes = (uint64_t)sums->stored,
                                        .bytes_added = (uint64_t)sums->bytes,
                                        .seconds = ny_now() - dealt->started_s,
                                        .budget = ny_memory_limit(ctx)};

    return ny_import_report(points, &told);
}

/* Waits until all shards are there, and adds up what they have. */
static int finish(void *arg, struct ny_context *ctx, unsigned shard)
{
    struct dealt *dealt = arg;
    struct sums sums = dealt->sums[shard];
    struct ny_rows_info points;
    struct ny_store *store;
    int err = open_shard(&store, ctx, dealt, shard);

    if (!err && !store)
        err = ny_fail(ctx, NY_EIO, "%s was removed while it was imported", dealt->path);
    if (!err) err = ny_store_join(store);
    if (!err) err = ny_points_info(store, &points);
    if (!err) sums.stored = (double)points.kept_bytes;
    if (!err)
        err = ny_peers_fold(ny_context_peers(ctx), (double *)&sums, sizeof(sums) / sizeof(double));
    if (!err && sums.added == 0)
        err = ny_fail(ctx, NY_EUSAGE, "%s has all of its shards; add rows with --append",
                      dealt->path);
    if (!err && shard == 0) dealt->report = describe(dealt, ctx, &points, &sums);
    ny_store_close(store);
    return err;
}

/* Deals out, imports, and waits for the others. */
static int run(struct dealt *dealt, struct ny_context *ctx, struct ny_transport *transport)
{
    struct ny_group_shape shape = ny_group_shape(dealt->shards, transport ? transport->rank : 0,
                                                 transport ? transport->ranks : 1);
    int err = deal(dealt, ctx);

    if (err && transport) transport->ops->abandon(transport, err, ny_context_message(ctx));
    if (!err) err = ny_group_run(ctx, &shape, transport, agree, dealt);
    if (!err) err = ny_group_take_turns(ctx, &shape, transport, import_share, dealt);
    return err ? err : ny_group_run(ctx, &shape, transport, finish, dealt);
}

/* Imports files with option shards. */
static int import_dealt(struct ny_context *context, const char *path,
                        const struct ny_import_files *files, const struct ny_options *options,
                        struct ny_report **report)
{
    struct dealt dealt = {.path = path, .files = files, .options = options, .started_s = ny_now()};
    const char *folder = strrchr(path, '/');
    struct ny_layout l = {.ctx = context};
    struct ny_transport_wish wish = {.wait_s = 600};
    struct ny_transport *transport = NULL;
    char command[NY_COMMAND_BYTES];
    uint64_t shards = 0;
    int err = ny_options_check(options, NY_GROUP_IMPORT);

    ny_options_size(options, "shards", &shards);
    if (!err) err = check_options(context, options, shards);
    if (err) return err;
    ny_fields_begin();
    wish.shards = dealt.shards = (unsigned)shards;
    snprintf(command, sizeof(command), "import files into %s", folder ? folder + 1 : path);
    wish.command = command; /* other folders may lead to the store */
    wish.peers = ny_options_get(options, "peers");
    wish.waits = ny_options_is_set(options, "peers-wait");
    ny_options_number(options, "peers-wait", &wish.wait_s);
    lay(&l, &dealt);
    err = l.err;
    if (!err) err = ny_transport_open(&transport, context, &wish);
    if (!err) err = run(&dealt, context, transport);
    if (!err && report && dealt.report) { /* the others leave it to the process with shard 0 */
        err = ny_report_of_json(report, context, dealt.report);
        dealt.report = NULL;
    }
    if (transport) transport->ops->close(transport);
    json_decref(dealt.report);
    ny_layout_free(&l);
    return err;
}

/* ---- any import --------------------------------------------------------------------------- */

/* A store holds numbers alone, from which kernels, means and widths are computed. */
static int check_nan(struct ny_context *ctx, const struct ny_options *options)
{
    const char *nan = options ? ny_options_get(options, "nan") : NULL;

    if (!nan || strcmp(nan, "keep") != 0) return NY_OK;
    return ny_fail(ctx, NY_EUSAGE, "--nan keep is for embed and transform; give --nan drop");
}

int ny_import(struct ny_context *context, const char *path, const char *const *files, size_t count,
              const struct ny_options *options, struct ny_report **report)
{
    const struct ny_import_files all = {.names = files, .count = count};
    int err = NY_GIVEN(context, path, files);

    if (report) *report = NULL;
    for (size_t i = 0; !err && i < count; i++)
        err = NY_GIVEN(context, files[i]);
    if (!err) err = check_nan(context, options);
    if (err) return err;
    return options && ny_options_is_set(options, "shards")
               ? import_dealt(context, path, &all, options, report)
               : ny_import_all(context, path, &all, options, report);
}
