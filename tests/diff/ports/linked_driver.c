/* A driver for linked_driver.erl, which compiles it twice: with -DVECTOR it takes its output as
 * vectors. What erl_driver.h says that is needed is said again here: the header is not everywhere. */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/uio.h>

typedef struct port *Port;
struct vector {
    int count;
    size_t size;
    struct iovec *parts;
    void **binaries;
};
struct entry {
    int (*init)(void);
    void *(*start)(Port, char *);
    void (*stop)(void *);
    void (*output)(void *, char *, size_t);
    void *ready_input, *ready_output;
    const char *name;
    void (*finish)(void);
    void *handle;
    ptrdiff_t (*control)(void *, unsigned, char *, size_t, char **, size_t);
    void (*timeout)(void *);
    void (*outputv)(void *, struct vector *);
    void *ready_async, *flush;
    ptrdiff_t (*call)(void *, unsigned, char *, size_t, char **, size_t, unsigned *);
    void *event;
    int marker, major, minor, flags;
    void *handle2, *process_exit, *stop_select, *emergency_close;
};
void *driver_alloc(size_t);
void *driver_realloc(void *, size_t);
void driver_free(void *);
int driver_output(Port, char *, size_t);
int driver_failure(Port, int);
int driver_failure_atom(Port, char *);
int driver_failure_posix(Port, int);
int driver_failure_eof(Port);
int driver_exit(Port, int);
int driver_set_timer(Port, unsigned long);
int driver_cancel_timer(Port);
int erl_drv_getenv(const char *, char *, size_t *);
int erl_drv_putenv(const char *, char *);
void set_busy_port(Port, int);

struct state {
    Port port;
    int busy;
};

static void say(Port port, const char *text)
{
    driver_output(port, (char *)text, strlen(text));
}

static void *start(Port port, char *command)
{
    char *option = strchr(command, ' ');
    struct state *s;
    if (option && !strcmp(option, " general"))
        return (void *)-1;
    if (option && !strcmp(option, " errno")) {
        errno = ENOSPC;
        return (void *)-2;
    }
    if (option && !strcmp(option, " badarg"))
        return (void *)-3;
    s = driver_alloc(sizeof *s);
    s->port = port;
    s->busy = 0;
    if (option)
        say(port, option + 1);
    return s;
}

static void stop(void *state)
{
    driver_free(state);
}

/* The first byte says what to do with the others. */
static void output(void *state, char *bytes, size_t n)
{
    struct state *s = state;
    char value[16];
    size_t room = sizeof value;
    if (n == 0) {
        say(s->port, "nothing");
        return;
    }
    switch (bytes[0]) {
    case 'e': driver_output(s->port, bytes + 1, n - 1); break;
    case 't': driver_set_timer(s->port, 20); break;
    case 'c': driver_cancel_timer(s->port); say(s->port, "cancelled"); break;
    case 'b': s->busy = 1; set_busy_port(s->port, 1); driver_set_timer(s->port, 100); break;
    case 'n': driver_failure(s->port, 7); break;
    case 'a': driver_failure_atom(s->port, "oops"); break;
    case 'p': driver_failure_posix(s->port, EACCES); break;
    case 'o': driver_failure_eof(s->port); break;
    case 'x': driver_exit(s->port, 0); break;
    case 'w': erl_drv_putenv("LINKED_DRIVER", "set by C"); break;
    case 'r':
        say(s->port, erl_drv_getenv("LINKED_DRIVER", value, &room) ? "unset" : value);
        break;
    default: say(s->port, "what?");
    }
}

#ifdef VECTOR
static void outputv(void *state, struct vector *v)
{
    char *all = driver_alloc(1), *longer;
    size_t n = 0;
    for (int i = 0; i < v->count; i++) {
        if (v->parts[i].iov_len == 0)
            continue;
        longer = driver_realloc(all, n + v->parts[i].iov_len);
        memcpy(longer + n, v->parts[i].iov_base, v->parts[i].iov_len);
        n += v->parts[i].iov_len;
        all = longer;
    }
    if (n != v->size)
        say(((struct state *)state)->port, "sizes differ");
    output(state, all, n);
    driver_free(all);
}
#endif

static void timeout(void *state)
{
    struct state *s = state;
    if (s->busy) {
        s->busy = 0;
        set_busy_port(s->port, 0);
    }
    say(s->port, "timeout");
}

/* 1: backwards, in the room there is; 2: twice, in memory of its own; else an error. */
static ptrdiff_t control(void *state, unsigned op, char *bytes, size_t n, char **at, size_t room)
{
    (void)state;
    if (op == 2)
        *at = driver_alloc(2 * n);
    else if (op != 1 || n > room)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (op == 1)
            (*at)[n - 1 - i] = bytes[i];
        else
            (*at)[i] = (*at)[n + i] = bytes[i];
    return op * n;
}

/* 5: the term that came; else an error. */
static ptrdiff_t call(void *state, unsigned op, char *bytes, size_t n, char **at, size_t room,
                      unsigned *flags)
{
    (void)state, (void)flags;
    if (op != 5)
        return -1;
    if (n > room)
        *at = driver_alloc(n);
    memcpy(*at, bytes, n);
    return n;
}

static struct entry entry = {
    .start = start,
    .stop = stop,
#ifdef VECTOR
    .name = "linked_vectors",
    .outputv = outputv,
#else
    .name = "linked_bytes",
    .output = output,
#endif
    .timeout = timeout,
    .control = control,
    .call = call,
    .marker = (int)0xfeeeeeed,
    .major = 3,
    .minor = 3,
    .flags = 1 << 1, /* it may be busy */
};

struct entry *driver_init(void)
{
    return &entry;
}
