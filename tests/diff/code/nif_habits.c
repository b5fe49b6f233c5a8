/* For nif_habits.erl: what no manual page promises, and libraries rely on. */
#include <errno.h>
#include <langinfo.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <erl_nif.h>

#define NAME_SIZE 32

static ErlNifResourceType *type;
static ErlNifMutex *mutex;
static ErlNifRWLock *rwlock;

typedef struct {
    ErlNifPid to;
} Resource;

/* Takes a lock, which its caller may have, and tells on what kind of thread it runs. */
static void destroyed(ErlNifEnv *env, void *data)
{
    ErlNifEnv *message = enif_alloc_env();
    int has_time = enif_monotonic_time(ERL_NIF_NSEC) != ERL_NIF_TIME_ERROR;

    enif_mutex_lock(mutex);
    enif_send(env, &((Resource *) data)->to, message,
              enif_make_tuple4(message, enif_make_atom(message, "destroyed"),
                               enif_make_int(message, enif_thread_type()), enif_make_int(message, has_time),
                               enif_make_int(message, enif_sizeof_resource(data) == sizeof(Resource))));
    enif_mutex_unlock(mutex);
    enif_free_env(message);
}

static int load(ErlNifEnv *env, void **data, ERL_NIF_TERM info)
{
    (void) data, (void) info;
    type = enif_open_resource_type(env, NULL, "habit", destroyed, ERL_NIF_RT_CREATE, NULL);
    mutex = enif_mutex_create("habit");
    rwlock = enif_rwlock_create(NULL);
    return type == NULL;
}

static ERL_NIF_TERM boolean(ErlNifEnv *env, int value)
{
    return enif_make_atom(env, value ? "true" : "false");
}

static void *new_resource(ErlNifEnv *env)
{
    Resource *r = enif_alloc_resource(type, sizeof(Resource));

    enif_self(env, &r->to);
    return r;
}

/* With a lock that the destructor takes */
static ERL_NIF_TERM release_locked(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    void *r = new_resource(env);

    (void) argc, (void) argv;
    enif_mutex_lock(mutex);
    enif_release_resource(r);
    enif_mutex_unlock(mutex);
    return enif_make_atom(env, "ok");
}

static void *release(void *r)
{
    enif_release_resource(r);
    return NULL;
}
/* By a thread that the VM does not know */
static ERL_NIF_TERM release_elsewhere(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    pthread_t thread;

    (void) argc, (void) argv;
    pthread_create(&thread, NULL, release, new_resource(env));
    pthread_join(thread, NULL);
    return enif_make_atom(env, "ok");
}

/* (Size): a binary that C writes to after it is a term, and releases */
static ERL_NIF_TERM written_later(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifBinary b;
    ERL_NIF_TERM term;
    unsigned size;

    (void) argc;
    if (!enif_get_uint(env, argv[0], &size) || !enif_alloc_binary(size, &b))
        return enif_make_badarg(env);
    memset(b.data, 'a', size);
    term = enif_make_binary(env, &b);
    memset(b.data, 'b', size);
    enif_release_binary(&b);
    return enif_make_tuple2(env, term, boolean(env, b.size == size && b.data[size - 1] == 'b'));
}

/* What is too large, and what is nothing */
static ERL_NIF_TERM sizes(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifBinary b;
    ERL_NIF_TERM results[8];
    void *none = enif_alloc(0);
    int n = 0;

    (void) argc, (void) argv;
    results[n++] = boolean(env, none != NULL);
    none = enif_realloc(none, 0);
    results[n++] = boolean(env, none != NULL);
    enif_free(none);
    enif_free(NULL);
    results[n++] = boolean(env, enif_alloc((size_t) 1 << 60) == NULL);
    results[n++] = boolean(env, enif_alloc_binary((size_t) 1 << 60, &b));
    results[n++] = boolean(env, enif_alloc_binary(100, &b));
    results[n++] = boolean(env, enif_realloc_binary(&b, (size_t) 1 << 60));
    results[n++] = boolean(env, b.size == 100 && b.data);
    enif_release_binary(&b);
    none = enif_alloc_resource(type, sizeof(Resource));
    enif_self(env, &((Resource *) none)->to);
    results[n++] = boolean(env, (uintptr_t) none % 8 == 0);
    enif_release_resource(none);
    return enif_make_list_from_array(env, results, n);
}

#define KEEPS_ERRNO(call) (errno = 4711, (void) (call), errno == 4711)
/* A library reads it after it has made a term. */
static ERL_NIF_TERM errno_stays(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifBinary b;
    ErlNifPid self;
    ErlNifEnv *message;
    void *memory;
    int ok = 1;

    (void) argc;
    ok &= KEEPS_ERRNO(memory = enif_alloc(300000000));
    ok &= KEEPS_ERRNO(enif_free(memory));
    ok &= KEEPS_ERRNO(enif_alloc_binary(50000000, &b));
    ok &= KEEPS_ERRNO(enif_realloc_binary(&b, 80000000));
    ok &= KEEPS_ERRNO(enif_release_binary(&b));
    ok &= KEEPS_ERRNO(enif_make_atom(env, "an_atom_of_nif_habits"));
    ok &= KEEPS_ERRNO(enif_make_tuple2(env, argv[0], argv[0]));
    ok &= KEEPS_ERRNO(message = enif_alloc_env());
    enif_self(env, &self);
    ok &= KEEPS_ERRNO(enif_send(env, &self, message, enif_make_copy(message, argv[0])));
    ok &= KEEPS_ERRNO(enif_free_env(message));
    ok &= KEEPS_ERRNO(enif_mutex_lock(mutex));
    ok &= KEEPS_ERRNO(enif_mutex_trylock(mutex));
    ok &= KEEPS_ERRNO(enif_mutex_unlock(mutex));
    return boolean(env, ok);
}

