/*
 * How the ranks of the folder transport come together.
 *
 * Each process locks the file of a rank and writes a note with a random number of its own. Rank 0
 * chooses the number of the run; the others read it and put it into their notes. When all notes
 * have it, rank 0 writes them into the file run-…/start, and who finds his own note there takes
 * part. So files of earlier runs mislead nobody: they have another number, and a process that took
 * the rank of a dead one is not in their start.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "peers/folder_private.h"

/* One meeting: what the steps below share. */
struct meeting {
    const struct ny_folder_wish *wish;
    double began_s;  /* the wait for the others, by ny_now() */
    unsigned joined; /* rank 0: the ranks below this one have joined the run */
};

static bool is_late(const struct meeting *meeting)
{
    return ny_now() - meeting->began_s > meeting->wish->wait_s;
}

static int random_number(struct ny_folder *folder, uint64_t *number)
{
    if (getentropy(number, sizeof(*number)) == 0) return NY_OK;
    return ny_folder_fail(folder, NY_EIO, "the system gives no random number: %s", strerror(errno));
}

/* ---- a rank --------------------------------------------------------------------------------- */

/* Makes and locks a file, operation LOCK_EX or LOCK_SH; NY_END where another process has it. */
static int lock_file(struct ny_folder *folder, const char *path, int operation, int *fd)
{
    int err;

    *fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (*fd < 0) return ny_folder_fail_errno(folder, "create", path);
    if (flock(*fd, operation | LOCK_NB) == 0) return NY_OK;
    err = errno == EWOULDBLOCK || errno == EINTR ? NY_END
                                                 : ny_folder_fail_errno(folder, "lock", path);
    close(*fd);
    *fd = -1;
    return err;
}

/* Takes the first rank that this process may have and nobody else has. While others end, or look
 * who is there, a rank that will be free seems taken. */
static int take_rank(struct ny_folder *folder, const struct meeting *meeting)
{
    const struct ny_folder_wish *wish = meeting->wish;
    char path[PATH_MAX];
    int err = NY_END;

    while (err == NY_END) {
        for (unsigned rank = 0; rank < wish->ranks && err == NY_END; rank++) {
            if (wish->may && !wish->may[rank]) continue;
            ny_folder_rank_path(folder, "peer", rank, path);
            folder->transport.rank = rank;
            err = lock_file(folder, path, LOCK_EX, &folder->locks[NY_FOLDER_RANK]);
        }
        if (err != NY_END) break;
        if (is_late(meeting))
            return ny_folder_fail(folder, NY_EBUSY,
                                  "other processes hold all %u ranks of %s%s; wait for them to "
                                  "end, or use another folder",
                                  wish->ranks, wish->path,
                                  wish->may ? " that have their shards here" : "");
        err = ny_folder_sleep(folder, meeting->began_s);
        if (!err) err = NY_END;
    }
    return err;
}

/* ---- a run ---------------------------------------------------------------------------------- */

/* Says who has not come, after the wait. */
static int fail_late(struct ny_folder *folder, const struct meeting *meeting)
{
    unsigned missing = 0, first = 0;
    char path[PATH_MAX];

    for (unsigned rank = folder->transport.ranks; rank-- > 0;) {
        ny_folder_rank_path(folder, "peer", rank, path);
        if (rank == folder->transport.rank || ny_folder_held(path)) continue;
        first = rank;
        missing++;
    }
    if (!missing)
        return ny_folder_fail(folder, NY_EBUSY,
                              "the %u processes at %s did not agree on a run within %.0f s; end "
                              "those of earlier jobs, and start again",
                              folder->transport.ranks, meeting->wish->path, meeting->wish->wait_s);
    return ny_folder_fail(folder, NY_EBUSY,
                          "rank %u has not arrived at %s within %.0f s (%u of %u processes are "
                          "missing); start it and this one again, or wait longer (--peers-wait)",
                          first, meeting->wish->path, meeting->wish->wait_s, missing,
                          folder->transport.ranks);
}

