/* A driver for linked_values.erl: what its functions return, as text, and the terms it builds. */
#include "linked_interface.h"
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

static Port mine;
static char text[4096];
static int used;
static void say(const char *format, ...)
{
    va_list a;
    va_start(a, format);
    used += vsnprintf(text + used, sizeof text - used, format, a);
    va_end(a);

}
static void *start(Port p, char *command) { mine = p; (void)command; return (void *)p; }
static void stop(void *d) { (void)d; }

#define N(spec) (int)(sizeof spec / sizeof *spec)
#define SEND(...) do { Term s[] = {__VA_ARGS__}; say("%d ", erl_drv_output_term(driver_mk_port(p), s, N(s))); } while (0)
#define T(x) (Term)(x)

static void terms(Port p)
{
    int64_t big = INT64_MIN, small = -5;
    uint64_t ubig = UINT64_MAX, usmall = 7;
    double pi = 3.25, inf = INFINITY, nan = NAN, zero = -0.0;
    Binary *b = driver_alloc_binary(100), *e = driver_alloc_binary(0);
    for (int i = 0; i < 100; i++) b->bytes[i] = 'a' + i % 26;
    SEND(T_NIL);
    SEND(T_ATOM, driver_mk_atom("an atom"));
    SEND(T_ATOM, driver_mk_atom(""));
    SEND(T_ATOM, driver_mk_atom("\xe5\xff"));
    SEND(T_INT, T(-1));
    SEND(T_INT, T(INT64_MIN));
    SEND(T_INT, T(INT64_MAX));
    SEND(T_UINT, T(-1));
    SEND(T_UINT, 3);
    SEND(T_INT64, T(&big));
    SEND(T_INT64, T(&small));
    SEND(T_UINT64, T(&ubig));
    SEND(T_UINT64, T(&usmall));
    SEND(T_FLOAT, T(&pi));
    SEND(T_FLOAT, T(&zero));
    SEND(T_FLOAT, T(&inf));
    SEND(T_FLOAT, T(&nan));
    SEND(T_BINARY, T(b), 3, 2);
    SEND(T_BINARY, T(b), 100, 0);
    SEND(T_BINARY, T(b), 0, 100);
    SEND(T_BINARY, T(b), 0, 101);
    SEND(T_BINARY, T(b), 99, 2);
    SEND(T_BINARY, T(b), 80, 20);
    SEND(T_BINARY, T(e), 0, 0);
    SEND(T_BINARY, T(0), 0, 0);
    SEND(T_BUF2BINARY, T("hello"), 5);
    SEND(T_BUF2BINARY, T(b->bytes), 100);
    SEND(T_BUF2BINARY, T(0), 0);
    SEND(T_BUF2BINARY, T(0), 1);
    SEND(T_STRING, T("str\xff"), 4);
    SEND(T_STRING, T(""), 0);
    SEND(T_STRING, T(0), 0);
    SEND(T_STRING, T("x"), T(-1));
    SEND(T_NIL, T_STRING_CONS, T("123"), 3, T_STRING_CONS, T("abc"), 3);
    SEND(T_ATOM, driver_mk_atom("t"), T_STRING_CONS, T("ab"), 2);
    SEND(T_STRING_CONS, T("ab"), 2);
    SEND(T_TUPLE, 0);
    SEND(T_INT, 1, T_INT, 2, T_TUPLE, 2);
    SEND(T_INT, 1, T_TUPLE, 2);
    SEND(T_INT, 1, T_TUPLE, T(-1));
    SEND(T_INT, 1, T_INT, 2, T_LIST, 2);
    SEND(T_INT, 1, T_NIL, T_LIST, 2);
    SEND(T_NIL, T_LIST, 1);
    SEND(T_LIST, 0);
    SEND(T_INT, 1, T_INT, 2);
    SEND(T_MAP, 0);
    SEND(T_ATOM, driver_mk_atom("key1"), T_INT, 100, T_ATOM, driver_mk_atom("key2"), T_INT, 200, T_INT, 300,
         T_TUPLE, 2, T_MAP, 2);
    SEND(T_INT, 1, T_INT, 2, T_INT, 1, T_INT, 3, T_MAP, 2);
    SEND(T_INT, 1, T_MAP, 1);
    SEND(T_EXT2TERM, T("\203h\2a\21b\0\0\22\147"), 10);
    SEND(T_EXT2TERM, T("\203h\2a\21b\0\0\22\147"), 9);
    SEND(T_EXT2TERM, T("\203h\2a\21b\0\0\22\147rest"), 14);
    SEND(T_EXT2TERM, T("a\21"), 2);
    SEND(T_EXT2TERM, T(""), 0);
    SEND(T_EXT2TERM, T(0), 0);
    SEND(T_EXT2TERM, T("\203w\5never"), 8);
    SEND(T_PID, driver_connected(p));
    SEND(T_PID, driver_caller(p));
    SEND(T_PID, driver_mk_port(p));
    SEND(T_PORT, driver_mk_port(p));
    SEND(T_PORT, driver_connected(p));
    SEND(T_ATOM, driver_mk_port(p));
    SEND(T_INT);
    SEND(T_ATOM);
    SEND(0);
    SEND(18, 1);
    {
        Term s[600];
        int n = 0;
        for (int i = 0; i < 40; i++) {
            s[n++] = T_INT; s[n++] = i;
            s[n++] = T_INT; s[n++] = i * i;
        }
        s[n++] = T_MAP; s[n++] = 40;
        say("%d ", erl_drv_output_term(driver_mk_port(p), s, n));
        say("%d ", erl_drv_output_term(driver_mk_port(p), s, 0));
        say("%d ", erl_drv_output_term(driver_mk_port(p), s, -1));
        s[0] = T_INT; s[1] = 9;
        say("%d ", driver_output_term(p, s, 2));
        say("%d ", driver_send_term(p, driver_caller(p), s, 2));
        say("%d ", erl_drv_send_term(driver_mk_port(p), driver_caller(p), s, 2));
        say("%d ", erl_drv_send_term(driver_mk_port(p), driver_term_nil, s, 2));
        say("%d ", erl_drv_send_term(driver_mk_port(p), driver_mk_port(p), s, 2));
        say("%d ", erl_drv_send_term(driver_mk_atom("x"), driver_caller(p), s, 2));
        say("%d ", erl_drv_output_term(driver_mk_atom("x"), s, 2));
        say("nil %d ", driver_term_nil == driver_mk_term_nil());
    }
    say("refs %ld", driver_binary_get_refc(e));
    driver_free_binary(b);
    driver_free_binary(e);
}

