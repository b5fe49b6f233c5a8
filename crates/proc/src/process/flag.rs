//! Bits of `Proc::flags`: what a process is at, and what is asked of it.

pub const TRAP_EXIT: u32 = 1;
/// It waits in a `receive`.
pub const WAITING: u32 = 2;
/// It must end: `ColdState::exit_reason` says why.
pub const EXITING: u32 = 4;
/// The time of its `receive` is over.
pub const TIMED_OUT: u32 = 8;
pub const SUSPENDED: u32 = 16;
/// Its wait was ended by a signal that became a message: to OTP it is no active process until it has
/// handled that in a time slice.
pub const ROUSED: u32 = 32;
pub const SENSITIVE: u32 = 64;
/// A scheduler has listed it, as its heap has much room: see `crate::sched::idle_heaps`.
pub const IDLE_LISTED: u32 = 128;
pub const OFF_HEAP_QUEUE: u32 = 256;
/// It waits to be called again from `erlang:hibernate/3`.
pub const HIBERNATING: u32 = 512;
/// May look into all tables.
pub const ETS_SUPER_USER: u32 = 2048;
/// A full collection was asked for.
pub const FULL_GC: u32 = 1024;
/// Literals are to be copied: see `ColdState::literals`.
pub const LITERALS: u32 = 4096;
/// The same, once the BIF that stopped in its middle is over: it holds terms itself.
pub const LITERALS_LATER: u32 = 8192;
/// It waits for a thread that does its work, and so counts as running.
pub const HANDED_OFF: u32 = 16_384;
/// It is to run on one scheduler only: `ColdState::bound`.
pub const BOUND: u32 = 32_768;
/// It has begun to end, and nobody hears from it any more.
pub const ENDING: u32 = 65_536;
/// There are system tasks to do, or such as have to wait: `ColdState::tasks`.
pub const TASKS: u32 = 131_072;
pub const TASKS_LATER: u32 = 262_144;
/// It is not collected on request of others.
pub const GC_OFF: u32 = 524_288;
/// It has to do with sequential tracing: see `crate::seq`.
pub const SEQ: u32 = 1 << 20;
/// A profiler heard that it is not runnable: see `crate::sysprof`.
pub const TOLD_INACTIVE: u32 = 1 << 21;
/// It has opened files, which are closed when it ends.
pub const HAS_FILES: u32 = 1 << 22;
/// Signals were taken from its inbox and are not handled yet: see `crate::pending`.
pub const PENDING: u32 = 1 << 23;
/// It was collected before the BIF it is in: [`crate::Proc::collected_for`].
pub const COLLECTED: u32 = 1 << 24;
/// It hears of nodes that come and go.
pub const WATCHES_NODES: u32 = 1 << 25;
/// Its mailbox was made for a message that was timed, and goes when that was taken.
pub const SPARE_MAILBOX: u32 = 1 << 26;
/// It saves its last calls: see `crate::saved_calls`.
pub const SAVES_CALLS: u32 = 1 << 27;
/// It was sent signals other than messages since its last time slice, and some were handled in its
/// stead.
pub const SIGNALLED: u32 = 1 << 28;
/// A message was put into its mailbox that no `receive` of its has looked for yet.
pub const UNFETCHED: u32 = 1 << 29;
/// The scheduler that runs it may hold back a monitor signal of its.
pub const DEFERS_MONITOR: u32 = 1 << 30;
/// Others came behind the signal that it handles.
pub const MORE: u32 = 1 << 31;
/// Each message it takes is noticed.
pub const NOTICES_MESSAGES: u32 = SEQ | SAVES_CALLS;
/// What others have asked of it, which it sees to even while it waits.
pub const CHORES: u32 = FULL_GC | LITERALS | TASKS;
/// What a process has to see to before it runs.
pub const UNREADY: u32 = WAITING | EXITING | SUSPENDED | CHORES;
/// What ends with a `receive`.
pub const RECEIVING: u32 = WAITING | TIMED_OUT | HANDED_OFF | UNFETCHED;