/* Removes what a run has left, unless a process still takes part in it. */
static void remove_leftover(const char *path)
{
    char members[PATH_MAX + 16];
    int fd;

    snprintf(members, sizeof(members), "%s/members", path);
    fd = open(members, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0) ny_folder_remove(path);
    if (fd >= 0) close(fd);
}

static void remove_leftovers(const struct ny_folder *folder)
{
    DIR *listing = opendir(folder->path);
    struct dirent *entry;
    char path[PATH_MAX];

    while (listing && (entry = readdir(listing))) {
        if (strncmp(entry->d_name, "run-", 4) != 0 || strlen(entry->d_name) >= NY_FOLDER_NAME)
            continue;
        snprintf(path, sizeof(path), "%s/%.*s", folder->path, NY_FOLDER_NAME - 1, entry->d_name);
        remove_leftover(path);
    }
    if (listing) closedir(listing);
}

/* Needs the files of the run from now on. NY_END: who has just left the run removes them. */
static int join(struct ny_folder *folder)
{
    char path[PATH_MAX];

    ny_folder_run_path(folder, "members", path);
    return lock_file(folder, path, LOCK_SH, &folder->locks[NY_FOLDER_MEMBERS]);
}

/* Leaves the run that this process waits in for another one. NY_END: that one has ended, maybe
 * while it was joined. */
static int change_run(struct ny_folder *folder, uint64_t run)
{
    char leader[PATH_MAX];
    int err;

    ny_folder_leave(folder);
    folder->self.run = run;
    ny_folder_run_path(folder, "leader", leader);
    err = ny_folder_held(leader) ? join(folder) : NY_END;
    if (!ny_folder_held(leader)) err = NY_END; /* an error of join() came of that */
    if (err) ny_folder_leave(folder);
    return err ? err : ny_folder_tell(folder);
}

/* Begins a run, as rank 0. The lock in its folder, which has a new name, is held by this process
 * alone, so that a note of an earlier rank 0 is never taken for that of a living one. */
static int begin_run(struct ny_folder *folder)
{
    char path[PATH_MAX];
    int err = random_number(folder, &folder->self.run);

    if (err) return err;
    remove_leftovers(folder);
    ny_folder_run_path(folder, "", path);
    if (mkdir(path, 0777)) return ny_folder_fail_errno(folder, "create", path);
    ny_folder_run_path(folder, "leader", path);
    err = lock_file(folder, path, LOCK_EX, &folder->locks[NY_FOLDER_LEADER]);
    if (!err) err = join(folder);
    return err ? err : ny_folder_tell(folder);
}

static int fail_differing(struct ny_folder *folder, unsigned rank, uint64_t ranks)
{
    return ny_folder_fail(folder, NY_EUSAGE,
                          "the process with rank %u counts %llu processes at %s, but this one %u; "
                          "give the same command to each",
                          rank, (unsigned long long)ranks, folder->path, folder->transport.ranks);
}

/* Asks whether a rank takes part in the run, and keeps its note; NY_END: not yet. */
static int ask(struct ny_folder *folder, struct ny_folder_note *members, unsigned rank)
{
    int err = ny_folder_hear(folder, rank, &members[rank]);
    char path[PATH_MAX];

    if (err || members[rank].run != folder->self.run) return err ? err : NY_END;
    if (members[rank].ranks != folder->transport.ranks)
        return fail_differing(folder, rank, members[rank].ranks);
    ny_folder_rank_path(folder, "peer", rank, path);
    return ny_folder_held(path) ? NY_OK : NY_END;
}

/* Asks the ranks from *rank on, up to one that does not take part yet, where *rank stays. */
static int ask_from(struct ny_folder *folder, struct ny_folder_note *members, unsigned *rank)
{
    int err = NY_OK;

    while (!err && *rank < folder->transport.ranks) {
        err = ask(folder, members, *rank);
        if (!err) ++*rank;
    }
    return err;
}

/* Rank 0 asks who takes part. When all do, it asks all once more, as some may have ended meanwhile,
 * and writes the start. NY_END: not yet. */
