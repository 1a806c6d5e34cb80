/*
 * Asks the operating system about time, memory and CPUs, and does what only Linux has (system.h).
 *
 * Memory that is available is that of the machine, the limit of the container, or a share of what
 * the limits of the process leave (ulimit -v, -d), whichever is less. The default budget is half of
 * it (base/context.c). CPUs are those that the process may run on.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/heap.h"
#include "base/memory.h"
#include "base/system.h"

#include <time.h>

#ifndef RENAME_EXCHANGE /* older versions of musl */
#include <linux/fs.h>
#define renameat2(...) (int)syscall(SYS_renameat2, __VA_ARGS__)
#endif

double ny_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The number after `key` in a file of "key  number [kB]" lines; 0 when not there. A number that is
 * alone in its file has the key "". */
static size_t field_of(const char *path, const char *key, size_t unit)
{
    FILE *file = fopen(path, "r");
    char line[256];
    size_t value = 0;
    size_t length = strlen(key);

    if (!file) return 0;
    while (fgets(line, sizeof(line), file))
        if (strncmp(line, key, length) == 0 && sscanf(line + length, "%zu", &value) == 1) break;
    fclose(file);
    return value * unit;
}

size_t ny_rss_peak_bytes(void)
{
    return field_of("/proc/self/status", "VmHWM:", 1024);
}

struct mapping {
    uintptr_t start, end;
    char permissions[5]; /* "r--s": others see what is written, "rw-p": nobody else does */
    unsigned long file;  /* inode; 0: none */
};

/* Finds the mapping that holds `at`; false where the system does not tell. */
static bool find_mapping(const void *at, struct mapping *found)
{
    FILE *file = fopen("/proc/self/maps", "r");
    char line[4400]; /* with a path */
    bool there = false;

    while (file && !there && fgets(line, sizeof(line), file))
        there = sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %*s %*s %lu", &found->start,
                       &found->end, found->permissions, &found->file) == 4 &&
                (uintptr_t)at >= found->start && (uintptr_t)at < found->end;
    if (file) fclose(file);
    return there;
}

char *ny_mapping_of(const void *at, size_t *bytes)
{
    struct mapping found;

    if (!find_mapping(at, &found)) return NULL;
    *bytes = found.end - found.start;
    return (char *)found.start;
}

bool ny_memory_is_file(const void *at)
{
    struct mapping found;

    return find_mapping(at, &found) && found.file != 0;
}

bool ny_memory_is_shared(const void *at, size_t bytes)
{
    struct mapping found;

    return find_mapping(at, &found) && found.file != 0 && found.permissions[3] == 's' &&
           bytes <= found.end - (uintptr_t)at;
}

static size_t least_limit(size_t a, size_t b)
{
    return !a || (b && b < a) ? b : a;
}

/* Returns the least limit of the cgroup named on the line of /proc/self/cgroup that begins after
 * "N:" with `controller` ("memory:" for v1, ":" for v2), and of all groups above it: Slurm limits a
 * job and its steps, and runs each task in a group without a limit. 0 where there is none. */
static size_t cgroup_limit(const char *controller, const char *root, const char *file_name)
{
    FILE *file = fopen("/proc/self/cgroup", "r");
    char line[512], path[1024];
    size_t limit = 0;

    if (!file) return 0;
    while (fgets(line, sizeof(line), file)) {
        char *name = strchr(line, ':');

        if (!name || strncmp(name + 1, controller, strlen(controller)) != 0) continue;
        name += 1 + strlen(controller);
        name[strcspn(name, "\n")] = '\0';
        for (char *end = name + strlen(name); end; end = strrchr(name, '/')) {
            *end = '\0';
            snprintf(path, sizeof(path), "%s%s/%s", root, name, file_name);
            limit = least_limit(limit, field_of(path, "", 1)); /* 0 for "max" */
        }
    }
    fclose(file);
    return limit;
}

/* Makes a limit the least one, if it leaves less: it is compared with what /proc/self/status says
 * that the process has of that kind. */
