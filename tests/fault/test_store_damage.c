/*
 * Thousands of damaged stores: flipped bits, zeroed, swapped and garbled pages, pages as they were
 * earlier (a write that the disk lost), pages and files of another store, files cut short.
 * Whatever is read is right, or the call says NY_ESTORE; nothing crashes and nothing hangs. Writing
 * to a damaged store does not crash either.
 *
 * NYSTREAM_DAMAGES: how many times as many as are made by default; NYSTREAM_FEW_FAULTS: a twentieth
 * of them.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/random.h"
#include "store/store.h"
#include "support/files.h"
#include "support/store_case.h"
#include "support/test.h"

/* Blocks of 512 rows, which compress to a few pages; the last is short. */
enum { D = 2048, N = 3 * 512 + 100, CHUNKS = 300, PAGE = 4096, GROUP = 100, GROUP_SECONDS = 120 };

static char directory[128], path[160];

struct file {
    char path[192];
    char *image, *old, *foreign; /* now, earlier, and that of another store */
    size_t bytes, old_bytes, foreign_bytes;
};
static struct file files[2]; /* points, results */
static const char *const parts[2] = {"points", "results"};

static unsigned times = 1, made;
static bool few;

static uint64_t draws;
static uint64_t draw(uint64_t below)
{
    return ny_hash64(20, NY_STREAM_DATA, draws++) % below;
}

/* ---- the store that is damaged ------------------------------------------------------------- */

static uint8_t points[N + 1][D];

static void fill_points(void)
{
    for (uint64_t i = 0; i <= N; i++) {
        memset(points[i], (int)(i / 10 % 250 + 1), D);
        memcpy(points[i] + 1000, &i, sizeof(i));
    }
}

static size_t chunk_bytes(uint64_t index)
{
    return index % 50 == 0 ? 9000 + index : index * 3 % 400;
}

/* `version` 0: as it stays. Earlier ones have the same sizes. */
static uint8_t chunk_byte(uint64_t index, size_t i, unsigned version)
{
    return (uint8_t)(index * 131 + i * 7 + version * 91);
}

static const char *chunk_name(uint64_t index)
{
    static const char *const names[] = {"alpha", "beta", "gamma"};

    return names[index % 3];
}

static int import_rows(struct ny_store *store, uint64_t first, uint64_t count)
{
    struct ny_ingest_spec spec = {.d = D,
                                  .dtype = NY_U8,
                                  .labels = true,
                                  .source = true,
                                  .append = true,
                                  .fingerprint = first + 1};
    static double labels[N + 1];
    static uint64_t source[N + 1];
    struct ny_ingest_rows rows = {.values = points[first],
                                  .labels = labels + first,
                                  .source = source + first,
                                  .count = count,
                                  .consumed = count};

    for (uint64_t i = first; i < first + count; i++) {
        labels[i] = (double)(i / 3);
        source[i] = 3 * i;
    }
    return case_ingest(store, &spec, &rows);
}

static int put_chunks(struct ny_store *store, unsigned version)
{
    struct ny_batch *batch = NULL;
    char data[12000];
    int err = NY_OK;

    for (uint64_t i = 0; !err && i < CHUNKS; i++) {
        if (i % 60 == 0) err = ny_batch_begin(&batch, store);
        for (size_t b = 0; b < chunk_bytes(i); b++)
            data[b] = (char)chunk_byte(i, b, version);
        if (!err) err = ny_batch_put(batch, chunk_name(i), "part", i, data, chunk_bytes(i));
        if (!err && i % 60 == 59) err = ny_batch_commit(batch);
    }
    return err;
}

static void write_at(int fd, const void *data, size_t bytes, size_t at)
{
    if (fd < 0 || pwrite(fd, data, bytes, (off_t)at) != (ssize_t)bytes) abort();
}

static void restore(const struct file *file)
{
    int fd = open(file->path, O_RDWR | O_CREAT, 0666);

    write_at(fd, file->image, file->bytes, 0);
    if (ftruncate(fd, (off_t)file->bytes)) abort();
    close(fd);
}