static int gather_notes(struct ny_folder *folder, struct meeting *meeting,
                        struct ny_folder_note *members)
{
    const struct ny_folder_shape shape = {1, folder->transport.ranks * sizeof(*members)};
    char path[PATH_MAX];
    int err = ask_from(folder, members, &meeting->joined);

    if (err) return err;
    meeting->joined = 1;
    err = ask_from(folder, members, &meeting->joined);
    if (err) return err;
    members[0] = folder->self;
    ny_folder_run_path(folder, "start", path);
    return ny_folder_write(folder, path, &shape, members);
}

/* Follows rank 0: takes part in the run that its note has now, and looks for the start of that with
 * this process in it. NY_END: not yet. */
static int follow(struct ny_folder *folder, struct ny_folder_note *members)
{
    unsigned ranks = folder->transport.ranks, rank = folder->transport.rank;
    const struct ny_folder_shape shape = {1, ranks * sizeof(*members)};
    struct ny_folder_note first;
    char path[PATH_MAX];
    int err = ny_folder_hear(folder, 0, &first);

    if (err) return err;
    if (first.run != folder->self.run) err = change_run(folder, first.run);
    if (err) return err;
    if (first.ranks != ranks) return fail_differing(folder, 0, first.ranks);
    ny_folder_run_path(folder, "start", path);
    err = ny_folder_read(folder, path, &shape, 0, members);
    if (err) return err;
    return members[rank].process == folder->self.process ? NY_OK : NY_END;
}

void ny_folder_word_look(struct ny_folder_word *word)
{
    struct stat info;

    word->seen = stat(word->path, &info) ? (struct timespec){0} : info.st_mtim;
}

void ny_folder_word_leave(const struct ny_folder_word *word, const char *why)
{
    char fresh[PATH_MAX + 4];
    FILE *file;
    bool said;

    if (!*word->path) return;
    snprintf(fresh, sizeof(fresh), "%s.new", word->path);
    file = fopen(fresh, "we");
    if (!file) return;
    said = fputs(why, file) >= 0;
    if (fclose(file) == 0 && said) (void)rename(fresh, word->path);
}

/* Fails where a process of the job has left a word since this one began. */
static int hear_word(struct ny_folder *folder, const struct ny_folder_wish *wish)
{
    struct ny_folder_word now;
    char why[512] = "";
    FILE *file;

    if (!wish->word) return NY_OK;
    now = *wish->word;
    ny_folder_word_look(&now);
    if (!memcmp(&now.seen, &wish->word->seen, sizeof(now.seen))) return NY_OK;
    file = fopen(now.path, "re");
    if (!file) return NY_OK;
    if (!fgets(why, sizeof(why), file)) *why = '\0';
    fclose(file);
    return ny_folder_fail(folder, NY_EBUSY, "a process of this job ended before it came to %s: %s",
                          wish->path, why);
}

int ny_folder_meet(struct ny_folder *folder, const struct ny_folder_wish *wish)
{
    struct meeting meeting = {.wish = wish, .began_s = ny_now(), .joined = 1};
    size_t ranks = wish->ranks;
    struct ny_folder_note *members = ny_calloc(folder->ctx, NY_MEM_OTHER, ranks, sizeof(*members));
    int err;

    if (!members) return NY_EBUDGET;
    err = take_rank(folder, &meeting);
    if (!err) err = random_number(folder, &folder->self.process);
    if (!err && folder->transport.rank == 0) err = begin_run(folder);
    meeting.began_s = ny_now();
    while (!err) {
        err = folder->transport.rank ? follow(folder, members)
                                     : gather_notes(folder, &meeting, members);
        if (err != NY_END) break;
        err = is_late(&meeting) ? fail_late(folder, &meeting)
                                : ny_folder_sleep(folder, meeting.began_s);
        if (!err) err = hear_word(folder, wish);
    }
    if (err) {
        ny_free(folder->ctx, members);
        return err;
    }
    folder->member = members;
    if (wish->word) unlink(wish->word->path); /* an earlier one */
    return NY_OK;
}
