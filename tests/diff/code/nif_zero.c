/* For nif_zero.erl: libraries take the word 0 for no term, and wait for descriptors of sockets. */
#include <stdint.h>
#include <erl_nif.h>

static int nulls;
static ErlNifResourceType *type;

static ERL_NIF_TERM seen(ERL_NIF_TERM t)
{
    nulls += t == 0;
    return t;
}

static void stop(ErlNifEnv *env, void *data, int fd, int is_direct)
{
    (void) env, (void) data, (void) fd, (void) is_direct;
}

static int load(ErlNifEnv *env, void **data, ERL_NIF_TERM info)
{
    ErlNifResourceTypeInit init = {0};
    int i = -1;

    (void) data;
    init.stop = stop;
    type = enif_open_resource_type_x(env, "zero", &init, ERL_NIF_RT_CREATE, NULL);
    return !(type != NULL && seen(info) && enif_get_int(env, info, &i) && i == 0);
}

/* Zero by each function that makes or returns an integer, as elements, keys and values of other terms. */
static ERL_NIF_TERM zeros(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM all[12], list, map, head, tail, value, copy;
    ErlNifEnv *other = enif_alloc_env();
    unsigned n = 0;
    int number = 7;

    (void) argc;
    all[n++] = seen(argv[0]);
    all[n++] = seen(enif_make_int(env, 0));
    all[n++] = seen(enif_make_uint(env, 0));
    all[n++] = seen(enif_make_long(env, 0));
    all[n++] = seen(enif_make_ulong(env, 0));
    all[n++] = seen(enif_make_int64(env, 0));
    all[n++] = seen(enif_make_uint64(env, 0));
    list = enif_make_list_from_array(env, all, n);
    enif_get_list_cell(env, list, &head, &tail);
    all[n++] = seen(head);
    map = enif_make_new_map(env);
    enif_make_map_put(env, map, all[1], all[2], &map);
    enif_get_map_value(env, map, argv[0], &value);
    all[n++] = seen(value);
    copy = enif_make_copy(other, all[3]);
    all[n++] = seen(copy);
    enif_get_int(env, all[4], &number);
    value = enif_make_tuple5(env, enif_make_int(env, number), enif_make_int(env, enif_is_identical(all[1], argv[0])),
                             enif_make_int(env, enif_compare(all[2], all[3])), enif_make_list_cell(env, all[5], all[6]),
                             enif_make_int(env, enif_term_type(env, all[1]) == ERL_NIF_TERM_TYPE_INTEGER));
    value = enif_make_tuple4(env, enif_make_int(env, nulls), map, enif_make_tuple_from_array(env, all, n), value);
    enif_free_env(other);
    return value;
}

static ERL_NIF_TERM zero(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void) argc, (void) argv;
    return enif_make_int(env, 0);
}

/* Called again with its arguments, which it returns at the end. */
static ERL_NIF_TERM again(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM next[2];

    (void) argc;
    if (enif_is_atom(env, argv[1]))
        return argv[0];
    next[0] = enif_make_int(env, 0);
    next[1] = enif_make_atom(env, "end");
    return enif_schedule_nif(env, "again", 0, again, 2, next);
}

static ERL_NIF_TERM raise(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void) argc, (void) argv;
    return enif_raise_exception(env, enif_make_int(env, 0));
}

static ERL_NIF_TERM tell(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifEnv *message = enif_alloc_env();
    ErlNifPid self;
    int sent;

    (void) argc, (void) argv;
    sent = enif_send(env, enif_self(env, &self), message, enif_make_int(message, 0));
    enif_free_env(message);
    return enif_make_int(env, sent);
}

/* Whether a descriptor can be waited for. What waited for it is kept by the message. */
static ERL_NIF_TERM writable(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    void *resource = enif_alloc_resource(type, 1);
    int fd, result;

    (void) argc;
    enif_get_int(env, argv[0], &fd);
    result = enif_select(env, fd, ERL_NIF_SELECT_WRITE, resource, NULL, enif_make_int(env, 0));
    enif_release_resource(resource);
    return enif_make_int(env, result);
}

static ErlNifFunc functions[] = {
    {"zeros", 1, zeros},
    {"zero", 0, zero},
    {"again", 2, again},
    {"raise", 0, raise},
    {"tell", 0, tell},
    {"writable", 1, writable},
};

ERL_NIF_INIT(nif_zero, functions, load, NULL, NULL, NULL)