/* Several transactions each, so that there are free pages and pages with a past. */
static void fill(const char *where, bool remember)
{
    OWNED(ny_context) *ctx = NULL;
    OWNED(ny_store) *store = NULL;

    assert_int_equal(ny_context_new(&ctx), NY_OK);
    assert_int_equal(ny_store_create(&store, ctx, where), NY_OK);
    for (unsigned part = 0; part < 3; part++) {
        CHECK(import_rows(store, part * N / 3, (part + 1) * N / 3 - part * N / 3));
        assert_int_equal(put_chunks(store, 2 - part), NY_OK);
        for (int i = 0; remember && part == 1 && i < 2; i++)
            files[i].old = file_content(files[i].path, &files[i].old_bytes);
    }
    assert_int_equal(ny_blob_put(store, "old", "x", where, 100), NY_OK);
    assert_int_equal(ny_result_remove(store, "old"), NY_OK);
}

static void build(void)
{
    const char *wanted = getenv("NYSTREAM_DAMAGES");
    char other[160], file[192];

    if (wanted) times = (unsigned)atoi(wanted);
    few = getenv("NYSTREAM_FEW_FAULTS") != NULL;
    fill_points();
    case_directory(directory);
    snprintf(path, sizeof(path), "%s/a.nys", directory);
    snprintf(other, sizeof(other), "%s/b.nys", directory);
    for (int i = 0; i < 2; i++)
        snprintf(files[i].path, sizeof(files[i].path), "%s/%s/data.mdb", path, parts[i]);
    fill(path, true);
    fill(other, false);
    for (int i = 0; i < 2; i++) {
        snprintf(file, sizeof(file), "%s/%s/data.mdb", other, parts[i]);
        files[i].image = file_content(files[i].path, &files[i].bytes);
        files[i].foreign = file_content(file, &files[i].foreign_bytes);
    }
}

static void tear_down(void)
{
    for (int i = 0; i < 2; i++) {
        free(files[i].image);
        free(files[i].old);
        free(files[i].foreign);
    }
    print_message("counted: %u damaged stores\n", made);
    case_remove(directory);
}

/* ---- damage -------------------------------------------------------------------------------- */

/* Chooses, half of the time, a page of a tree or a meta page, where damage is most dangerous. */
static size_t choose_page(const struct file *file)
{
    bool tree = draw(2);
    size_t pages = file->bytes / PAGE, page = draw(pages);

    for (int try = 0; tree && try < 300; try++) {
        uint16_t flags;

        memcpy(&flags, file->image + page * PAGE + 10, sizeof(flags));
        if (flags & 11) break;
        page = draw(pages);
    }
    return page;
}

enum damage { FLIP, FLIP_HEADER, BYTE, ZERO, SWAP, GARBAGE, COPY, CUT, OLD, FOREIGN, FOREIGN_FILE };

/* The page as it was earlier, or as another store has it there; whole runs of them, too. */
static void replace_pages(int fd, const char *with, size_t bytes, size_t page)
{
    size_t count = draw(4) ? 1 : 1 + draw(8);

    for (size_t i = 0; i < count && (page + i + 1) * PAGE <= bytes; i++)
        write_at(fd, with + (page + i) * PAGE, PAGE, (page + i) * PAGE);
}

static void hurt(const struct file *file, enum damage kind)
{
    int fd = open(file->path, O_RDWR);
    size_t page = choose_page(file), other = choose_page(file);
    size_t at = page * PAGE + draw(kind == FLIP_HEADER ? 256 : PAGE);
    char bytes[PAGE] = {0};

    switch (kind) {
    case FLIP:
    case FLIP_HEADER:
        bytes[0] = (char)(file->image[at] ^ 1 << draw(8));
        write_at(fd, bytes, 1, at);
        break;
    case BYTE:
        bytes[0] = (char)draw(256);
        write_at(fd, bytes, 1, at);
        break;
    case ZERO: write_at(fd, bytes, PAGE, page * PAGE); break;
    case SWAP:
        write_at(fd, file->image + other * PAGE, PAGE, page * PAGE);
        write_at(fd, file->image + page * PAGE, PAGE, other * PAGE);
        break;
    case GARBAGE:
        for (size_t i = 0; i < 64; i++)
            bytes[i] = (char)draw(256);
        write_at(fd, bytes, 1 + draw(64), page * PAGE + draw(PAGE - 64));
        break;
    case COPY: write_at(fd, file->image + page * PAGE, PAGE, other * PAGE); break;
    case CUT:
        if (ftruncate(fd, (off_t)draw(file->bytes))) abort();
        break;
    case OLD: replace_pages(fd, file->old, file->old_bytes, page); break;
    case FOREIGN: replace_pages(fd, file->foreign, file->foreign_bytes, page); break;
    case FOREIGN_FILE:
        write_at(fd, file->foreign, file->foreign_bytes, 0);
        if (ftruncate(fd, (off_t)file->foreign_bytes)) abort();
        break;
    }
    close(fd);
}