static void outputs(Port p)
{
    Binary *b = driver_alloc_binary(10), *c = driver_alloc_binary(6);
    memcpy(b->bytes, "0123456789", 10);
    memcpy(c->bytes, "ABCDEF", 6);
    struct iovec parts[] = {{NULL, 0}, {b->bytes, 10}, {"xyz", 3}, {c->bytes, 6}};
    Binary *bins[] = {NULL, b, NULL, c};
    Vector v = {4, 19, parts, bins}, none = {0, 0, NULL, NULL};
    say("%d ", driver_output(p, "abc", 3));
    say("%d ", driver_output(p, "", 0));
    say("%d ", driver_output(p, NULL, 0));
    say("%d ", driver_output2(p, "\1\2", 2, "abc", 3));
    say("%d ", driver_output2(p, "\1\2", 2, "", 0));
    say("%d ", driver_output2(p, NULL, 0, "q", 1));
    say("%d ", driver_output2(p, "", 0, NULL, 0));
    say("%d ", driver_output_binary(p, NULL, 0, b, 2, 5));
    say("%d ", driver_output_binary(p, "h", 1, b, 0, 10));
    say("%d ", driver_output_binary(p, "h", 1, b, 10, 0));
    say("%d ", driver_output_binary(p, "", 0, b, 0, 0));
    for (size_t skip = 0; skip < 21; skip++) {
        struct iovec copy[4];
        memcpy(copy, parts, sizeof copy);
        v.parts = copy;
        say("%d ", driver_outputv(p, "hd", skip % 3, &v, skip));
    }
    v.parts = parts;
    say("%d ", driver_outputv(p, "hd", 2, &none, 0));
    say("%d ", driver_outputv(p, "hd", 0, &none, 0));
    char buf[30];
    memset(buf, '.', sizeof buf);
    say("vec %zd ", driver_vec_to_buf(&v, buf, 30));
    say("%.30s ", buf);
    say("vec %zd ", driver_vec_to_buf(&v, buf, 19));
    memset(buf, '.', sizeof buf);
    say("vec %zd ", driver_vec_to_buf(&v, buf, 12));
    say("%.30s ", buf);
    say("vec %zd ", driver_vec_to_buf(&v, buf, 0));
    say("vec %zd ", driver_vec_to_buf(&none, buf, 10));
    say("flags %d", get_port_flags(p));
    driver_free_binary(b);
    driver_free_binary(c);
}

