/* A driver for linked_select.erl: a pipe to itself. What is written to the port goes into it, and comes
 * out when the driver is told that it can be read. What erl_driver.h says that is needed is said again
 * here: the header is not everywhere. */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

typedef struct port *Port;
typedef void *Event;
struct binary {
    long size;
    char bytes[];
};
struct entry {
    int (*init)(void);
    void *(*start)(Port, char *);
    void (*stop)(void *);
    void (*output)(void *, char *, size_t);
    void (*ready_input)(void *, Event);
    void (*ready_output)(void *, Event);
    const char *name;
    void (*finish)(void);
    void *handle;
    ptrdiff_t (*control)(void *, unsigned, char *, size_t, char **, size_t);
    void (*timeout)(void *);
    void *outputv, *ready_async, *flush, *call, *event;
    int marker, major, minor, flags;
    void *handle2, *process_exit;
    void (*stop_select)(Event, void *);
    void *emergency_close;
};
void *driver_alloc(size_t);
void driver_free(void *);
int driver_output(Port, char *, size_t);
int driver_failure_eof(Port);
int driver_select(Port, Event, int, int);
void set_port_control_flags(Port, int);
struct binary *driver_alloc_binary(size_t);
struct binary *driver_realloc_binary(struct binary *, size_t);
void driver_free_binary(struct binary *);
long driver_binary_get_refc(struct binary *);
long driver_binary_inc_refc(struct binary *);
long driver_binary_dec_refc(struct binary *);

enum { READ = 1, WRITE = 2, USE = 4, NO_CALLBACK = 12 };

struct state {
    Port port;
    int ends[2];
    int writes;
};
static int closed;

static Event event(int fd)
{
    return (Event)(intptr_t)fd;
}

static void *start(Port port, char *command)
{
    struct state *s = driver_alloc(sizeof *s);
    (void)command;
    s->port = port;
    s->writes = 0;
    if (pipe2(s->ends, O_NONBLOCK))
        return (void *)-2;
    driver_select(port, event(s->ends[0]), READ | USE, 1);
    return s;
}

static void stop(void *state)
{
    struct state *s = state;
    driver_select(s->port, event(s->ends[0]), READ | USE, 0);
    driver_select(s->port, event(s->ends[1]), WRITE | USE, 0);
    driver_free(s);
}

static void output(void *state, char *bytes, size_t n)
{
    struct state *s = state;
    if (n == 0) {
        close(s->ends[1]);
        s->ends[1] = -1;
    } else if (write(s->ends[1], bytes, n) < 0) {
        driver_output(s->port, "full", 4);
    }
}

/* Four bytes at a time: the rest is still there, and to be told of again. */
static void ready_input(void *state, Event e)
{
    struct state *s = state;
    char bytes[4];
    ssize_t n = read((int)(intptr_t)e, bytes, sizeof bytes);
    if (n > 0) {
        driver_output(s->port, bytes, n);
    } else if (n == 0) {
        driver_select(s->port, e, READ, 0);
        driver_failure_eof(s->port);
    }
}

/* It can be written to all the time: three times are enough. */
static void ready_output(void *state, Event e)
{
    struct state *s = state;
    driver_output(s->port, "writable", 8);
    if (++s->writes == 3) {
        driver_select(s->port, e, WRITE, 0);
        s->writes = 0;
    }
}

static void stop_select(Event e, void *reserved)
{
    (void)reserved;
    if ((int)(intptr_t)e >= 0) {
        close((int)(intptr_t)e);
        closed++;
    }
}

static ptrdiff_t control(void *state, unsigned what, char *data, size_t n, char **answer, size_t room)
{
    struct state *s = state;
    struct binary *b;
    switch (what) {
    case 1: /* watch the pipe's other end */
        return driver_select(s->port, event(s->ends[1]), WRITE | USE, 1) ? -1 : 0;
    case 2: /* no longer read, or again */
        driver_select(s->port, event(s->ends[0]), READ, n > 0);
        return 0;
    case 3: /* answers are binaries from now on, or not */
        set_port_control_flags(s->port, n > 0);
        return 0;
    case 4: /* twice the data */
        b = driver_alloc_binary(n);
        memcpy(b->bytes, data, n);
        b = driver_realloc_binary(b, 2 * n);
        memcpy(b->bytes + n, data, n);
        *answer = (char *)b;
        return 0;
    case 5: /* in the room there is */
        if (n > room)
            return -1;
        memcpy(*answer, data, n);
        return n;
    case 6:
        *answer = NULL;
        return 0;
    case 7: /* counts */
        b = driver_alloc_binary(3);
        (*answer)[0] = b->size;
        (*answer)[1] = driver_binary_get_refc(b);
        (*answer)[2] = driver_binary_inc_refc(b);
        (*answer)[3] = driver_binary_dec_refc(b);
        driver_free_binary(b);
        return 4;
    case 8: /* how many descriptors were closed */
        (*answer)[0] = closed;
        return 1;
    case 9: /* gone from the poll set, and closed by whom */
        driver_select(s->port, event(s->ends[0]), READ | NO_CALLBACK, 0);
        (*answer)[0] = closed;
        return 1;
    case 10: /* no descriptor */
        return driver_select(s->port, event(-1), READ, 1) ? -1 : 0;
    }
    return -1;
}

static struct entry entry = {
    .start = start,
    .stop = stop,
    .output = output,
    .ready_input = ready_input,
    .ready_output = ready_output,
    .name = "linked_select",
    .control = control,
    .stop_select = stop_select,
    .marker = (int)0xfeeeeeed,
    .major = 3,
    .minor = 3,
};

struct entry *driver_init(void)
{
    return &entry;
}
