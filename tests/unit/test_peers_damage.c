/* The folder transport where files are damaged, cut off, or removed between the process that writes
 * and the one that reads: the same bytes or an error that names the file, never other bytes. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "peers/open.h"
#include "unit/processes_case.h"

enum { RIGHT = 1, WRONG = 2, TOLD = 3 };

/* A file is damaged when it gets its name. */
enum how { NOTHING, FLIP, CUT, TURN, REMOVE };
static struct {
    const char *name; /* the end of its path */
    enum how how;
    off_t at;
    bool heals;      /* until somebody has read it and pauses */
    unsigned wait_s; /* for the other rank, which may be slow to begin */
} wish;

/* Shared by all processes: the file that was damaged last. */
static struct {
    char path[256];
    off_t size;
    bool done;
} * damage;

static bool flip(const char *path, off_t at)
{
    int fd = open(path, O_RDWR);
    unsigned char byte = 0;
    bool done = fd >= 0 && pread(fd, &byte, 1, at) == 1;

    byte ^= 16;
    done = done && pwrite(fd, &byte, 1, at) == 1;
    close(fd);
    return done;
}

/* Has the two halves of a file change places: those of a trade are its pieces. */
static bool turn(const char *path, off_t size)
{
    char bytes[256], *half = bytes + size / 2;
    int fd = open(path, O_RDWR);
    bool done = size <= (off_t)sizeof(bytes) && pread(fd, bytes, (size_t)size, 0) == size;

    done = done && pwrite(fd, half, (size_t)size / 2, 0) == size / 2 &&
           pwrite(fd, bytes, (size_t)size / 2, size / 2) == size / 2;
    close(fd);
    return done;
}

