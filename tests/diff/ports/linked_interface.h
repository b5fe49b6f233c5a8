/* What drivers of this folder need of erl_driver.h, said again: the header is not everywhere. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

typedef struct port *Port;
typedef uint64_t Term;
typedef struct binary { long size; char bytes[]; } Binary;
typedef struct vector { int count; size_t size; struct iovec *parts; Binary **binaries; } Vector;
typedef struct monitor { unsigned char opaque[sizeof(void *) * 4]; } Monitor;
typedef struct pdl *PortLock;
typedef struct mutex Mutex;
typedef struct condition Condition;
typedef struct rwlock RwLock;
typedef void *Thread;
typedef struct { int suggested_stack_size; } ThreadOptions;
typedef struct {
    int driver_major, driver_minor;
    char *erts_version, *otp_release;
    int thread_support, smp_support, async_threads, scheduler_threads, nif_major, nif_minor, dirty;
} SystemInfo;
typedef struct { unsigned long mega, seconds, micro; } Now;
typedef struct entry {
    int (*init)(void);
    void *(*start)(Port, char *);
    void (*stop)(void *);
    void (*output)(void *, char *, size_t);
    void (*ready_input)(void *, void *), (*ready_output)(void *, void *);
    const char *name;
    void (*finish)(void);
    void *handle;
    ptrdiff_t (*control)(void *, unsigned, char *, size_t, char **, size_t);
    void (*timeout)(void *);
    void (*outputv)(void *, Vector *);
    void (*ready_async)(void *, void *);
    void (*flush)(void *);
    ptrdiff_t (*call)(void *, unsigned, char *, size_t, char **, size_t, unsigned *);
    void *event;
    int marker, major, minor, flags;
    void *handle2;
    void (*process_exit)(void *, Monitor *);
    void (*stop_select)(void *, void *);
    void (*emergency_close)(void *);
} Entry;
enum { MARKER = (int)0xfeeeeeed, MAJOR = 3, MINOR = 3 };
enum { PORT_LOCKING = 1, SOFT_BUSY = 2, NO_BUSY_MSGQ = 4, USE_INIT_ACK = 8 };
enum { READ = 1, WRITE = 2, USE = 4, NO_CALLBACK = 12 };
enum { T_NIL = 1, T_ATOM, T_INT, T_PORT, T_BINARY, T_STRING, T_TUPLE, T_LIST, T_STRING_CONS, T_PID,
       T_FLOAT, T_EXT2TERM, T_UINT, T_BUF2BINARY, T_INT64, T_UINT64, T_MAP };

void *driver_alloc(size_t), *driver_realloc(void *, size_t);
void driver_free(void *);
Binary *driver_alloc_binary(size_t), *driver_realloc_binary(Binary *, size_t);
void driver_free_binary(Binary *);
long driver_binary_get_refc(Binary *), driver_binary_inc_refc(Binary *), driver_binary_dec_refc(Binary *);
int driver_output(Port, char *, size_t), driver_output2(Port, char *, size_t, char *, size_t);
int driver_output_binary(Port, char *, size_t, Binary *, size_t, size_t);
int driver_outputv(Port, char *, size_t, Vector *, size_t);
size_t driver_vec_to_buf(Vector *, char *, size_t);
int driver_failure(Port, int), driver_failure_atom(Port, char *), driver_failure_posix(Port, int);
int driver_failure_eof(Port), driver_exit(Port, int);
int driver_set_timer(Port, unsigned long), driver_cancel_timer(Port), driver_read_timer(Port, unsigned long *);
int driver_select(Port, void *, int, int);
int driver_enq(Port, char *, size_t), driver_pushq(Port, char *, size_t);
int driver_enq_bin(Port, Binary *, size_t, size_t), driver_pushq_bin(Port, Binary *, size_t, size_t);
int driver_enqv(Port, Vector *, size_t), driver_pushqv(Port, Vector *, size_t);
size_t driver_deq(Port, size_t), driver_sizeq(Port), driver_peekqv(Port, Vector *);
struct iovec *driver_peekq(Port, int *);
PortLock driver_pdl_create(Port);
void driver_pdl_lock(PortLock), driver_pdl_unlock(PortLock);
long driver_pdl_get_refc(PortLock), driver_pdl_inc_refc(PortLock), driver_pdl_dec_refc(PortLock);
long driver_async(Port, unsigned *, void (*)(void *), void *, void (*)(void *));
unsigned driver_async_port_key(Port);
Term driver_mk_atom(char *), driver_mk_port(Port), driver_caller(Port), driver_connected(Port);
Term driver_mk_term_nil(void);
extern const Term driver_term_nil;
int erl_drv_output_term(Term, Term *, int), erl_drv_send_term(Term, Term, Term *, int);
int driver_output_term(Port, Term *, int), driver_send_term(Port, Term, Term *, int);
int driver_monitor_process(Port, Term, Monitor *), driver_demonitor_process(Port, const Monitor *);
Term driver_get_monitored_process(Port, const Monitor *);
int driver_compare_monitors(const Monitor *, const Monitor *);
Port driver_create_port(Port, Term, char *, void *);
int driver_lock_driver(Port);
void add_driver_entry(Entry *);
int remove_driver_entry(Entry *);
void set_busy_port(Port, int), set_port_control_flags(Port, int);
void erl_drv_busy_msgq_limits(Port, size_t *, size_t *);
void erl_drv_init_ack(Port, void *), erl_drv_set_os_pid(Port, long);
int erl_drv_consume_timeslice(Port, int);
int erl_drv_getenv(const char *, char *, size_t *), erl_drv_putenv(const char *, char *);
char *erl_errno_id(int);
void driver_system_info(SystemInfo *, size_t);
int driver_get_now(Now *);
int64_t erl_drv_monotonic_time(int), erl_drv_time_offset(int), erl_drv_convert_time_unit(int64_t, int, int);
int get_port_flags(Port);
Mutex *erl_drv_mutex_create(char *);
void erl_drv_mutex_destroy(Mutex *), erl_drv_mutex_lock(Mutex *), erl_drv_mutex_unlock(Mutex *);
int erl_drv_mutex_trylock(Mutex *);
char *erl_drv_mutex_name(Mutex *);
Condition *erl_drv_cond_create(char *);
void erl_drv_cond_destroy(Condition *), erl_drv_cond_signal(Condition *), erl_drv_cond_broadcast(Condition *);
void erl_drv_cond_wait(Condition *, Mutex *);
char *erl_drv_cond_name(Condition *);
RwLock *erl_drv_rwlock_create(char *);
void erl_drv_rwlock_destroy(RwLock *), erl_drv_rwlock_rlock(RwLock *), erl_drv_rwlock_runlock(RwLock *);
void erl_drv_rwlock_rwlock(RwLock *), erl_drv_rwlock_rwunlock(RwLock *);
int erl_drv_rwlock_tryrlock(RwLock *), erl_drv_rwlock_tryrwlock(RwLock *);
char *erl_drv_rwlock_name(RwLock *);
int erl_drv_thread_create(char *, Thread *, void *(*)(void *), void *, ThreadOptions *);
int erl_drv_thread_join(Thread, void **), erl_drv_equal_tids(Thread, Thread);
void erl_drv_thread_exit(void *);
Thread erl_drv_thread_self(void);
char *erl_drv_thread_name(Thread);
ThreadOptions *erl_drv_thread_opts_create(char *);
void erl_drv_thread_opts_destroy(ThreadOptions *);
int erl_drv_tsd_key_create(char *, int *);
void erl_drv_tsd_key_destroy(int), erl_drv_tsd_set(int, void *), *erl_drv_tsd_get(int);