static void show(Port p)
{
    int n = 99;
    struct iovec *q = driver_peekq(p, &n);
    Vector v = {0};
    size_t size = driver_peekqv(p, &v);
    say("[%d %d %zd %zd:", n, v.count, size, driver_sizeq(p));
    for (int i = 0; i < n; i++)
        say("%s%.*s", i ? "|" : "", (int)q[i].iov_len, (char *)q[i].iov_base);
    say("] ");
}
static void queue(Port p)
{
    Binary *b = driver_alloc_binary(16);
    memcpy(b->bytes, "0123456789", 11);
    b->size = 10; /* what is "over" reads the 0 */
    struct iovec parts[] = {{NULL, 0}, {b->bytes + 1, 8}, {"xyz", 3}};
    Binary *bins[] = {NULL, b, NULL};
    struct iovec fresh[3];
    Vector v = {3, 11, fresh, bins};
#define FRESH(n, bytes) (memcpy(fresh, parts, sizeof fresh), v.count = n, v.size = bytes, &v)
    show(p);
    say("enq %d ", driver_enq(p, "abc", 3)); show(p);
    say("enq0 %d ", driver_enq(p, "abc", 0)); show(p);
    say("pushq %d ", driver_pushq(p, "PUSH", 4)); show(p);
    say("pushq0 %d ", driver_pushq(p, "PUSH", 0)); show(p);
    say("enq_bin %d ", driver_enq_bin(p, b, 2, 3)); show(p);
    say("refs %ld ", driver_binary_get_refc(b));
    say("pushq_bin %d ", driver_pushq_bin(p, b, 9, 1)); show(p);
    say("refs %ld ", driver_binary_get_refc(b));
    say("over %d ", driver_enq_bin(p, b, 9, 2)); show(p);
    say("over %d ", driver_pushq_bin(p, b, 11, 0)); show(p);
    say("over %d ", driver_enq_bin(p, b, 10, 0)); show(p);
    say("refs %ld ", driver_binary_get_refc(b));
    say("enqv %d ", driver_enqv(p, FRESH(3, 11), 3)); show(p);
    say("pushqv %d ", driver_pushqv(p, FRESH(2, 8), 0)); show(p);
    say("enqv %d ", driver_enqv(p, FRESH(3, 11), 11)); show(p);
    say("refs %ld ", driver_binary_get_refc(b));
    say("deq %zd ", driver_deq(p, 0)); show(p);
    say("deq %zd ", driver_deq(p, 9)); show(p);
    say("deq %zd ", driver_deq(p, 1000)); show(p);
    say("deq %zd ", driver_deq(p, driver_sizeq(p))); show(p);
    say("deq %zd ", driver_deq(p, 0));
    say("deq %zd ", driver_deq(p, 1));
    say("refs %ld", driver_binary_get_refc(b));
    driver_free_binary(b);
}

