/* The experiments in C: the first argument names one. */
#include <stdio.h>
#include <string.h>

int files(int argc, char **argv);
int lines(int argc, char **argv);
int pipes(int argc, char **argv);

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} experiments[] = {{"files", files}, {"pipes", pipes}, {"blocking", pipes}, {"lines", lines}};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof experiments / sizeof *experiments; i++)
        if (strcmp(argv[1], experiments[i].name) == 0)
            return experiments[i].run(argc - 1, argv + 1);
    fprintf(stderr, "usage: c files DIR MB [LIMITms] [BLOCK_KB...] | c pipes N K PAR | c blocking N K PAR"
                    " | c lines MB\n");
    return 2;
}
