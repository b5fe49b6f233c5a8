/* A driver for linked_life.erl: which of its functions are called, in which order. They write into a
 * log, which any port of the driver gives out. */
#include "linked_interface.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static char text[8192];
static int used;
static void say(const char *format, ...)
{
    va_list a;
    if (used > (int)sizeof text - 300)
        return;
    va_start(a, format);
    used += vsnprintf(text + used, sizeof text - used, format, a);
    used += snprintf(text + used, sizeof text - used, "; ");
    va_end(a);
}
struct state { Port port; int id; int ends[2]; int fails; Monitor m; Term owner; };
static int count;

static int init(void) { say("init"); return 0; }
static void *start(Port p, char *command)
{
    struct state *s = driver_alloc(sizeof *s);
    s->port = p;
    s->id = ++count;
    s->fails = 0;
    s->ends[0] = s->ends[1] = -1;
    s->owner = driver_connected(p);
    say("start %d '%s' %d", s->id, command, driver_caller(p) == driver_connected(p));
    if (strstr(command, "timer")) driver_set_timer(p, 10);
    if (strstr(command, "out")) driver_output(p, "started", 7);
    return s;
}
static void stop(void *d)
{
    struct state *s = d;
    say("stop %d owner %d queue %zd", s->id, driver_connected(s->port) == s->owner, driver_sizeq(s->port));
    if (s->ends[0] >= 0) {
        driver_select(s->port, (void *)(intptr_t)s->ends[0], READ | USE, 0);
        driver_select(s->port, (void *)(intptr_t)s->ends[1], WRITE | USE, 0);
    }
    driver_output(s->port, "late", 4);
    driver_free(s);
}
static void flush(void *d)
{
    struct state *s = d;
    say("flush %d queue %zd", s->id, driver_sizeq(s->port));
    driver_set_timer(s->port, 5);
}
static void timeout(void *d)
{
    struct state *s = d;
    say("timeout %d caller %d", s->id, driver_caller(s->port) == driver_term_nil);
    if (s->fails) { driver_failure_atom(s->port, "timed_out"); return; }
    if (driver_sizeq(s->port) > 0) {
        say("left %zd", driver_deq(s->port, 1));
        driver_output(s->port, "tick", 4);
        driver_set_timer(s->port, 5);
    }
}
static void ready_async(void *d, void *data)
{
    struct state *s = d;
    say("ready_async %d %s", s->id, (char *)data);
    driver_output(s->port, data, strlen(data));
}
static void invoke(void *data) { ((char *)data)[0] = 'A'; }
static void release(void *data) { say("free %s", (char *)data); }
static void process_exit(void *d, Monitor *m)
{
    struct state *s = d;
    say("process_exit %d same %d known %d", s->id, driver_compare_monitors(m, &s->m) == 0,
        driver_get_monitored_process(s->port, m) == s->owner);
    driver_output(s->port, "gone", 4);
}
static void stop_select(void *e, void *r) { say("stop_select"); close((int)(intptr_t)e); (void)r; }
static void ready_input(void *d, void *e)
{
    struct state *s = d;
    char b[100];
    ssize_t n = read((int)(intptr_t)e, b, sizeof b);
    say("ready_input %d %zd", s->id, n);
    if (n > 0)
        driver_output(s->port, b, n);
    else
        driver_select(s->port, e, READ, 0);
}
static void ready_output(void *d, void *e)
{
    struct state *s = d;
    say("ready_output %d", s->id);
    driver_select(s->port, e, WRITE, 0);
    driver_output(s->port, "writable", 8);
}
static void output(void *d, char *b, size_t n)
{
    struct state *s = d;
    static char job[] = "async";
    say("output %d %.*s caller %d", s->id, (int)n, b, driver_caller(s->port) == s->owner);
    if (n == 0) return;
    switch (b[0]) {
    case 'q': driver_enq(s->port, b, n); break;
    case 'Q': driver_enq(s->port, b, n); driver_failure_atom(s->port, "failed"); break;
    case 'E': driver_enq(s->port, b, n); driver_failure_eof(s->port); break;
    case 'X': driver_enq(s->port, b, n); driver_exit(s->port, 0); break;
    case 'x': driver_exit(s->port, ENOENT); break;
    case '0': driver_failure(s->port, 0); break;
    case '-': driver_failure(s->port, -5); break;
    case 'P': driver_failure_posix(s->port, 9999); break;
    case 't': driver_set_timer(s->port, 10); break;
    case 'f': s->fails = 1; driver_set_timer(s->port, 10); break;
    case 'a': strcpy(job, "async"); driver_async(s->port, NULL, invoke, job, release); break;
    case 'A': strcpy(job, "lost"); driver_async(s->port, NULL, invoke, job, release); driver_failure_atom(s->port, "over"); break;
    case 'm': say("monitor %d", driver_monitor_process(s->port, driver_caller(s->port), &s->m)); s->owner = driver_caller(s->port); break;
    case 'd': say("demonitor %d", driver_demonitor_process(s->port, &s->m)); say("demonitor %d", driver_demonitor_process(s->port, &s->m) > 0); break;
    case 's':
        if (pipe2(s->ends, O_NONBLOCK)) break;
        say("select %d", driver_select(s->port, (void *)(intptr_t)s->ends[0], READ | USE, 1));
        write(s->ends[1], "piped", 5);
        break;
    case 'w': say("select %d", driver_select(s->port, (void *)(intptr_t)s->ends[1], WRITE | USE, 1)); break;
    case 'F': {
        int fd = open("plain.txt", O_RDWR | O_CREAT | O_TRUNC, 0600);
        write(fd, "plain", 5);
        lseek(fd, 0, SEEK_SET);
        s->ends[0] = fd; s->ends[1] = dup(1);
        say("select %d", driver_select(s->port, (void *)(intptr_t)fd, READ | USE, 1));
        break; }
    case 'u': say("unselect %d", driver_select(s->port, (void *)(intptr_t)s->ends[0], READ, 0)); break;
    case 'U': say("unuse %d", driver_select(s->port, (void *)(intptr_t)s->ends[0], USE, 0)); s->ends[0] = -1; break;
    case 'o': erl_drv_set_os_pid(s->port, 4711); break;
    case 'b': set_busy_port(s->port, 1); driver_set_timer(s->port, 30); break;
    case 'B': set_busy_port(s->port, 0); break;
    case 'i': erl_drv_init_ack(s->port, s); break;
    case '1': erl_drv_init_ack(s->port, (void *)-1); break;
    case '2': errno = EACCES; erl_drv_init_ack(s->port, (void *)-2); break;
    case '3': erl_drv_init_ack(s->port, (void *)-3); break;
    }
}
static ptrdiff_t control(void *d, unsigned op, char *b, size_t n, char **at, size_t room)
{
    struct state *s = d;
    (void)b; (void)n; (void)room;
    if (op == 1) { driver_failure_atom(s->port, "controlled"); return 0; }
    if (op == 2) { say("lock %d", driver_lock_driver(s->port)); return 0; }
    *at = driver_alloc(used + 1);
    memcpy(*at, text, used);
    n = used;
    used = 0;
    return n;
}
static ptrdiff_t call(void *d, unsigned op, char *b, size_t n, char **at, size_t room, unsigned *flags)
{
    struct state *s = d;
    (void)at; (void)room;
    say("call %d op %u size %zd flags %u version %d", s->id, op, n, *flags, (unsigned char)b[0] == 131);
    if (op == 1) { memcpy(*at, "\203a\7", 3); return 3; }
    if (op == 2) { memcpy(*at, "xyz", 3); return 3; }
    if (op == 3) return 0;
    if (op == 4) { memcpy(*at, "\203a\7a", 4); return 4; }
    return -1;
}
static Entry entry = {
    .init = init, .start = start, .stop = stop, .output = output, .ready_input = ready_input, .ready_output = ready_output,
    .name = NAME, .control = control, .timeout = timeout, .ready_async = ready_async, .flush = flush,
    .call = call, .marker = MARKER, .major = MAJOR, .minor = MINOR, .flags = FLAGS,
    .process_exit = process_exit, .stop_select = stop_select,
};
Entry *driver_init(void) { return &entry; }
