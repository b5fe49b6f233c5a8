/* Experiment 2 in C, beside experiments/pipe_ring.erl: the same rings, and the same last line.
 *
 *   c pipes N K PAR
 *
 * One thread and one epoll set, each pipe added to it once. A relay's line is written at once; the
 * line that comes back is read with one call, and its number less one goes to the next relay.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 128, EVENTS = 256 };

struct relay {
    pid_t pid;
    int in, out;
    struct relay *next;
    size_t have;
    char line[LINE];
};

extern char **environ;

static void check(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

static double micros(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static void start_cat(struct relay *r)
{
    static char *argv[] = {"/bin/cat", NULL};
    posix_spawn_file_actions_t actions;
    int to[2], from[2];
    check(pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0, "pipe2");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], 0);
    posix_spawn_file_actions_adddup2(&actions, from[1], 1);
    errno = posix_spawn(&r->pid, argv[0], &actions, NULL, argv, environ);
    check(errno == 0, "posix_spawn");
    posix_spawn_file_actions_destroy(&actions);
    close(to[0]);
    close(from[1]);
    r->out = to[1];
    r->in = from[0];
    check(fcntl(r->in, F_SETFL, O_NONBLOCK) == 0, "fcntl");
    check(fcntl(r->out, F_SETFL, O_NONBLOCK) == 0, "fcntl");
}

/* No relay has more than one line under way, so that there is always room in its pipe. */
static void pass(struct relay *r, long k)
{
    char text[24];
    int n = snprintf(text, sizeof text, "%ld\n", k);
    check(write(r->out, text, n) == n, "write");
}

/* Reads what there is. Answers whether a ring has come to its end. */
static int take(struct relay *r)
{
    ssize_t n = read(r->in, r->line + r->have, LINE - r->have);
    if (n < 0 && errno == EAGAIN)
        return 0;
    check(n > 0, "read");
    r->have += n;
    char *end = memchr(r->line, '\n', r->have);
    if (end == NULL)
        return 0;
    long k = strtol(r->line, NULL, 10) - 1;
    r->have -= end + 1 - r->line;
    memmove(r->line, end + 1, r->have);
    if (k == 0)
        return 1;
    pass(r->next, k);
    return 0;
}

int pipes(int argc, char **argv)
{
    long n = argc == 4 ? atol(argv[1]) : 0, k = n > 0 ? atol(argv[2]) : 0;
    long par = k > 0 ? atol(argv[3]) : 0, left = par;
    if (par <= 0) {
        fprintf(stderr, "usage: pipes N K PAR\n");
        return 2;
    }
    struct relay *all = calloc(n * par, sizeof *all);
    int set = epoll_create1(EPOLL_CLOEXEC);
    check(all != NULL && set >= 0, "epoll_create1");
    for (long i = 0; i < n * par; i++) {
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = &all[i]};
        start_cat(&all[i]);
        all[i].next = &all[i / n * n + (i + 1) % n];
        check(epoll_ctl(set, EPOLL_CTL_ADD, all[i].in, &e) == 0, "epoll_ctl");
    }
    double start = micros();
    for (long ring = 0; ring < par; ring++)
        pass(&all[ring * n], k);
    while (left > 0) {
        struct epoll_event events[EVENTS];
        int count = epoll_wait(set, events, EVENTS, -1);
        check(count >= 0 || errno == EINTR, "epoll_wait");
        for (int i = 0; i < count; i++)
            left -= take(events[i].data.ptr);
    }
    double spent = micros() - start;
    printf("(total run (N:%ld K:%ld Par:%ld) %.0fms %.0f/s)\n", n, k, par, spent / 1000,
           (double)k * par * 1e6 / spent);
    for (long i = 0; i < n * par; i++)
        close(all[i].out);
    while (wait(NULL) > 0)
        ;
    free(all);
    return 0;
}