static void lower(struct ny_ulimit *least, const struct rlimit *limit, const char *option,
                  const char *held)
{
    size_t bytes = (size_t)limit->rlim_cur, used, left;

    if (limit->rlim_cur == RLIM_INFINITY) return;
    used = field_of("/proc/self/status", held, 1024);
    left = bytes > used ? bytes - used : 0;
    if (!least->option || left < least->left) *least = (struct ny_ulimit){option, bytes, left};
}

struct ny_ulimit ny_ulimit(void)
{
    struct ny_ulimit least = {.option = NULL};
    struct rlimit limit;

    if (getrlimit(RLIMIT_AS, &limit) == 0) lower(&least, &limit, "-v", "VmSize:");
    if (getrlimit(RLIMIT_DATA, &limit) == 0) lower(&least, &limit, "-d", "VmData:");
    return least;
}

/* Returns the share of a limit of the process that a budget may come from; 0 where there is none.
 * The other half is for what counts there and is hardly resident: OpenBLAS's buffers of 128 MiB a
 * thread, stacks, the maps of LMDB. The least is for commands that multiply nothing: they need
 * little, and half of it lets them run. */
static size_t share_of_ulimit(void)
{
    const size_t least = (size_t)128 << 20;
    struct ny_ulimit limit = ny_ulimit();

    if (!limit.option) return 0;
    return limit.left / 2 > least ? limit.left / 2 : least;
}

size_t ny_memory_available(void)
{
    const size_t fallback = (size_t)1 << 31;
    size_t available = field_of("/proc/meminfo", "MemAvailable:", 1024);
    size_t v1 = cgroup_limit("memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes");
    size_t v2 = cgroup_limit(":", "/sys/fs/cgroup", "memory.max");

    available = least_limit(available ? available : fallback, least_limit(v1, v2));
    return least_limit(available, share_of_ulimit());
}

unsigned ny_cpu_count(void)
{
    cpu_set_t set;
    int count = 0;

    if (sched_getaffinity(0, sizeof(set), &set) == 0) count = CPU_COUNT(&set);
    return count > 0 ? (unsigned)count : 1;
}

unsigned ny_cpu_online(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);

    return online > 0 ? (unsigned)online : 1;
}

int ny_open_unnamed(const char *folder, mode_t rights)
{
    return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, rights);
}

bool ny_link_unnamed(int fd, const char *path)
{
    char link[40];
    struct stat info;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    return path ? linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0
                : lstat(link, &info) == 0;
}

int ny_exchange_names(const char *one, const char *other)
{
    return renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE);
}

int ny_open_memory(const char *name)
{
    return memfd_create(name, MFD_CLOEXEC);
}

int ny_open_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC)) return -1;
    (void)fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
    return 0;
}

void ny_limit_seconds(pid_t child, unsigned seconds)
{
    struct rlimit cpu;

    if (prlimit(child, RLIMIT_CPU, NULL, &cpu) || cpu.rlim_cur <= seconds) return;
    cpu.rlim_cur = seconds;
    (void)prlimit(child, RLIMIT_CPU, &cpu, NULL);
}

/* ---- the process -------------------------------------------------------------------------- */

bool ny_program_path(char path[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);

    path[length > 0 ? length : 0] = '\0';
    return length > 0;
}

const char *ny_program_name(void)
{
    return program_invocation_short_name;
}

size_t ny_program_words(char *words, size_t bytes)
{
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, words, bytes);

    if (fd >= 0) close(fd);
    return got > 0 ? (size_t)got : 0;
}

void ny_heap_keep(int mapped_bytes, int trim_bytes)
{
#ifdef M_TRIM_THRESHOLD /* not in musl */
    if (mapped_bytes) mallopt(M_MMAP_THRESHOLD, mapped_bytes);
    mallopt(M_TRIM_THRESHOLD, trim_bytes);
#else
    (void)(mapped_bytes + trim_bytes);
#endif
}

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#warning "nystream is for little-endian machines: on this one it opens no store"
#endif

int ny_check_byte_order(struct ny_context *ctx)
{
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) return NY_OK;
    return ny_fail(ctx, NY_EUSAGE,
                   "this machine is big-endian, and stores are for little-endian ones, such as "
                   "x86-64 and ARM64: work on one of these");
}