int rename(const char *from, const char *to)
{
    size_t length = strlen(to), end = wish.name ? strlen(wish.name) : 0;
    bool named = end && length >= end && strcmp(to + length - end, wish.name) == 0;
    struct stat info;

    if (named && stat(from, &info) == 0) {
        snprintf(damage->path, sizeof(damage->path), "%s", to);
        damage->size = info.st_size;
        if (wish.how == FLIP) damage->done = flip(from, wish.at);
        if (wish.how == CUT) damage->done = truncate(from, wish.at) == 0;
        if (wish.how == TURN) damage->done = turn(from, info.st_size);
    }
    if (named && wish.how == REMOVE) { /* before it has its name, so that nobody reads it in time */
        damage->done = unlink(from) == 0;
        return 0;
    }
    return (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

/* Pauses before a file is read again are short here, and one that heals does it then. */
int nanosleep(const struct timespec *time, struct timespec *left)
{
    struct timespec some = *time;

    if (wish.heals && damage->done && some.tv_nsec == 30000000)
        damage->done = !flip(damage->path, wish.at);
    if (wish.name && some.tv_nsec > 1000000) some.tv_nsec = 1000000;
    return (int)syscall(SYS_clock_nanosleep, 0, 0, &some, left); /* CLOCK_REALTIME */
}

/* The clock runs four times as fast: ranks look for the end of others each quarter of a second. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
    int err = (int)syscall(SYS_clock_gettime, clock, time);
    long quarters = 4 * time->tv_nsec;

    time->tv_sec = 4 * time->tv_sec + quarters / 1000000000;
    time->tv_nsec = quarters % 1000000000;
    return err;
}

static void make_damage(void)
{
    damage = mmap(NULL, sizeof(*damage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memset(&wish, 0, sizeof(wish));
    wish.wait_s = 120;
    assert_true(damage != MAP_FAILED);
    make();
}

static void clear_damage(void)
{
    memset(&wish, 0, sizeof(wish));
    munmap(damage, sizeof(*damage));
    clear();
}

static int open_waiting(struct ny_transport **out, struct ny_context *own, unsigned rank)
{
    const bool may[2] = {rank == 0, rank == 1};
    struct ny_folder_wish folder_wish = {
        .path = folder, .ranks = 2, .may = may, .wait_s = wish.wait_s};

    return ny_folder_open(out, own, &folder_wish);
}

/* ---- one exchange --------------------------------------------------------------------------- */

static uint64_t number(unsigned round, unsigned from, unsigned to, unsigned i)
{
    return 0x9e3779b97f4a7c15u * (1 + i + 10 * to + 100 * from + 1000 * round);
}

/* Two numbers of rank 0 and three of rank 1, to both. */
static int gather(struct ny_transport *transport, unsigned round, bool *right)
{
    const size_t sizes[2] = {2 * sizeof(uint64_t), 3 * sizeof(uint64_t)};
    uint64_t mine[3], all[5];
    int err;

    for (unsigned i = 0; i < 3; i++)
        mine[i] = number(round, transport->rank, 0, i);
    err = transport->ops->gather(transport, mine, sizes, all);
    for (unsigned i = 0; i < 5 && !err; i++)
        *right = *right && all[i] == number(round, i > 1, 0, i > 1 ? i - 2 : i);
    return err;
}

static int trade(struct ny_transport *transport, unsigned round, bool *right)
{
    uint64_t out[4], in[4];
    int err;

    for (unsigned i = 0; i < 4; i++)
        out[i] = number(round, transport->rank, i / 2, i % 2);
    err = transport->ops->trade(transport, out, 2 * sizeof(*out), in);
    for (unsigned i = 0; i < 4 && !err; i++)
        *right = *right && in[i] == number(round, i / 2, transport->rank, i % 2);
    return err;
}

static int talk(struct ny_context *own, unsigned rank, unsigned ranks)
{
    OWNED(ny_transport) *transport = NULL;
    bool right = true;
    int err = open_waiting(&transport, own, rank);

    (void)ranks;
    if (err) return err;
    err = gather(transport, 0, &right);
    if (!err) err = trade(transport, 1, &right);
    if (!err) err = gather(transport, 2, &right);
    if (err) {
        ny_fail(own, err, "%s", transport->why);
        transport->ops->abandon(transport, err, transport->why);
    } else {
        answer[rank].at = right ? RIGHT : WRONG;
    }
    return err;
}

/* Runs the exchange with a damaged file. Returns whether it failed; who does not fail has all bytes
 * right. */
static bool talks_wrong(const char *name, enum how how, off_t at)
{
    bool failed = false;

    wish.name = name;
    wish.how = how;
    wish.at = at;
    damage->done = false;
    run(2, talk);
    for (unsigned rank = 0; rank < 2; rank++) {
        if (answer[rank].status)
            failed = true;
        else if (answer[rank].at != RIGHT)
            fail_msg("%s, byte %ld: rank %u has other bytes", name, (long)at, rank);
    }
    return failed;
}

static bool says(int status, const char *words)
{
    bool said = false;

    for (unsigned rank = 0; rank < 2; rank++)
        said =
            said || (answer[rank].status == status && strstr(answer[rank].message, words) != NULL);
    return said;
}

/* The messages, and other files that all runs have; those of ranks end with their numbers. */
static const char *const messages[] = {"/0-00000", "/0-00001", "/1-00000",
                                       "/1-00001", "/2-00000", "/2-00001"};
static const char *const markers[] = {"/start", "/who-00000", "/who-00001"};

static void expect_refused(const char *name, enum how how, off_t at)
{
    if (!talks_wrong(name, how, at)) fail_msg("%s, byte %ld: nobody noticed", name, (long)at);
    if (!says(NY_ESTORE, name))
        fail_msg("%s, byte %ld: '%s', '%s'", name, (long)at, answer[0].message, answer[1].message);
}

/* ---- tests ---------------------------------------------------------------------------------- */

TEST(test_no_bit_of_a_message_is_taken_for_another)
{
    for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
        bool trades = messages[i][1] == '1';
        unsigned from = (unsigned)(messages[i][7] - '0');
        off_t size;

        assert_false(talks_wrong(messages[i], NOTHING, 0));
        size = damage->size;
        assert_true(size > 0);
        for (off_t at = 0; at < size; at += 5) {
            /* nobody else reads what a rank trades with itself */
            bool own = trades && at / (size / 2) == from;

            if (own)
                assert_false(talks_wrong(messages[i], FLIP, at));
            else
                expect_refused(messages[i], FLIP, at);
            assert_true(damage->done);
        }
        expect_refused(messages[i], CUT, 0);
        expect_refused(messages[i], CUT, size - 1);
        if (trades) expect_refused(messages[i], TURN, 0);
    }
}

TEST(test_no_bit_of_a_marker_is_taken_for_another)
{
    unsigned refused = 0;

    for (size_t i = 0; i < sizeof(markers) / sizeof(markers[0]); i++) {
        clear(); /* of damaged markers: a rank may be slow to put its own */
        make();
        wish.wait_s = 120;
        assert_false(talks_wrong(markers[i], NOTHING, 0));
        wish.wait_s = 1; /* who cannot read a marker takes it for one that is not there yet */
        for (off_t at = 0, size = damage->size; at < size; at += 41)
            refused += talks_wrong(markers[i], FLIP, at) && says(NY_ESTORE, markers[i]);
    }
    assert_true(refused >= 8);
}

TEST(test_a_file_that_heals_is_read_again)
{
    wish.heals = true;
    for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
        off_t at = messages[i][7] == '0' ? 30 : 3; /* of a trade: for the other rank */

        if (messages[i][1] != '1') at = 3;
        assert_false(talks_wrong(messages[i], FLIP, at));
        assert_false(damage->done); /* it was healed, by the reader's pause */
    }
}

