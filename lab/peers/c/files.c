/* Experiment 4 in C, beside experiments/file_matrix.erl: the same cells and lines.
 *
 *   c files DIR MB [BLOCK_KB...]
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

static void pass_raw(int fd, int writes, const long *at, char *block, long length, long count)
{
    for (long i = 0; i < count; i++) {
        check(!at || lseek(fd, at[i], SEEK_SET) == at[i], "lseek");
        long n = writes ? write(fd, block, length) : read(fd, block, length);
        check(n == length, writes ? "write" : "read");
    }
    check(close(fd) == 0, "close");
}

static void pass_stdio(FILE *f, int writes, const long *at, char *block, long length, long count)
{
    for (long i = 0; i < count; i++) {
        check(!at || fseek(f, at[i], SEEK_SET) == 0, "fseek");
        size_t n = writes ? fwrite(block, length, 1, f) : fread(block, length, 1, f);
        check(n == 1, writes ? "fwrite" : "fread");
    }
    check(fclose(f) == 0, "fclose");
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
    double start = micros();
    if (raw)
        pass_raw(fd, writes, at, block, length, count);
    else
        pass_stdio(f, writes, at, block, length, count);
    double spent = micros() - start;
    if (spent < 1)
        spent = 1;
    printf("(%s %s %ldKB: %.0f ms %.0f MB/s)\n", pattern, handle, kb, spent / 1000,
           (double)count * length / spent);
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
        fprintf(stderr, "usage: files DIR MB [BLOCK_KB...]\n");
        return 2;
    }
    for (int i = 3; i < argc && known < 32 && atol(argv[i]) > 0; i++)
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
