/* Experiment 4 in C, beside experiments/file_matrix.erl: the same cells and lines.
 *
 *   c files DIR MB [LIMITms] [BLOCK_KB...]
 *
 * "raw" are plain system calls; "ordinary", "read_ahead" and "delayed_write" are stdio, which is
 * what C programs use for what those do.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char path[4096];
static long size;
/* How long a cell may take in microseconds; 0: until its whole size has passed. */
static long limit;

static void check(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    unlink(path);
    exit(1);
}

static uint64_t draw(void)
{
    static uint64_t s = 88172645463325252u;
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    return s;
}

static double micros(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

/* What one cell does. */
struct work {
    int fd;
    FILE *f;
    int writes;
    const long *at;
    char *block;
    long length;
};

static void pass_raw(const struct work *w, long from, long to)
{
    for (long i = from; i < to; i++) {
        check(!w->at || lseek(w->fd, w->at[i], SEEK_SET) == w->at[i], "lseek");
        long n = w->writes ? write(w->fd, w->block, w->length) : read(w->fd, w->block, w->length);
        check(n == w->length, w->writes ? "write" : "read");
    }
}

static void pass_stdio(const struct work *w, long from, long to)
{
    for (long i = from; i < to; i++) {
        check(!w->at || fseek(w->f, w->at[i], SEEK_SET) == 0, "fseek");
        size_t n = w->writes ? fwrite(w->block, w->length, 1, w->f)
                             : fread(w->block, w->length, 1, w->f);
        check(n == 1, w->writes ? "fwrite" : "fread");
    }
}

/* Passes all blocks, or as many as the time allows (it looks at the clock a thousand times): how
 * many. */
static long pass(const struct work *w, long count, double start)
{
    long piece = limit == 0 ? count : count < 1000 ? 1 : count / 1000, done = 0;
    while (done < count && (done == 0 || limit == 0 || micros() - start < limit)) {
        long to = done + piece < count ? done + piece : count;
        (w->f ? pass_stdio : pass_raw)(w, done, to);
        done = to;
    }
    check((w->f ? fclose(w->f) : close(w->fd)) == 0, "close");
    return done;
}

static void cell(const char *pattern, const char *handle, long kb)
{
    long length = kb * 1024, count = size / length;
    int writes = strstr(pattern, "write") != NULL;
    int random = strncmp(pattern, "random", 6) == 0;
    char *block = malloc(length);
    long *at = random ? malloc(count * sizeof *at) : NULL;
    check(block != NULL && (at != NULL || !random), "malloc");
    for (long i = 0; i < length; i++)
        block[i] = (char)draw();
    for (long i = 0; random && i < count; i++)
        at[i] = draw() % (size - length + 1);
    /* The Erlang program opens and empties its file before its clock starts. */
    if (writes)
        check(truncate(path, random ? size : 0) == 0, "truncate");
    int raw = strcmp(handle, "raw") == 0;
    int fd = raw ? open(path, !writes ? O_RDONLY : at ? O_RDWR : O_WRONLY) : -1;
    FILE *f = raw ? NULL : fopen(path, !writes ? "r" : at ? "r+" : "w");
    check(raw ? fd >= 0 : f != NULL, "open");
    struct work work = {fd, f, writes, at, block, length};
    double start = micros();
    long done = pass(&work, count, start);
    double spent = micros() - start;
    if (spent < 1)
        spent = 1;
    printf("(%s %s %ldKB: %.0f ms %.1f MB/s)\n", pattern, handle, kb, spent / 1000,
           (double)done * length / spent);
    free(block);
    free(at);
}

/* By calls of 1 MB, as the Erlang program does: how a file was written decides how large the pieces
 * are in which the kernel keeps it, and that what each later call costs. */
static void fill(void)
{
    static uint64_t words[1048576 / sizeof(uint64_t)];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        words[i] = draw();
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    check(fd >= 0, "open");
    for (long i = 0; i < size; i += sizeof words)
        check(write(fd, words, sizeof words) == sizeof words, "write");
    check(close(fd) == 0, "close");
}

int files(int argc, char **argv)
{
    static const char *plan[][4] = {
        {"sequential_read", "ordinary", "raw", "read_ahead"},
        {"random_read", "ordinary", "raw", NULL},
        {"sequential_write", "ordinary", "raw", "delayed_write"},
        {"random_write", "ordinary", "raw", NULL},
    };
    long blocks[32], known = 0;
    if (argc < 3 || (size = atol(argv[2]) * 1048576) <= 0) {
        fprintf(stderr, "usage: files DIR MB [LIMITms] [BLOCK_KB...]\n");
        return 2;
    }
    int first = 3;
    if (argc > 3 && strstr(argv[3], "ms"))
        limit = 1000 * atol(argv[first++]);
    for (int i = first; i < argc && known < 32 && atol(argv[i]) > 0; i++)
        blocks[known++] = atol(argv[i]);
    for (long kb = 1, all = known == 0; all && kb <= 1024; kb *= 2)
        blocks[known++] = kb;
    snprintf(path, sizeof path, "%s/files.%d", argv[1], (int)getpid());
    for (size_t p = 0; p < sizeof plan / sizeof *plan; p++) {
        fill();
        for (int h = 1; h < 4 && plan[p][h]; h++)
            for (long b = 0; b < known; b++)
                cell(plan[p][0], plan[p][h], blocks[b]);
    }
    unlink(path);
    return 0;
}