TEST(test_nobody_waits_for_a_message_that_was_removed)
{
    for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
        assert_true(talks_wrong(messages[i], REMOVE, 0));
        assert_true(damage->done);
        if (!says(NY_EIO, "was removed") && !says(NY_EBUSY, "was removed"))
            fail_msg("%s: '%s', '%s'", messages[i], answer[0].message, answer[1].message);
    }
}

/* Rank 1 ends with an error, whose words are damaged. */
static int give_up(struct ny_context *own, unsigned rank, unsigned ranks)
{
    OWNED(ny_transport) *transport = NULL;
    bool right = true;
    int err = open_waiting(&transport, own, rank);

    (void)ranks;
    if (err) return err;
    if (rank)
        transport->ops->abandon(transport, NY_EDATA, "row 7 is no row");
    else
        err = gather(transport, 0, &right);
    if (err) ny_fail(own, err, "%s", transport->why);
    if (rank) await(0, TOLD);
    return err;
}

static int give_up_and_wait(struct ny_context *own, unsigned rank, unsigned ranks)
{
    int err = give_up(own, rank, ranks);

    answer[rank].at = TOLD;
    return err;
}

TEST(test_damaged_last_words_end_the_others)
{
    run(2, give_up_and_wait);
    assert_int_equal(answer[0].status, NY_EDATA);
    assert_string_equal(answer[0].message, "row 7 is no row");
    for (off_t at = 0; at < 1000; at += 97) {
        wish.name = "/abandoned";
        wish.how = FLIP;
        wish.at = at;
        run(2, give_up_and_wait);
        assert_int_equal(answer[0].status, NY_ESTORE);
        assert_non_null(strstr(answer[0].message, "/abandoned is damaged"));
    }
}

/* ---- long waits ------------------------------------------------------------------------------ */

static void hear_notice(void *user, int level, const char *text)
{
    struct answer *mine = user;

    (void)level;
    if (strstr(text, "for rank 0 of 2, on ")) mine->at = TOLD;
}

/* Rank 0 comes when rank 1 has said that it waits. */
static int wait_long(struct ny_context *own, unsigned rank, unsigned ranks)
{
    OWNED(ny_transport) *transport = NULL;
    bool right = true;
    int err = open_waiting(&transport, own, rank);

    (void)ranks;
    if (err) return err;
    transport->notice_s = 0.05;
    ny_context_set_log(own, hear_notice, &answer[rank]);
    ny_transport_attach(transport, own);
    if (rank == 0) await(1, TOLD);
    err = gather(transport, 0, &right);
    return err;
}

TEST(test_a_long_wait_is_told)
{
    run(2, wait_long);
    assert_int_equal(answer[0].status, NY_OK);
    assert_int_equal(answer[1].status, NY_OK);
}

AROUND_EACH(make_damage, clear_damage)
