/* For code_nif_entry.erl. */
#include <erl_nif.h>

typedef struct {
    ErlNifPid to;
    ErlNifPort port;
    ErlNifEnv *env;
    ERL_NIF_TERM message;
    int has_port;
} Last;

static ErlNifResourceType *last_type;

/* Sends a term of the environment, which enif_free() lets go of, or writes it to a port. */
static void last_gone(ErlNifEnv *env, void *data)
{
    Last *last = data;

    if (last->has_port) {
        enif_port_command(env, &last->port, NULL, last->message);
        enif_free_env(last->env);
    } else {
        enif_send(env, &last->to, last->env, last->message);
        enif_free(last->env);
    }
}

static int load(ErlNifEnv *env, void **data, ERL_NIF_TERM info)
{
    last_type = enif_open_resource_type(env, NULL, "last", last_gone, ERL_NIF_RT_CREATE, NULL);
    return last_type == NULL;
}

static ERL_NIF_TERM from_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    return enif_make_atom(env, "nif");
}

/* A resource that sends a term to a process or writes bytes to a port when it is gone. */
static ERL_NIF_TERM last_words(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    Last *last = enif_alloc_resource(last_type, sizeof(Last));
    ERL_NIF_TERM term;

    last->has_port = enif_get_local_port(env, argv[0], &last->port);
    if (!last->has_port)
        enif_get_local_pid(env, argv[0], &last->to);
    last->env = enif_alloc_env();
    last->message = enif_make_copy(last->env, argv[1]);
    term = enif_make_resource(env, last);
    enif_release_resource(last);
    return term;
}

static ERL_NIF_TERM encoded(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifBinary bytes;

    enif_term_to_binary(env, argv[0], &bytes);
    return enif_make_binary(env, &bytes);
}

static ErlNifFunc functions[] = {
    {"leaf", 0, from_nif},
    {"framed", 0, from_nif},
    {"building", 1, from_nif},
    {"last_words", 2, last_words},
    {"encoded", 1, encoded},
};

ERL_NIF_INIT(code_nif_entry, functions, load, NULL, NULL, NULL)
