/* For since27_nif_options.erl: what erl_nif.h has since 2.17. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <erl_nif.h>

#define NAME_SIZE 64

/* What load() was told to do, and what came of it. */
static struct {
    ErlNifMutex *lock;
    ErlNifCond *changed;
    int halting;
    int calls;          /* of on_unload_thread */
    int schedulers;
    char unloaded[256]; /* a file that unload() makes */
} state;

static void say(const char *text)
{
    if (write(1, text, strlen(text)) < 0)
        _exit(99);
}

static void on_halt(void *data)
{
    say(data == &state ? "on_halt\n" : "on_halt: other data\n");
    enif_mutex_lock(state.lock);
    state.halting = 1;
    enif_cond_broadcast(state.changed);
    enif_mutex_unlock(state.lock);
}

static void on_unload_thread(void *data)
{
    enif_mutex_lock(state.lock);
    state.calls += data == &state;
    enif_mutex_unlock(state.lock);
}

/* {Options, Schedulers, FileOfUnload}, where an option is an atom */
static int load(ErlNifEnv *env, void **data, ERL_NIF_TERM info)
{
    const ERL_NIF_TERM *parts;
    ERL_NIF_TERM list, head;
    int arity, ok = 1;
    char name[NAME_SIZE];

    *data = &state;
    state.lock = enif_mutex_create("nif_options");
    state.changed = enif_cond_create("nif_options");
    if (!enif_get_tuple(env, info, &arity, &parts) || arity != 3
        || !enif_get_int(env, parts[1], &state.schedulers)
        || enif_get_string(env, parts[2], state.unloaded, sizeof(state.unloaded), ERL_NIF_UTF8) <= 0)
        return 1;
    for (list = parts[0]; enif_get_list_cell(env, list, &head, &list);) {
        enif_get_atom(env, head, name, NAME_SIZE, ERL_NIF_LATIN1);
        if (!strcmp(name, "delay_halt")) {
            ok &= enif_set_option(env, ERL_NIF_OPT_DELAY_HALT) == 0;
            ok &= enif_set_option(env, ERL_NIF_OPT_DELAY_HALT) == EINVAL;
        } else if (!strcmp(name, "on_halt")) {
            ok &= enif_set_option(env, ERL_NIF_OPT_ON_HALT, NULL) == EINVAL;
            ok &= enif_set_option(env, ERL_NIF_OPT_ON_HALT, on_halt) == 0;
            ok &= enif_set_option(env, ERL_NIF_OPT_ON_HALT, on_halt) == EINVAL;
        } else if (!strcmp(name, "on_unload_thread")) {
            ok &= enif_set_option(env, ERL_NIF_OPT_ON_UNLOAD_THREAD, NULL) == EINVAL;
            ok &= enif_set_option(env, ERL_NIF_OPT_ON_UNLOAD_THREAD, on_unload_thread) == 0;
            ok &= enif_set_option(env, ERL_NIF_OPT_ON_UNLOAD_THREAD, on_unload_thread) == EINVAL;
        }
    }
    return ok ? 0 : 2;
}

static void unload(ErlNifEnv *env, void *data)
{
    FILE *file = fopen(state.unloaded, "w");

    (void) env;
    if (file) {
        fputs(data == &state && state.calls == state.schedulers ? "each thread" : "not each thread", file);
        fclose(file);
    }
}

/* Returns when the VM halts; sends `begun` first. */
static ERL_NIF_TERM until_halt(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifPid to;
    ErlNifEnv *message = enif_alloc_env();

    (void) argc;
    if (enif_get_local_pid(env, argv[0], &to))
        enif_send(env, &to, message, enif_make_atom(message, "begun"));
    enif_free_env(message);
    enif_mutex_lock(state.lock);
    while (!state.halting)
        enif_cond_wait(state.changed, state.lock);
    enif_mutex_unlock(state.lock);
    usleep(50000);
    say("the call ends\n");
    return enif_make_atom(env, "ok");
}

static ERL_NIF_TERM late_option(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void) argc, (void) argv;
    return enif_make_int(env, enif_set_option(env, ERL_NIF_OPT_DELAY_HALT) == EINVAL);
}

static ErlNifCharEncoding encoding(ErlNifEnv *env, ERL_NIF_TERM t)
{
    char name[NAME_SIZE];

    return enif_get_atom(env, t, name, NAME_SIZE, ERL_NIF_LATIN1) && !strcmp(name, "utf8")
        ? ERL_NIF_UTF8 : ERL_NIF_LATIN1;
}

/* (String, Encoding, Room): {Length, Result of enif_get_string, bytes} */
static ERL_NIF_TERM string(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM bytes;
    char text[NAME_SIZE];
    unsigned length = 4711, room;
    int there = enif_get_string_length(env, argv[0], &length, encoding(env, argv[1]));
    int n;

    (void) argc;
    if (!enif_get_uint(env, argv[2], &room) || room > NAME_SIZE)
        return enif_make_badarg(env);
    n = enif_get_string(env, argv[0], text, room, encoding(env, argv[1]));
    memcpy(enif_make_new_binary(env, n ? abs(n) - 1 : 0, &bytes), text, n ? abs(n) - 1 : 0);
    return enif_make_tuple3(env, there ? enif_make_uint(env, length) : enif_make_atom(env, "none"),
                            enif_make_int(env, n), bytes);
}

/* (Name, Encoding): {atom, its length in both encodings, its name in this one, as a string} */
static ERL_NIF_TERM new_atom(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifBinary name;
    ERL_NIF_TERM atom, same, none = enif_make_atom(env, "none");
    char text[4 * 256];
    unsigned latin1 = 0, utf8 = 0;
    int n;

    (void) argc;
    if (!enif_inspect_binary(env, argv[0], &name))
        return enif_make_badarg(env);
    if (!enif_make_new_atom_len(env, (char *) name.data, name.size, &atom, encoding(env, argv[1])))
        return none;
    if (!enif_make_existing_atom_len(env, (char *) name.data, name.size, &same, encoding(env, argv[1]))
        || !enif_is_identical(atom, same))
        return enif_make_badarg(env);
    enif_get_atom_length(env, atom, &latin1, ERL_NIF_LATIN1);
    enif_get_atom_length(env, atom, &utf8, ERL_NIF_UTF8);
    n = enif_get_atom(env, atom, text, sizeof(text), encoding(env, argv[1]));
    return enif_make_tuple5(env, atom, enif_make_uint(env, latin1), enif_make_uint(env, utf8),
                            enif_make_int(env, n),
                            n ? enif_make_string(env, text, encoding(env, argv[1])) : none);
}

static ErlNifFunc functions[] = {
    {"until_halt", 1, until_halt, ERL_NIF_DIRTY_JOB_IO_BOUND},
    {"late_option", 0, late_option, 0},
    {"string", 3, string, 0},
    {"new_atom", 2, new_atom, 0},
};
ERL_NIF_INIT(nif_options, functions, load, NULL, NULL, unload)