/* ---- what may be read ---------------------------------------------------------------------- */

static struct ny_context *ctx;
static unsigned noticed; /* NY_ESTORE in this trial */

/* True for NY_OK, false for NY_ESTORE; anything else ends this process with a message. */
static bool fine(int err, const char *what)
{
    if (err == NY_OK) return true;
    if (err != NY_ESTORE) {
        fprintf(stderr, "%s: status %d, %s\n", what, err, ny_context_message(ctx));
        _exit(3);
    }
    noticed++;
    ny_error_clear(ctx);
    return false;
}

static void right(bool equal, const char *what)
{
    if (equal) return;
    fprintf(stderr, "%s: silently wrong\n", what);
    _exit(4);
}

/* Notes that are damaged are left out of the list, of three. */
static void read_imports(struct ny_store *store)
{
    struct ny_imports imports;

    if (!fine(ny_points_imports(store, &imports), "imports")) return;
    right(imports.count <= 3, "imports");
    noticed += 3 - (unsigned)imports.count;
    for (size_t i = 0; i < imports.count; i++) {
        const struct ny_import_note *note = &imports.note[i];
        uint64_t part = 3 * (note->first + 1) / N;

        right(note->first == part * N / 3 && note->end == (part + 1) * N / 3, "imports");
    }
    ny_imports_release(&imports, ctx);
}

static void read_points(struct ny_store *store)
{
    static uint8_t rows[512][D];
    static double labels[N];
    static uint64_t source[N];
    struct ny_stored_points info;
    struct ny_rows_stats stats;

    if (!fine(ny_points_stored(store, &info), "info")) return;
    right(info.rows.n == N && info.rows.d == D && info.labels && info.blocks == 4, "info");
    for (uint64_t b = 0; b < info.blocks; b++) {
        size_t count;

        if (fine(ny_points_read_block(store, b, rows, &count), "block"))
            right(count == (b < 3 ? 512 : 100) && memcmp(rows, points[b * 512], count * D) == 0,
                  "block");
    }
    if (fine(ny_points_labels(store, 0, N, labels), "labels"))
        for (uint64_t i = 0; i < N; i++)
            right(labels[i] == (double)(i / 3), "labels");
    if (fine(ny_points_source(store, 0, N, source), "source"))
        for (uint64_t i = 0; i < N; i++)
            right(source[i] == 3 * i, "source");
    read_imports(store);
    if (!fine(ROWS_OF(store, stats, &stats), "statistics")) return;
    right(stats.n == N && stats.minimum[5] == 1 && stats.maximum[5] == (N - 1) / 10 + 1,
          "statistics");
    ny_rows_stats_release(&stats, ctx);
}

static int check_name(void *user, const char *name)
{
    unsigned *count = user;

    right(*count < 3 && strcmp(name, chunk_name(*count)) == 0, "list");
    ++*count;
    return NY_OK;
}

static void read_results(struct ny_store *store)
{
    unsigned names = 0;

    for (uint64_t i = 0; i < CHUNKS; i++) {
        uint8_t data[12000];
        struct ny_chunk chunk = {.data = data, .capacity = sizeof(data)};

        if (!fine(ny_chunk_get(store, chunk_name(i), "part", i, &chunk), "chunk")) continue;
        right(chunk.bytes == chunk_bytes(i), "chunk size");
        for (size_t b = 0; b < chunk.bytes; b++)
            right(data[b] == chunk_byte(i, b, 0), "chunk");
    }
    if (fine(ny_results_list(store, check_name, &names), "list")) right(names == 3, "list");
}

static int count_damage(void *user, const struct ny_damage *damage)
{
    right(damage->what[0] != '\0' && damage->first_row + damage->rows <= N, "damage");
    ++*(unsigned *)user;
    return NY_OK;
}

/* Checks that verify lists damage exactly if reads noticed some. */
static void check_verify(struct ny_store *store)
{
    unsigned damages = 0, before = noticed;

    if (fine(ny_store_verify(store, count_damage, &damages), "verify"))
        right((damages > 0) == (before > 0), "verify");
}

