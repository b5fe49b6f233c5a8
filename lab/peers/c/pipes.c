/* Experiment 2 in C, beside experiments/pipe_ring.erl: the same rings, and the same last line.
 *
 *   c pipes N K PAR
 *   c blocking N K PAR
 *
 * `pipes`: one thread and one epoll set, each pipe added to it once. A relay's line is written at
 * once; the line that comes back is read with one call, and its number less one goes to the next
 * relay. `blocking`: a thread for each ring, which writes a line and waits for it.
 *
 *   c lines MB
 *
 * Beside `lines` of lab/erlang/ports.erl: so many megabytes through one `cat` and back, in lines of
 * each length, some of them under way all the time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
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
}

static void dont_wait(struct relay *r)
{
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

static void poll_rings(struct relay *all, long n, long k, long par)
{
    long left = par;
    int set = epoll_create1(EPOLL_CLOEXEC);
    check(set >= 0, "epoll_create1");
    for (long i = 0; i < n * par; i++) {
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = &all[i]};
        dont_wait(&all[i]);
        check(epoll_ctl(set, EPOLL_CTL_ADD, all[i].in, &e) == 0, "epoll_ctl");
    }
    for (long ring = 0; ring < par; ring++)
        pass(&all[ring * n], k);
    while (left > 0) {
        struct epoll_event events[EVENTS];
        int count = epoll_wait(set, events, EVENTS, -1);
        check(count >= 0 || errno == EINTR, "epoll_wait");
        for (int i = 0; i < count; i++)
            left -= take(events[i].data.ptr);
    }
    close(set);
}

struct ring {
    struct relay *first;
    long k;
    pthread_t thread;
};

static void *turn(void *arg)
{
    struct ring *ring = arg;
    struct relay *r = ring->first;
    for (long k = ring->k; k > 0; r = r->next) {
        ssize_t have = 0;
        pass(r, k);
        do {
            ssize_t n = read(r->in, r->line + have, LINE - have);
            check(n > 0, "read");
            have += n;
        } while (r->line[have - 1] != '\n');
        k = strtol(r->line, NULL, 10) - 1;
    }
    return NULL;
}

static void block_rings(struct relay *all, long n, long k, long par)
{
    struct ring *rings = calloc(par, sizeof *rings);
    check(rings != NULL, "calloc");
    for (long i = 0; i < par; i++) {
        rings[i].first = &all[i * n];
        rings[i].k = k;
        errno = pthread_create(&rings[i].thread, NULL, turn, &rings[i]);
        check(errno == 0, "pthread_create");
    }
    for (long i = 0; i < par; i++)
        pthread_join(rings[i].thread, NULL);
    free(rings);
}

int pipes(int argc, char **argv)
{
    long n = argc == 4 ? atol(argv[1]) : 0, k = n > 0 ? atol(argv[2]) : 0;
    long par = k > 0 ? atol(argv[3]) : 0;
    if (par <= 0) {
        fprintf(stderr, "usage: %s N K PAR\n", argv[0]);
        return 2;
    }
    struct relay *all = calloc(n * par, sizeof *all);
    check(all != NULL, "calloc");
    for (long i = 0; i < n * par; i++) {
        start_cat(&all[i]);
        all[i].next = &all[i / n * n + (i + 1) % n];
    }
    double start = micros();
    if (strcmp(argv[0], "blocking") == 0)
        block_rings(all, n, k, par);
    else
        poll_rings(all, n, k, par);
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

/* Of what is to be sent, as much as fits. */
static size_t send_some(struct relay *r, const char *text, size_t length, size_t at, size_t end)
{
    while (at < end) {
        size_t from = at % length, most = length - from < end - at ? length - from : end - at;
        ssize_t n = write(r->out, text + from, most);
        if (n < 0 && errno == EAGAIN)
            break;
        check(n > 0, "write");
        at += n;
    }
    return at;
}

static void lines_of(size_t length, size_t bytes)
{
    static char buffer[65536];
    size_t line = length + 1, count = bytes / length, ahead = 32768 / line;
    size_t sent = 0, came = 0, lines = 0;
    struct relay cat = {0};
    char *text = malloc(line);
    check(text != NULL, "malloc");
    memset(text, 'x', length);
    text[length] = '\n';
    ahead = ahead < 1 ? 1 : ahead;
    start_cat(&cat);
    dont_wait(&cat);
    double start = micros();
    while (lines < count) {
        size_t end = lines + ahead < count ? lines + ahead : count;
        sent = send_some(&cat, text, line, sent, end * line);
        struct pollfd fds[] = {{cat.in, POLLIN, 0}, {cat.out, sent < end * line ? POLLOUT : 0, 0}};
        check(poll(fds, 2, -1) >= 0 || errno == EINTR, "poll");
        ssize_t n = read(cat.in, buffer, sizeof buffer);
        check(n > 0 || (n < 0 && errno == EAGAIN), "read");
        came += n > 0 ? n : 0;
        /* Each line ends where it must. */
        check(n <= 0 || came % line != 0 || buffer[n - 1] == '\n', "line");
        lines = came / line;
    }
    printf("portlines/%zu %f MB/s\n", length, count * length / (micros() - start));
    close(cat.out);
    close(cat.in);
    waitpid(cat.pid, NULL, 0);
    free(text);
}

int lines(int argc, char **argv)
{
    static const struct { size_t length, part; } plan[] = {{1, 1024}, {128, 16}, {4096, 2}, {65536, 1}};
    long bytes = argc == 2 ? atol(argv[1]) * 1048576 : 0;
    if (bytes <= 0) {
        fprintf(stderr, "usage: lines MB\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof plan / sizeof *plan; i++)
        lines_of(plan[i].length, bytes / plan[i].part);
    return 0;
}
