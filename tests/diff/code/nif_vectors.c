/* For nif_vectors.erl: vectors whose structure is gone before the environment is. */
#include <stdlib.h>
#include <string.h>
#include <erl_nif.h>

#define MOST_PARTS 64

static ERL_NIF_TERM boolean(ErlNifEnv *env, int value)
{
    return enif_make_atom(env, value ? "true" : "false");
}

static int load(ErlNifEnv *env, void **data, ERL_NIF_TERM info)
{
    (void) env, (void) data, (void) info;
    return 0;
}

/* {Sizes, Sum, Tail, whether the structure is the caller's}; null if it is no list of binaries */
static ERL_NIF_TERM seen(ErlNifEnv *env, ErlNifIOVec *v, ErlNifIOVec *own, ERL_NIF_TERM tail)
{
    ERL_NIF_TERM sizes[MOST_PARTS];
    unsigned char sum = 0;
    size_t at;
    int i;

    for (i = 0; i < v->iovcnt && i < MOST_PARTS; i++) {
        sizes[i] = enif_make_uint64(env, v->iov[i].iov_len);
        for (at = 0; at < v->iov[i].iov_len; at++)
            sum += ((unsigned char *) v->iov[i].iov_base)[at];
    }
    return enif_make_tuple5(env, enif_make_list_from_array(env, sizes, i), enif_make_uint64(env, v->size),
                            enif_make_uint(env, sum), tail, boolean(env, v == own));
}

/* (List, Most): the environment frees the rest. */
static ERL_NIF_TERM inspect(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifIOVec *own = malloc(sizeof *own), *v = own;
    ERL_NIF_TERM tail, result;
    unsigned most;

    (void) argc;
    if (!enif_get_uint(env, argv[1], &most) || !enif_inspect_iovec(env, most, argv[0], &tail, &v))
        result = enif_make_badarg(env);
    else
        result = seen(env, v, own, tail);
    memset(own, 0xff, sizeof *own);
    free(own);
    return result;
}

/* (List, Most): without an environment */
static ERL_NIF_TERM keep(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifIOVec own, *v = &own;
    ERL_NIF_TERM tail, result;
    unsigned most;

    (void) argc;
    if (!enif_get_uint(env, argv[1], &most) || !enif_inspect_iovec(NULL, most, argv[0], &tail, &v))
        return enif_make_badarg(env);
    result = seen(env, v, &own, tail);
    enif_free_iovec(v);
    return result;
}

/* (List): through a queue, which outlives the structure */
static ERL_NIF_TERM queue(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifIOQueue *q = enif_ioq_create(ERL_NIF_IOQ_NORMAL);
    ErlNifIOVec *own = malloc(sizeof *own), *v = own, from;
    ERL_NIF_TERM tail, result;
    int count;

    (void) argc;
    if (!enif_inspect_iovec(env, MOST_PARTS, argv[0], &tail, &v) || !enif_ioq_enqv(q, v, 1))
        result = enif_make_badarg(env);
    else {
        memset(own, 0xff, sizeof *own);
        from.iov = enif_ioq_peek(q, &count);
        from.iovcnt = count;
        from.size = enif_ioq_size(q);
        result = seen(env, &from, &from, tail);
    }
    enif_ioq_destroy(q);
    free(own);
    return result;
}

static ErlNifFunc functions[] = {
    {"inspect", 2, inspect, 0},
    {"inspect_dirty", 2, inspect, ERL_NIF_DIRTY_JOB_IO_BOUND},
    {"keep", 2, keep, 0},
    {"keep_dirty", 2, keep, ERL_NIF_DIRTY_JOB_CPU_BOUND},
    {"queue", 1, queue, 0},
    {"queue_dirty", 1, queue, ERL_NIF_DIRTY_JOB_IO_BOUND},
};
ERL_NIF_INIT(nif_vectors, functions, load, NULL, NULL, NULL)
