# Pages of 64 KiB, as ARM64 servers may have them: a library in front of the C library answers so, ends
# a program that asks for what a kernel with such pages refuses, and maps at such pages. It cannot show what
# only the kernel does: where SIGBUS begins behind the end of a file, how much madvise() frees, and
# what a power cut leaves of a page.
load helper

setup_file() {
    [ -z "${NYSTREAM_SANITIZER-}" ] || skip "a sanitizer maps memory itself"
    cd "$BATS_FILE_TMPDIR" || return
    cat >pages.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 65536 };

#define ROUNDED(bytes) (((bytes) + PAGE - 1) / PAGE * PAGE)
#define CALL(number, at, ...) ((uintptr_t)(at) % PAGE ? abort() : (void)0, (int)syscall(number, at, __VA_ARGS__))

long sysconf(int name)
{
    return name == _SC_PAGESIZE ? PAGE : ((long (*)(int))dlsym(RTLD_NEXT, "sysconf"))(name);
}

int getpagesize(void)
{
    return PAGE;
}

void *mmap(void *at, size_t length, int prot, int flags, int fd, off_t offset)
{
    size_t bytes = ROUNDED(length);
    char *room;

    if (offset % PAGE || ((flags & MAP_FIXED) && (uintptr_t)at % PAGE)) abort();
    if (!(flags & MAP_FIXED)) {
        room = (char *)syscall(SYS_mmap, NULL, bytes + PAGE, PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (room == MAP_FAILED) return room;
        at = (void *)ROUNDED((uintptr_t)room);
        if (room < (char *)at) syscall(SYS_munmap, room, (char *)at - room);
        if ((char *)at - room < PAGE)
            syscall(SYS_munmap, (char *)at + bytes, PAGE - ((char *)at - room));
    }
    return (void *)syscall(SYS_mmap, at, length, prot, flags | MAP_FIXED, fd, offset);
}

void *mmap64(void *at, size_t length, int prot, int flags, int fd, off_t offset)
{
    return mmap(at, length, prot, flags, fd, offset);
}

int munmap(void *at, size_t length)
{
    return CALL(SYS_munmap, at, ROUNDED(length));
}

int madvise(void *at, size_t length, int advice)
{
    return CALL(SYS_madvise, at, ROUNDED(length), advice);
}

int mprotect(void *at, size_t length, int prot)
{
    return CALL(SYS_mprotect, at, ROUNDED(length), prot);
}

int msync(void *at, size_t length, int flags)
{
    return CALL(SYS_msync, at, length, flags);
}
C
    cc -shared -fPIC -O1 -o pages.so pages.c
    table 6000 12 >t.csv
    table 300 12 >more.csv
}

large() { # COMMAND…: with pages of 64 KiB
    LD_PRELOAD=$BATS_FILE_TMPDIR/pages.so "$@"
}

# Import, fit, append, update, transform and export, some of them by BEFORE.
goes() { # FOLDER BEFORE AFTER
    mkdir "$1"
    $2 nystream import "$1/s" "$BATS_FILE_TMPDIR/t.csv" -q
    $3 nystream fit "$1/s" a --landmarks 300 -q
    $2 nystream import "$1/s" "$BATS_FILE_TMPDIR/more.csv" --append -q
    $3 nystream fit "$1/s" a --update full -q
    $2 nystream graph "$1/s" near -q
    $3 nystream verify "$1/s"
    $2 nystream export "$1/s" a -o "$1/a.npy" -q
    $3 nystream export "$1/s" near --part graph -o "$1/near.mtx" -q
    $2 nystream export "$1/s" a --part model -o "$1/a.nym" -q
    $3 nystream transform "$1/a.nym" --input "$BATS_FILE_TMPDIR/more.csv" -o "$1/placed.npy" -q
    $2 nystream export "$1/s" --part points -o "$1/points.npy" -q
    $3 nystream rm "$1/s" near -q
    $2 nystream compact "$1/s" -q
    $3 nystream verify "$1/s"
}

# bats test_tags=slow
@test "stores on pages of 64 KiB have the same bytes in them, and each page size reads the other's" {
    [ "$(large getconf PAGESIZE)" = 65536 ]
    goes small env env
    goes large large large
    [ "$(od -An -tu4 -j40 -N4 large/s/points/data.mdb)" -eq 32768 ] # LMDB's largest pages
    goes both env large
    goes both2 large env
    for folder in large both both2; do
        for file in a.npy near.mtx placed.npy points.npy; do
            cmp small/$file $folder/$file
        done
    done
}
