/* A clock that is set back by CLOCK_BACK seconds after CLOCK_AFTER seconds of a process. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long shift(void)
{
    static int (*real)(clockid_t, struct timespec *);
    static double began = -1;
    struct timespec now;
    const char *back = getenv("CLOCK_BACK"), *after = getenv("CLOCK_AFTER");
    if (!real)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    real(CLOCK_MONOTONIC, &now);
    double seconds = now.tv_sec + now.tv_nsec / 1e9;
    if (began < 0)
        began = seconds;
    return back && seconds - began > (after ? atof(after) : 0) ? atol(back) : 0;
}

int clock_gettime(clockid_t which, struct timespec *result)
{
    static int (*real)(clockid_t, struct timespec *);
    if (!real)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int status = real(which, result);
    if (!status && which == CLOCK_REALTIME)
        result->tv_sec -= shift();
    return status;
}

time_t time(time_t *result)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result)
        *result = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *restrict result, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    result->tv_sec = now.tv_sec;
    result->tv_usec = now.tv_nsec / 1000;
    return 0;
}