/* (Name): {what os:putenv/2 has set, whether getenv() knows it} */
static ERL_NIF_TERM environment(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    char name[NAME_SIZE], value[NAME_SIZE];
    size_t size = sizeof(value);

    (void) argc;
    if (enif_get_string(env, argv[0], name, sizeof(name), ERL_NIF_LATIN1) <= 0)
        return enif_make_badarg(env);
    if (enif_getenv(name, value, &size) != 0)
        return enif_make_atom(env, "none");
    return enif_make_tuple2(env, enif_make_string(env, value, ERL_NIF_LATIN1), boolean(env, getenv(name) != NULL));
}

/* The character set of LC_ALL, and the number of its characters in the UTF-8 of an e with an accent */
static ERL_NIF_TERM characters(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void) argc, (void) argv;
    return enif_make_tuple2(env, enif_make_string(env, nl_langinfo(CODESET), ERL_NIF_LATIN1),
                            enif_make_int(env, (int) mbstowcs(NULL, "\xc3\xa9", 0)));
}

static void *own_name(void *name)
{
    pthread_getname_np(pthread_self(), name, NAME_SIZE);
    return NULL;
}
/* Names of a thread as the system and as the VM tell them, and of what has no name */
static ERL_NIF_TERM names(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    char name[NAME_SIZE] = "";
    ErlNifTid thread;
    ERL_NIF_TERM theirs;

    (void) argc, (void) argv;
    enif_thread_create("a_thread_of_a_library", &thread, own_name, name, NULL);
    theirs = enif_make_string(env, enif_thread_name(thread), ERL_NIF_LATIN1);
    enif_thread_join(thread, NULL);
    return enif_make_tuple4(env, enif_make_string(env, name, ERL_NIF_LATIN1), theirs,
                            enif_make_string(env, enif_rwlock_name(rwlock), ERL_NIF_LATIN1),
                            enif_make_string(env, enif_mutex_name(mutex), ERL_NIF_LATIN1));
}

/* A process need not be on the same thread when it unlocks. */
static ERL_NIF_TERM lock(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void) argc, (void) argv;
    enif_mutex_lock(mutex);
    enif_rwlock_rwlock(rwlock);
    return enif_make_atom(env, "ok");
}
static ERL_NIF_TERM unlock(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void) argc, (void) argv;
    enif_rwlock_rwunlock(rwlock);
    enif_mutex_unlock(mutex);
    return enif_make_atom(env, "ok");
}
static ERL_NIF_TERM try_locks(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    int reading = enif_rwlock_tryrlock(rwlock), writing, both;

    (void) argc, (void) argv;
    writing = enif_rwlock_tryrwlock(rwlock);
    if (!reading)
        enif_rwlock_runlock(rwlock);
    both = enif_rwlock_tryrwlock(rwlock);
    if (!both)
        enif_rwlock_rwunlock(rwlock);
    return enif_make_tuple3(env, boolean(env, reading == 0), boolean(env, writing == EBUSY), boolean(env, both == 0));
}

#define READERS 4
static volatile int stop, has_written;
static void *read_often(void *arg)
{
    (void) arg;
    while (!stop) {
        enif_rwlock_rlock(rwlock);
        usleep(2000);
        enif_rwlock_runlock(rwlock);
    }
    return NULL;
}
static void *write_once(void *arg)
{
    (void) arg;
    enif_rwlock_rwlock(rwlock);
    has_written = 1;
    enif_rwlock_rwunlock(rwlock);
    return NULL;
}
/* Somebody reads at every moment. */
static ERL_NIF_TERM writer_among_readers(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifTid threads[READERS + 1];
    int i, ms, written;

    (void) argc, (void) argv;
    for (i = 0; i < READERS; i++) {
        enif_thread_create("reader", &threads[i], read_often, NULL, NULL);
        usleep(500);
    }
    usleep(20000);
    enif_thread_create("writer", &threads[READERS], write_once, NULL, NULL);
    for (ms = 0; ms < 5000 && !has_written; ms++)
        usleep(1000);
    written = has_written;
    stop = 1;
    for (i = 0; i <= READERS; i++)
        enif_thread_join(threads[i], NULL);
    return boolean(env, written);
}

static ErlNifFunc functions[] = {
    {"release_locked", 0, release_locked, 0},
    {"release_elsewhere", 0, release_elsewhere, 0},
    {"written_later", 1, written_later, 0},
    {"sizes", 0, sizes, 0},
    {"errno_stays", 1, errno_stays, 0},
    {"environment", 1, environment, 0},
    {"characters", 0, characters, 0},
    {"names", 0, names, 0},
    {"lock", 0, lock, 0},
    {"unlock", 0, unlock, ERL_NIF_DIRTY_JOB_IO_BOUND},
    {"try_locks", 0, try_locks, 0},
    {"writer_among_readers", 0, writer_among_readers, ERL_NIF_DIRTY_JOB_IO_BOUND},
};
ERL_NIF_INIT(nif_habits, functions, load, NULL, NULL, NULL)
