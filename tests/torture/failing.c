/* Makes the n-th write, sync, rename, link or unlink below one folder fail: once, or from then on.
 *
 * Built by disks.py and loaded before the C library; what to do stands in the environment:
 * FAIL_UNDER (folder), FAIL_AT (number from 1; 0 only counts), FAIL_ON ("" once, "1" for good),
 * FAIL_COUNT (file that the number of calls is written to at the end).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long calls;

static const char *under(void) { return getenv("FAIL_UNDER"); }

static int path_is_ours(const char *path) {
    const char *folder = under();
    if (!folder || !path) return 0;
    if (path[0] == '/') return strncmp(path, folder, strlen(folder)) == 0;
    char here[PATH_MAX];
    return getcwd(here, sizeof here) && strncmp(here, folder, strlen(folder)) == 0;
}

static int file_is_ours(int fd) {
    char link[64], path[PATH_MAX];
    if (!under() || fd < 3) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return path_is_ours(path);
}

static int fails(void) {
    const char *at = getenv("FAIL_AT"), *on = getenv("FAIL_ON");
    long wanted = at ? atol(at) : 0, number = atomic_fetch_add(&calls, 1) + 1;
    if (!wanted) return 0;
    return number == wanted || (on && on[0] && number > wanted);
}

__attribute__((destructor)) static void tell(void) {
    const char *name = getenv("FAIL_COUNT");
    if (!name) return;
    char text[32];
    int length = snprintf(text, sizeof text, "%ld\n", (long)calls), fd = open(name, O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (fd >= 0) {
        ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
        if (real(fd, text, length) < 0) {}
        close(fd);
    }
}

#define REAL(name, type, ...) type (*real)(__VA_ARGS__) = dlsym(RTLD_NEXT, name)
#define FAIL(code) do { errno = code; return -1; } while (0)

ssize_t write(int fd, const void *data, size_t size) {
    REAL("write", ssize_t, int, const void *, size_t);
    if (file_is_ours(fd) && fails()) FAIL(ENOSPC);
    return real(fd, data, size);
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
    REAL("pwrite", ssize_t, int, const void *, size_t, off_t);
    if (file_is_ours(fd) && fails()) FAIL(ENOSPC);
    return real(fd, data, size, at);
}
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
    REAL("pwrite64", ssize_t, int, const void *, size_t, off64_t);
    if (file_is_ours(fd) && fails()) FAIL(ENOSPC);
    return real(fd, data, size, at);
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
    REAL("writev", ssize_t, int, const struct iovec *, int);
    if (file_is_ours(fd) && fails()) FAIL(ENOSPC);
    return real(fd, parts, count);
}
int fsync(int fd) {
    REAL("fsync", int, int);
    if (file_is_ours(fd) && fails()) FAIL(EIO);
    return real(fd);
}
int fdatasync(int fd) {
    REAL("fdatasync", int, int);
    if (file_is_ours(fd) && fails()) FAIL(EIO);
    return real(fd);
}
int unlink(const char *path) {
    REAL("unlink", int, const char *);
    if (path_is_ours(path) && fails()) FAIL(EIO);
    return real(path);
}
int rename(const char *from, const char *to) {
    REAL("rename", int, const char *, const char *);
    if (path_is_ours(to) && fails()) FAIL(EIO);
    return real(from, to);
}
int link(const char *from, const char *to) {
    REAL("link", int, const char *, const char *);
    if (path_is_ours(to) && fails()) FAIL(EIO);
    return real(from, to);
}