static void values(Port p)
{
    unsigned long left = 77;
    char buf[20] = "untouched";
    size_t n;
    size_t low, high;
    say("timer %d ", driver_read_timer(p, &left)); say("%lu ", left);
    say("set %d ", driver_set_timer(p, 100000));
    say("read %d ", driver_read_timer(p, &left)); say("%d ", left > 99000 && left <= 100001);
    say("cancel %d ", driver_cancel_timer(p)); say("%d ", driver_cancel_timer(p));
    say("read %d ", driver_read_timer(p, &left)); say("%lu\n", left);
    n = sizeof buf; say("getenv %d ", erl_drv_getenv("LINKED_NONE", buf, &n)); say("%s ", buf);
    say("putenv %d ", erl_drv_putenv("LINKED_A", "0123456789"));
    n = 10; say("getenv %d ", erl_drv_getenv("LINKED_A", buf, &n));
    n = 11; say("getenv %d ", erl_drv_getenv("LINKED_A", buf, &n)); say("%zd %s ", n, buf);
    n = 0; say("getenv %d ", erl_drv_getenv("LINKED_A", buf, &n));
    say("putenv %d ", erl_drv_putenv("LINKED_A", ""));
    n = sizeof buf; say("getenv %d ", erl_drv_getenv("LINKED_A", buf, &n)); say("%zd %s ", n, buf);
    say("putenv %d ", erl_drv_putenv("LINKED=A", "x"));
    say("putenv %d\n", erl_drv_putenv("", "x"));
    for (int i = 0; i < 6; i++) {
        static const int codes[] = {ENOENT, EACCES, EWOULDBLOCK, 0, 9999, -1};
        say("%s ", erl_errno_id(codes[i]));
    }
    say("\n");
    for (int from = -1; from < 5; from++)
        for (int to = 0; to < 4; to++)
            say("%lld ", (long long)erl_drv_convert_time_unit(-1500000001, from, to));
    say("%d ", erl_drv_convert_time_unit(1, 0, 7) == INT64_MIN);
    say("%d %d ", erl_drv_monotonic_time(9) == INT64_MIN, erl_drv_time_offset(-1) == INT64_MIN);
    say("%d\n", erl_drv_monotonic_time(3) != INT64_MIN);
    Now now;
    say("now %d %d ", driver_get_now(NULL), driver_get_now(&now)); say("%d\n", now.mega > 1000);
    low = high = 0; erl_drv_busy_msgq_limits(p, &low, &high); say("%zu %zu, ", low, high);
    low = 100; high = 50; erl_drv_busy_msgq_limits(p, &low, &high); say("%zu %zu, ", low, high);
    low = 0; high = 30; erl_drv_busy_msgq_limits(p, &low, &high); say("%zu %zu, ", low, high);
    low = 500; erl_drv_busy_msgq_limits(p, &low, NULL); say("%zu, ", low);
    low = 0; high = 0; erl_drv_busy_msgq_limits(p, &low, &high); say("%zu %zu, ", low, high);
    high = 20; erl_drv_busy_msgq_limits(p, NULL, &high); say("%zu, ", high);
    low = 0; high = 0; erl_drv_busy_msgq_limits(p, &low, &high); say("%zu %zu, ", low, high);
    low = ~(size_t)0; erl_drv_busy_msgq_limits(p, &low, NULL); say("%zd, ", low);
    low = 10; high = 30; erl_drv_busy_msgq_limits(p, &low, &high); say("%zd %zd, ", low, high);
    low = 0; high = 0; erl_drv_busy_msgq_limits(p, &low, &high); say("%zd %zd\n", low, high);
    SystemInfo i;
    memset(&i, 1, sizeof i);
    driver_system_info(&i, sizeof i);
    say("system %d %d %d %d %d %d %d %d\n", i.driver_major, i.driver_minor > 2, !strchr(i.otp_release, '.'), !!i.thread_support,
        !!i.smp_support, i.async_threads, i.nif_major, !!i.dirty);
    memset(&i, 1, sizeof i);
    driver_system_info(&i, offsetof(SystemInfo, dirty));
    say("%d %d %d\n", i.driver_major, i.thread_support, i.dirty);
    say("timeslice %d", erl_drv_consume_timeslice(p, 1));
    say(" %d", erl_drv_consume_timeslice(p, 50));
    say(" %d", erl_drv_consume_timeslice(p, 50));
    say(" %d\n", erl_drv_consume_timeslice(p, 0));
    say("select %d %d\n", driver_select(p, (void *)0, READ, 1), driver_select(p, (void *)0, READ, 0));
    unsigned key = driver_async_port_key(p);
    say("key %d\n", key == driver_async_port_key(p));
    Monitor m;
    say("monitor %d ", driver_monitor_process(p, driver_caller(p), &m));
    Port bad = (Port)-1;
    size_t ten = 10;
    say("bad %d %d %d ", driver_output(bad, "x", 1), driver_set_timer(bad, 1), driver_failure_eof(bad));
    say("%d %d %d ", driver_lock_driver(bad), driver_cancel_timer(bad), driver_exit(bad, 0));
    say("%d ", driver_caller(bad) == driver_term_nil);
    say("%d ", driver_connected(bad) == driver_term_nil);
    say("%d\n", driver_mk_port(bad) == driver_term_nil);
    (void)ten;
}