/* Writes to the damaged store: that may succeed or fail, but has to return. */
static void write_something(struct ny_store *store)
{
    struct ny_batch *batch;

    fine(import_rows(store, N, 1), "append");
    if (fine(ny_batch_begin(&batch, store), "batch")) {
        ny_batch_delete(batch, "beta", NULL);
        ny_batch_put(batch, "alpha", "part", 0, "x", 1);
        fine(ny_batch_commit(batch), "batch commit");
    }
}

static void examine(bool writing)
{
    struct ny_store *store;

    noticed = 0;
    ny_error_clear(ctx);
    if (!fine(ny_store_open(&store, ctx, path), "open")) return;
    read_points(store);
    read_results(store);
    check_verify(store);
    if (writing) write_something(store);
    ny_store_close(store);
}

/* ---- the loop ------------------------------------------------------------------------------ */

struct group {
    unsigned number, kind_first, kinds;
    int dots; /* where a dot is written for each damage that was noticed */
};

static void run_group(const struct group *group)
{
    ny_context_set_memory(ctx, 256 << 20);
    ny_context_set_threads(ctx, 1);
    for (unsigned i = 0; i < GROUP; i++) {
        const struct file *file = &files[i % 2];
        enum damage kind = (enum damage)(group->kind_first + i / 2 % group->kinds);

        draws = (uint64_t)(group->number * GROUP + i) << 20;
        hurt(file, kind);
        examine(i % 5 == 0);
        if (noticed && write(group->dots, ".", 1) != 1) _exit(7);
        restore(&files[0]);
        restore(&files[1]);
        if (i % 25 == 0) { /* the harness itself: a sound store is read in full */
            examine(false);
            if (noticed) _exit(6);
        }
    }
    ny_context_free(ctx);
}

/* Runs a group in a process of its own; returns how many dots it has written. */
static unsigned run_alone(void (*run)(const struct group *group), struct group group)
{
    char buffer[1024];
    unsigned count = 0;
    int ends[2], status;
    ssize_t got;
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        group.dots = ends[1];
        close(ends[0]);
        alarm(GROUP_SECONDS);
        if (ny_context_new(&ctx)) _exit(5);
        run(&group);
        _exit(0);
    }
    close(ends[1]);
    while ((got = read(ends[0], buffer, sizeof(buffer))) > 0)
        count += (unsigned)got;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    restore(&files[0]);
    restore(&files[1]);
    if (status)
        fail_msg("group %u: %s %d", group.number, WIFSIGNALED(status) ? "signal" : "exit status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return count;
}

static void run_groups(unsigned first, unsigned groups, unsigned kind_first, unsigned kinds)
{
    unsigned total = 0;

    groups = few ? groups / 20 + 1 : groups * times;
    for (unsigned group = first; group < first + groups; group++)
        total += run_alone(run_group, (struct group){group, kind_first, kinds, 0});
    made += groups * GROUP;
    assert_true(total > groups * GROUP / 20); /* not a test of nothing */
}

TEST(damage_is_noticed)
{
    run_groups(0, 20, FLIP, 3);
    run_groups(1000, 10, ZERO, 4);
    run_groups(2000, 2, CUT, 1);
    run_groups(3000, 10, OLD, 2); /* pages of another time, or store */
    run_groups(4000, 1, FOREIGN_FILE, 1);
}

static void flip_meta_pages(const struct group *group)
{
    for (size_t at = 0; at < 4 * PAGE; at++) {
        const struct file *file = &files[at / (2 * PAGE)];
        size_t place = at % (2 * PAGE);
        int fd;
        char byte;

        if (at % PAGE >= 152) continue; /* behind what LMDB reads */
        byte = (char)(file->image[place] ^ 1 << draw(8));
        fd = open(file->path, O_RDWR);
        write_at(fd, &byte, 1, place);
        examine(false);
        write_at(fd, &file->image[place], 1, place);
        if (write(group->dots, ".", 1) != 1) _exit(7);
        close(fd);
    }
}

/* Bits of both meta pages of both files, one after another. */
TEST(bits_of_the_meta_pages)
{
    made += run_alone(flip_meta_pages, (struct group){0});
}

AROUND_ALL(build, tear_down)
