//! Bits of `Proc::flags`: a process's state, and pending requests to it.

pub const TRAP_EXIT: u32 = 1;
/// It waits in a `receive`.
pub const WAITING: u32 = 2;
/// It must end: `ColdState::exit_reason` says why.
pub const EXITING: u32 = 4;
/// The timeout of its `receive` has expired.
pub const TIMED_OUT: u32 = 8;
pub const SUSPENDED: u32 = 16;
/// A signal that became a message ended its wait: for OTP it is not active until it has handled
/// that signal in a time slice.
pub const ROUSED: u32 = 32;
pub const SENSITIVE: u32 = 64;
/// A scheduler has listed it, as its heap has much free space: see `crate::sched::idle_heaps`.
pub const IDLE_LISTED: u32 = 128;
pub const OFF_HEAP_QUEUE: u32 = 256;
/// It hibernates: `erlang:hibernate/0` or `hibernate/3`.
pub const HIBERNATING: u32 = 512;
/// May access all ETS tables.
pub const ETS_SUPER_USER: u32 = 2048;
/// A collection was requested: see `crate::due_collections`.
pub const COLLECT: u32 = 1024;
/// Literals are to be copied: see `ColdState::literals`.
pub const LITERALS: u32 = 4096;
/// There may be requests that must wait: to copy literals, until the suspended BIF is over, which
/// holds terms itself, or to collect (`SysTasks::later`).
pub const CHORES_LATER: u32 = 8192;
/// It waits for a thread that does its work, and so counts as running.
pub const HANDED_OFF: u32 = 16_384;
/// It is to run on one scheduler only: `ColdState::bound`.
pub const BOUND: u32 = 32_768;
/// It has begun to end, and reports nothing any more.
pub const ENDING: u32 = 65_536;
/// There are system tasks to do: `ColdState::tasks`.
pub const TASKS: u32 = 131_072;
/// Its block was so large after the last collection that one may take long.
pub const LARGE_HEAP: u32 = 262_144;
/// It must not be collected on others' request.
pub const GC_OFF: u32 = 524_288;
/// It handles tokens of sequential tracing: see `crate::seq_trace`.
pub const SEQ: u32 = 1 << 20;
/// A profiler was told that it is not runnable: see `crate::sysprof`.
pub const TOLD_INACTIVE: u32 = 1 << 21;
/// It has opened files, which are closed when it ends.
pub const HAS_FILES: u32 = 1 << 22;
/// Signals were taken from its inbox and are not handled yet: see `crate::signal_budget`.
pub const PENDING: u32 = 1 << 23;
/// It was collected before the BIF it is in: [`crate::Proc::collected_for`].
pub const COLLECTED: u32 = 1 << 24;
/// It is told of nodes that come and go.
pub const WATCHES_NODES: u32 = 1 << 25;
/// Its mailbox was allocated for a timed message, and is dropped once that is taken.
pub const SPARE_MAILBOX: u32 = 1 << 26;
/// It saves its last calls: see `crate::saved_calls`.
pub const SAVES_CALLS: u32 = 1 << 27;
/// It was sent signals other than messages since its last time slice, some of which the sender may
/// have handled.
pub const SIGNALLED: u32 = 1 << 28;
/// Its mailbox has a message that it has not fetched.
pub const UNFETCHED: u32 = 1 << 29;
/// Its scheduler may hold back one of its monitor signals.
pub const DEFERS_MONITOR: u32 = 1 << 30;
/// More signals follow the one that it handles.
pub const MORE: u32 = 1 << 31;
/// Taking a message has side effects, so native code must not take one inline.
pub const NOTICES_MESSAGES: u32 = SEQ | SAVES_CALLS;
/// Requests of others, which it handles even while it waits.
pub const CHORES: u32 = COLLECT | LITERALS | TASKS;
/// States that must be handled before it runs.
pub const UNREADY: u32 = WAITING | EXITING | SUSPENDED | CHORES;
/// Flags cleared at the end of a `receive`.
pub const RECEIVING: u32 = WAITING | TIMED_OUT | HANDED_OFF | UNFETCHED;