static int started, key1;
static void *thread(void *a)
{
    Mutex **m = a;
    say("in %s ", erl_drv_thread_name(erl_drv_thread_self()));
    say("%d ", erl_drv_tsd_get(key1) == NULL);
    erl_drv_tsd_set(key1, a);
    say("%d ", erl_drv_tsd_get(key1) == a);
    erl_drv_tsd_set(key1, NULL);
    say("busy %d ", erl_drv_mutex_trylock(*m) == EBUSY);
    say("mono %d ", erl_drv_monotonic_time(3) == INT64_MIN);
    erl_drv_thread_exit("left");
    return NULL;
}
static Mutex *cm;
static Condition *cc;
static void *waiter(void *a)
{
    erl_drv_mutex_lock(cm);
    started = 1;
    erl_drv_cond_signal(cc);
    while (started != 2)
        erl_drv_cond_wait(cc, cm);
    erl_drv_mutex_unlock(cm);
    return a;
}
static void threads(Port p)
{
    Mutex *m = erl_drv_mutex_create("my.mutex");
    Thread t = NULL;
    void *value = NULL;
    (void)p;
    say("%s ", erl_drv_mutex_name(m));
    erl_drv_mutex_lock(m);
    say("key %d ", erl_drv_tsd_key_create("my key", &key1));
    if (erl_drv_thread_create("my thread", &t, thread, &m, NULL)) say("no thread ");
    say("join %d ", erl_drv_thread_join(t, &value)); say("%s ", (char *)value);
    erl_drv_mutex_unlock(m);
    say("try %d ", erl_drv_mutex_trylock(m));
    erl_drv_mutex_unlock(m);
    erl_drv_mutex_destroy(m);
    erl_drv_tsd_key_destroy(key1);
    cm = erl_drv_mutex_create(NULL);
    cc = erl_drv_cond_create("cond");
    say("names %s %s ", erl_drv_mutex_name(cm) ? erl_drv_mutex_name(cm) : "null", erl_drv_cond_name(cc));
    ThreadOptions *o = erl_drv_thread_opts_create("opts");
    say("stack %d ", o->suggested_stack_size);
    o->suggested_stack_size = 64;
    erl_drv_mutex_lock(cm);
    say("create %d ", erl_drv_thread_create(NULL, &t, waiter, "value", o));
    while (started != 1)
        erl_drv_cond_wait(cc, cm);
    started = 2;
    erl_drv_cond_broadcast(cc);
    erl_drv_mutex_unlock(cm);
    say("join %d ", erl_drv_thread_join(t, &value)); say("%s ", (char *)value);
    erl_drv_thread_opts_destroy(o);
    erl_drv_cond_destroy(cc);
    erl_drv_mutex_destroy(cm);
    say("self %d ", erl_drv_equal_tids(erl_drv_thread_self(), erl_drv_thread_self()));
    RwLock *r = erl_drv_rwlock_create("rw");
    say("%s ", erl_drv_rwlock_name(r));
    erl_drv_rwlock_rlock(r);
    erl_drv_rwlock_runlock(r);
    say("w %d ", erl_drv_rwlock_tryrwlock(r));
    erl_drv_rwlock_rwunlock(r);
    erl_drv_rwlock_rwlock(r);
    erl_drv_rwlock_rwunlock(r);
    erl_drv_rwlock_destroy(r);
    PortLock pdl = driver_pdl_create(p);
    say("pdl %d %ld ", pdl != NULL, driver_pdl_get_refc(pdl));
    say("%ld ", driver_pdl_inc_refc(pdl)); say("%ld ", driver_pdl_dec_refc(pdl));
    say("again %d ", driver_pdl_create(p) != NULL);
    driver_pdl_lock(pdl);
    say("enq %d %ld ", driver_enq(p, "x", 1), driver_pdl_get_refc(pdl));
    say("%zd ", driver_deq(p, 1));
    driver_pdl_unlock(pdl);
}
static void timeout(void *d) { (void)d; }
static ptrdiff_t control(void *d, unsigned op, char *bytes, size_t n, char **at, size_t room)
{
    static void (*const all[])(Port) = {terms, outputs, queue, values, threads};
    (void)bytes; (void)n; (void)room;
    used = 0;
    if (op >= 5) return -1;
    all[op](d);
    *at = driver_alloc(used + 1);
    memcpy(*at, text, used);
    return used;
}
static Entry entry = {
    .start = start, .stop = stop, .name = NAME, .control = control, .timeout = timeout,
    .marker = MARKER, .major = MAJOR, .minor = MINOR, .flags = FLAGS,
};
Entry *driver_init(void) { return &entry; }
