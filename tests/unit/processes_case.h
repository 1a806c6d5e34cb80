/* Tests whose work is done by several processes, with a folder between them that is gone after each
 * test. */
#ifndef TESTS_UNIT_PROCESSES_CASE_H
#define TESTS_UNIT_PROCESSES_CASE_H

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "peers/folder.h"
#include "support/context.h"
#include "support/exchange_case.h"
#include "support/store_case.h"

enum { RANKS_MAX = 12 };

static char folder[128];

/* A process leaves this for the parent. */
struct answer {
    volatile int at; /* how far it has come */
    int status;
    double ended_s;
    uint64_t digests[CASE_SHARDS];
    char message[2048];
    pid_t process;
};

static struct answer *answer; /* RANKS_MAX, shared with all children */

/* The work of a child, with a context of its own. */
typedef int rank_fn(struct ny_context *own, unsigned rank, unsigned ranks);

static inline void begin(unsigned rank, unsigned ranks, rank_fn *work)
{
    struct answer *mine = &answer[rank];
    struct ny_context *own;
    pid_t process;

    memset(mine, 0, sizeof(*mine));
    fflush(NULL);
    process = fork();
    assert_true(process >= 0);
    if (process) {
        mine->process = process;
        return;
    }
    signal(SIGALRM, SIG_DFL);
    alarm(60);
    if (ny_context_new(&own)) _exit(1);
    mine->status = work(own, rank, ranks);
    snprintf(mine->message, sizeof(mine->message), "%s", ny_context_message(own));
    mine->ended_s = ny_now();
    _exit(ny_memory_used(own) ? 99 : 0);
}

static inline void end(unsigned rank)
{
    int status;

    assert_int_equal(waitpid(answer[rank].process, &status, 0), answer[rank].process);
    if (WIFEXITED(status) && WEXITSTATUS(status)) fail_msg("rank %u holds memory", rank);
    if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL) fail_msg("rank %u hangs", rank);
}

static inline void run(unsigned ranks, rank_fn *work)
{
    for (unsigned rank = 0; rank < ranks; rank++)
        begin(rank, ranks, work);
    for (unsigned rank = 0; rank < ranks; rank++)
        end(rank);
}

/* Each of these ranks has ended with this status; one that failed, with these words in its message.
 */
static inline void assert_ended(unsigned ranks, int status, const char *words)
{
    for (unsigned rank = 0; rank < ranks; rank++) {
        if (!status) assert_string_equal(answer[rank].message, "");
        assert_int_equal(answer[rank].status, status);
        assert_non_null(strstr(answer[rank].message, words));
    }
}

static void close_transport(struct ny_transport *transport)
{
    if (transport) transport->ops->close(transport);
}

OWNS_POINTER(ny_transport, close_transport)

/* Opens the transport through the folder as one rank of them. */
static inline int open_rank(struct ny_transport **out, struct ny_context *own, unsigned rank,
                            unsigned ranks)
{
    bool may[2 * RANKS_MAX] = {false};
    struct ny_folder_wish wish = {.path = folder, .ranks = ranks, .may = may, .wait_s = 20};

    may[rank] = true;
    return ny_folder_open(out, own, &wish);
}

static inline void rest(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};

    nanosleep(&time, NULL);
}

/* Waits until a child has come so far. */
static inline void await(unsigned rank, int at)
{
    for (int i = 0; answer[rank].at < at && i < 2000; i++)
        rest(0.01);
    assert_true(answer[rank].at >= at);
}

/* Begins with all of them, and waits until each has come so far. */
static inline void begin_all(unsigned ranks, rank_fn *work)
{
    for (unsigned rank = 0; rank < ranks; rank++)
        begin(rank, ranks, work);
    for (unsigned rank = 0; rank < ranks; rank++)
        await(rank, 1);
}

static inline void kill_rank(unsigned rank)
{
    kill(answer[rank].process, SIGKILL);
    end(rank);
}

static inline void make(void)
{
    case_directory(folder);
    answer = mmap(NULL, RANKS_MAX * sizeof(*answer), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(answer != MAP_FAILED);
    start();
}

static inline void clear(void)
{
    case_remove(folder);
    munmap(answer, RANKS_MAX * sizeof(*answer));
    stop();
}

#endif
