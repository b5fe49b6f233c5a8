/* The experiments in C: the first argument names one. */
#include <stdio.h>
#include <string.h>

int files(int argc, char **argv);
int pipes(int argc, char **argv);

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "files") == 0)
        return files(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "pipes") == 0)
        return pipes(argc - 1, argv + 1);
    fprintf(stderr, "usage: c files DIR MB [BLOCK_KB...] | c pipes N K PAR\n");
    return 2;
}
