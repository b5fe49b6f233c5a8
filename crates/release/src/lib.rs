//! The OTP releases that kvik runs, and their differences.
//!
//! The command line determines the release and calls [`select`] before anything is loaded. Loader,
//! BIF registry, boot and `system_info/1` read [`current`] when they start or load something: no
//! hot path reads the release.
//!
//! The releases that have an opcode or a BIF are listed in `isa/ops.tab` and in the BIF tables.
//! Everything else that depends on the release is a field of [`Release`].
#![forbid(unsafe_code)]

mod code_files;
mod costs;
mod external_format;
mod pids;
mod sockets;
mod tables;

pub use costs::IovecCost;
pub use pids::PidBits;

use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::OnceLock;

/// The properties of one OTP release.
#[derive(Debug, PartialEq, Eq)]
pub struct Release {
    /// `system_info(otp_release)`, as a number.
    pub number: u16,
    /// The same as a string.
    pub name: &'static str,
    /// Major version of its `erts`.
    pub erts_major: &'static str,
    /// `system_info(version)` if the OTP root does not say otherwise.
    pub erts_version: &'static str,
    /// Follows from the table alone: no such OTP was run here; see docs/COMPATIBILITY.md.
    pub untested: bool,
    /// Version of `erl_nif.h`.
    pub nif: (u8, u8),
    /// Version of `erl_driver.h`.
    pub driver: (u8, u8),
    /// Distribution flags that it requires of a peer, besides those that every release requires.
    pub dist_flags: u64,
    /// The most processes without the flag `+P`.
    pub processes: usize,
    /// The time warp mode without the flag `+C`.
    pub time_warp_mode: &'static str,
    /// Words of the largest integers, where `system_info(max_integer)` tells it.
    pub max_integer_words: Option<u32>,
    /// Words of a large integer that are worth a reduction; `None`: arithmetic counts none.
    pub integer_words_per_reduction: Option<u32>,
    /// Bits of the number and of the serial that a pid of this node shows.
    pub pid_bits: PidBits,
}

/// `DFLAG_V4_NC | DFLAG_UNLINK_ID`: mandatory since OTP 26.
const V4_NODES_AND_UNLINK_ID: u64 = 4 << 32 | 0x200_0000;

/// How many words terms take, header included.
#[derive(Copy, Clone, Debug)]
pub struct TermWords {
    /// A fun without its environment.
    pub local_fun: usize,
    /// `fun M:F/A`.
    pub external_fun: usize,
    /// A bit string that does not fit the heap, where all such bit strings are parts of binaries.
    pub part: Option<usize>,
}

/// The releases that kvik runs, the oldest first.
pub static RELEASES: &[Release] = &[
    Release {
        number: 25,
        name: "25",
        erts_major: "13",
        erts_version: "13.1.5",
        untested: false,
        nif: (2, 16),
        driver: (3, 3),
        dist_flags: 0,
        processes: 262_144,
        time_warp_mode: "no_time_warp",
        max_integer_words: None,
        integer_words_per_reduction: None,
        pid_bits: PidBits { number: 15, serial: 13 },
    },
    Release {
        number: 26,
        name: "26",
        erts_major: "14",
        erts_version: "14.2.5",
        untested: true,
        nif: (2, 17),
        driver: (3, 3),
        dist_flags: V4_NODES_AND_UNLINK_ID,
        processes: 262_144,
        time_warp_mode: "multi_time_warp",
        max_integer_words: None,
        integer_words_per_reduction: None,
        pid_bits: pids::SINCE_26,
    },
    Release {
        number: 27,
        name: "27",
        erts_major: "15",
        erts_version: "15.2.7",
        untested: false,
        nif: (2, 17),
        driver: (3, 3),
        dist_flags: V4_NODES_AND_UNLINK_ID,
        processes: 1_048_576,
        time_warp_mode: "multi_time_warp",
        max_integer_words: Some(65_535),
        integer_words_per_reduction: None,
        pid_bits: pids::SINCE_26,
    },
    Release {
        number: 28,
        name: "28",
        erts_major: "16",
        erts_version: "16.0",
        untested: true,
        nif: (2, 17),
        driver: (3, 3),
        dist_flags: V4_NODES_AND_UNLINK_ID,
        processes: 1_048_576,
        time_warp_mode: "multi_time_warp",
        max_integer_words: Some(65_535),
        integer_words_per_reduction: None,
        pid_bits: pids::SINCE_26,
    },
    Release {
        number: 29,
        name: "29",
        erts_major: "17",
        erts_version: "17.1",
        untested: false,
        nif: (2, 18),
        driver: (3, 3),
        dist_flags: V4_NODES_AND_UNLINK_ID,
        processes: 1_048_576,
        time_warp_mode: "multi_time_warp",
        max_integer_words: Some(65_535),
        integer_words_per_reduction: Some(16),
        pid_bits: pids::SINCE_26,
    },
];

/// The emulator's predefined atoms, one a line, in the order of their indexes; with `@N` those
/// since release N, with `-N` those in releases before N. Found by observing the order of map keys
/// in each release (`tests/otp/emulator_atoms`).
static EMULATOR_ATOMS: &str = include_str!("emulator_atoms.txt");

/// The atoms that OTP's natives make when they are loaded, those of `zlib`, `erl_tracer`,
/// `prim_buffer`, `prim_file` and `prim_socket`, in the same form and found in the same way, in
/// releases since 26. `erl_init` loads them one after the other.
static SOCKET_ATOMS: &str = include_str!("socket_atoms.txt");
/// The same for `prim_net`, which comes last. Between them are the names in `/etc/protocols`.
static NET_ATOMS: &str = include_str!("net_atoms.txt");

/// The names in such a list that a release has.
fn names_of<'a>(
    release: &'a Release,
    list: &'static str,
) -> impl Iterator<Item = &'static str> + 'a {
    list.lines().filter_map(|line| match line.split_once(' ') {
        None => Some(line),
        Some((name, span)) => Span::of(span)?.has(release).then_some(name),
    })
}

/// Modules that are loaded before any file is read, in OTP's order, and since which release.
static PRELOADED: &[(&str, Span)] = &[
    ("persistent_term", Span::ALL),
    ("counters", Span::ALL),
    ("atomics", Span::ALL),
    ("erts_dirty_process_signal_handler", Span::ALL),
    ("erts_trace_cleaner", Span::since(27)),
    ("erts_literal_area_collector", Span::ALL),
    ("erl_tracer", Span::ALL),
    ("erts_internal", Span::ALL),
    ("erlang", Span::ALL),
    ("erl_prim_loader", Span::ALL),
    ("prim_zip", Span::ALL),
    ("prim_net", Span::ALL),
    ("prim_socket", Span::ALL),
    ("socket_registry", Span::ALL),
    ("zlib", Span::ALL),
    ("prim_file", Span::ALL),
    ("prim_inet", Span::ALL),
    ("prim_eval", Span::ALL),
    ("prim_buffer", Span::ALL),
    ("init", Span::ALL),
    ("erl_init", Span::ALL),
    ("erts_code_purger", Span::ALL),
];

/// Modules whose NIFs are part of the VM, by the names of their libraries: `prim_net` calls its own
/// `net`.
static STATIC_NIFS: &[(&str, Span)] = &[
    ("erl_tracer", Span::ALL),
    ("net", Span::ALL),
    ("prim_buffer", Span::ALL),
    ("prim_file", Span::ALL),
    ("prim_net", Span::ALL),
    ("prim_socket", Span::ALL),
    ("prim_tty", Span::since(26)),
    ("zlib", Span::ALL),
    ("zstd", Span::since(28)),
];

/// Versions of what `prim_socket` and `prim_net` expect of their natives. Each has what the one
/// before it has, and changes some answers; docs/internals/sockets.md lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SocketNatives {
    V1,
    /// A receive that waits for more keeps what it has read.
    V2,
    /// A receive may select the descriptor again (`{otp, select_read}`); several messages a call.
    V3,
}

/// How keys of large maps and tables are hashed, which decides their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyHash {
    /// 32 bits, with salts.
    Jenkins,
    /// 64 bits.
    Murmur,
    /// Native records are among the kinds of terms, and tables leave out the lowest bit.
    MurmurWithRecords,
}

/// A range of releases that have something: from `since` on and before `until`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub since: u16,
    pub until: u16,
}

impl Span {
    /// Every release has it.
    pub const ALL: Span = Span { since: 0, until: u16::MAX };

    /// From this release on.
    pub const fn since(since: u16) -> Span {
        Span { since, ..Span::ALL }
    }

    /// From one release on and before another.
    pub const fn between(since: u16, until: u16) -> Span {
        Span { since, until }
    }

    /// In releases before this one.
    pub const fn until(until: u16) -> Span {
        Span { until, ..Span::ALL }
    }

    /// `@N`: since release N; `-N`: in releases before N.
    fn of(text: &str) -> Option<Span> {
        match text.split_at_checked(1)? {
            ("@", since) => since.parse().ok().map(Span::since),
            ("-", until) => until.parse().ok().map(Span::until),
            _ => None,
        }
    }

    /// Whether a release has it.
    pub const fn has(self, release: &Release) -> bool {
        self.since <= release.number && release.number < self.until
    }
}

impl Release {
    /// The modules that are loaded before any file is read.
    pub fn preloaded(&self) -> impl Iterator<Item = &'static str> + '_ {
        PRELOADED.iter().filter(|(_, span)| span.has(self)).map(|(name, _)| *name)
    }

    /// The atoms of the emulator, in the order of their indexes.
    pub fn emulator_atoms(&self) -> impl Iterator<Item = &'static str> + '_ {
        names_of(self, EMULATOR_ATOMS)
    }

    /// The atoms that exist once the natives of sockets are loaded, and that no module names before,
    /// in that order; none where the order of atoms does not matter.
    pub fn socket_atoms(&self) -> impl Iterator<Item = &'static str> + '_ {
        let matters = self.orders_map_keys_by_atom_index();
        names_of(self, SOCKET_ATOMS).filter(move |_| matters)
    }
    /// The atoms that the natives of `prim_net` make after the names of protocols.
    pub fn net_atoms(&self) -> impl Iterator<Item = &'static str> + '_ {
        let matters = self.orders_map_keys_by_atom_index();
        names_of(self, NET_ATOMS).filter(move |_| matters)
    }

    /// Whether small maps order their atom keys by the atoms' indexes instead of their names.
    pub fn orders_map_keys_by_atom_index(&self) -> bool {
        self.number >= 26
    }

    /// Whether messages that a process has not fetched count as signals that have to take effect
    /// before a call returns which looked at another process or a port.
    pub fn fetches_before_answers(&self) -> bool {
        self.number >= 27
    }

    /// Whether a process that has ended answers all signals at once.
    pub fn answers_all_when_ending(&self) -> bool {
        self.number >= 27
    }

    /// Whether there are native records: a kind of term, and its external format.
    pub fn has_native_records(&self) -> bool {
        self.number >= 29
    }

    /// Whether the break menu ends the line that says a dump was requested.
    pub fn ends_dump_request(&self) -> bool {
        self.number >= 29
    }

    /// Whether there is an interface for debuggers (`erl_debugger`).
    pub fn has_debugger(&self) -> bool {
        self.number >= 28
    }

    /// Whether code coverage is recorded by the machine.
    pub fn has_coverage(&self) -> bool {
        self.number >= 27
    }

    /// How keys are hashed.
    fn key_hash(&self) -> KeyHash {
        match self.number {
            ..27 => KeyHash::Jenkins,
            27..29 => KeyHash::Murmur,
            _ => KeyHash::MurmurWithRecords,
        }
    }

    /// Whether lists of a large map's keys and values are in the order of its iterators instead of
    /// reversed.
    pub fn lists_large_maps_in_order(&self) -> bool {
        self.number >= 28
    }

    /// Whether a monitor's message from another node ends the token of sequential tracing that its
    /// receiver has.
    pub fn remote_down_ends_token(&self) -> bool {
        self.number < 27
    }

    /// Whether `dist_ctrl_put_data/2` and `dist_ctrl_input_handler/2` judge the handle before the
    /// caller and the data; a connection of a port may be given an input handler, too.
    pub fn judges_dist_handles_first(&self) -> bool {
        self.number >= 27
    }

    /// Whether a process that asks for its own messages, or their number, takes those first that
    /// have arrived.
    pub fn fetches_for_own_info(&self) -> bool {
        self.number >= 27
    }

    /// Whether functions for binaries fail for other bitstrings instead of leaving out the last
    /// bits, and check a search pattern even if there is nothing to search.
    pub fn rejects_bitstrings(&self) -> bool {
        self.number >= 27
    }

    /// Whether allocations may be tagged with the code that makes them (`+M<S>atags code`).
    pub fn tags_allocations_with_code(&self) -> bool {
        self.number >= 27
    }

    /// Whether a local time is never taken for summer time in a zone that has none.
    pub fn ignores_summer_time_that_a_zone_lacks(&self) -> bool {
        self.number >= 28
    }

    /// Whether a map's iterator may follow a list of keys.
    pub fn has_ordered_iterators(&self) -> bool {
        self.number >= 26
    }

    /// Whether a bit string under construction fails for a segment `utf8` of no character before the
    /// values of other segments are looked at.
    pub fn judges_utf8_with_sizes(&self) -> bool {
        self.number >= 26
    }

    /// Whether a failing addition of a constant shows no line of module `erlang` in the stack
    /// trace, because the loader turns it into another instruction.
    pub fn has_increments(&self) -> bool {
        self.number < 26
    }

    /// Whether `max_heap_size` may count binaries outside the heap (`include_shared_binaries`), and
    /// the report of a heap that is too large shows the stack.
    pub fn limits_shared_binaries(&self) -> bool {
        self.number >= 27
    }

    /// Whether the timeout of a `receive` stands still while the process is suspended.
    pub fn pauses_timeouts(&self) -> bool {
        self.number >= 28
    }

    /// The same for timers that send a process a message.
    pub fn pauses_timers(&self) -> bool {
        self.number >= 29
    }

    /// Whether there are priority messages, and links with options.
    pub fn has_priority_messages(&self) -> bool {
        self.number >= 28
    }

    /// Whether an integer of many digits becomes the nearest float.
    pub fn rounds_large_integers_once(&self) -> bool {
        self.number >= 29
    }

    /// Whether a fun knows the process that made it; otherwise it names the first process.
    pub fn has_fun_creators(&self) -> bool {
        self.number < 26
    }

    /// Whether the references to a fun's code are counted; otherwise only its module counts.
    pub fn counts_funs(&self) -> bool {
        self.number < 28
    }

    /// Words of the kinds of terms that other releases lay out differently.
    pub fn term_words(&self) -> TermWords {
        match self.number {
            ..27 => TermWords { local_fun: 5, external_fun: 5, part: None },
            27 => TermWords { local_fun: 6, external_fun: 2, part: Some(8) },
            _ => TermWords { local_fun: 2, external_fun: 2, part: Some(8) },
        }
    }

    /// Whether `open_port/2` takes a bare file name.
    pub fn opens_files_by_name(&self) -> bool {
        self.number < 26
    }

    /// Whether `zlib:deflateSetDictionary/2` returns a signed number.
    pub fn has_signed_checksums(&self) -> bool {
        self.number < 26
    }

    /// Whether a bit string without bits may be encoded as one with a last byte.
    pub fn decodes_empty_bit_strings(&self) -> bool {
        self.number < 27
    }

    /// Whether the text of a large map shows its nodes instead of its keys and values.
    pub fn shows_map_nodes(&self) -> bool {
        self.number < 27
    }

    /// Whether 0.0 and -0.0 differ to `=:=`, to matching and as keys, and negation makes one from
    /// the other.
    pub fn distinguishes_zeros(&self) -> bool {
        self.number >= 27
    }

    /// Whether the NIFs of a module are part of the VM.
    pub fn has_static_nifs(&self, module: &[u8]) -> bool {
        let found = STATIC_NIFS.iter().find(|(name, _)| name.as_bytes() == module);
        found.is_some_and(|(_, span)| span.has(self))
    }

    /// Whether its compiler writes literals without compression, and lengths of atoms as tagged
    /// numbers.
    pub fn writes_plain_chunks(&self) -> bool {
        self.number >= 28
    }

    /// Whether `os:set_signal/2` accepts terminal signals: continue, and window size changes.
    pub fn has_terminal_signals(&self) -> bool {
        self.number >= 28
    }

    /// Whether functions may be traced for the memory that they allocate.
    pub fn has_call_memory(&self) -> bool {
        self.number >= 26
    }

    /// Whether a process spawned from another node gets a message behind its arguments, which tells
    /// whether those could be decoded.
    pub fn has_spawn_init_message(&self) -> bool {
        self.number >= 26
    }

    /// Whether match specifications of traced functions may ask for the stack trace.
    pub fn has_stacktrace_actions(&self) -> bool {
        self.number >= 26
    }

    /// Whether there are trace sessions. Without them `set_on_link` is ignored by `link/1`, and an
    /// exception is reported as a return only to the caller of the last traced function.
    pub fn has_trace_sessions(&self) -> bool {
        self.number >= 27
    }

    /// Whether a process may hibernate and keep its stack.
    pub fn has_hibernate_0(&self) -> bool {
        self.number >= 28
    }

    /// Whether `trace_info` of a function looks at the asked item alone: an unknown one is an error
    /// whether the function is traced or not, and one without a meta tracer has `false`.
    pub fn has_strict_trace_items(&self) -> bool {
        self.number >= 28
    }

    /// Whether `system_monitor` reports long message queues.
    pub fn has_long_message_queues(&self) -> bool {
        self.number >= 27
    }

    /// Whether each trace session has a system monitor of its own, and an option may be `false`.
    pub fn has_system_monitors(&self) -> bool {
        self.number >= 28
    }

    /// The natives of `prim_socket` and `prim_net`.
    pub fn socket_natives(&self) -> SocketNatives {
        match self.number {
            ..26 => SocketNatives::V1,
            26..28 => SocketNatives::V2,
            _ => SocketNatives::V3,
        }
    }

    /// The state of `erts_debug:set_internal_state/2` that takes the permission to change code.
    pub fn code_permission(&self) -> &'static str {
        match self.number {
            ..26 => "code_write_permission",
            _ => "code_mod_permission",
        }
    }

    /// Whether `erl` has `-S`: the function behind it gets all arguments that follow.
    pub fn has_start_flag(&self) -> bool {
        self.number >= 26
    }

    /// Whether the source of the monotonic time tells the resolution that is used.
    pub fn tells_used_resolution(&self) -> bool {
        self.number >= 27
    }

    /// Whether the time for flushing may be limited when the VM halts: an option of `halt/2`, and a
    /// flag.
    pub fn has_halt_timeout(&self) -> bool {
        self.number >= 27
    }

    /// Whether `re` has PCRE2: compiled patterns are references, and may be exported.
    pub fn has_pcre2(&self) -> bool {
        self.number >= 28
    }

    /// Whether a system process removes ended trace sessions from processes.
    pub fn has_trace_cleaner(&self) -> bool {
        self.preloaded().any(|name| name == "erts_trace_cleaner")
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let note = if self.untested { " (untested)" } else { "" };
        write!(f, "OTP {}{note}", self.name)
    }
}

/// The release with this number, as in `--otp 27`.
pub fn by_name(name: &str) -> Option<&'static Release> {
    RELEASES.iter().find(|r| r.name == name)
}

/// The release that a version of `erts` belongs to.
pub fn by_erts(version: &str) -> Option<&'static Release> {
    let major = version.split('.').next()?;
    RELEASES.iter().find(|r| r.erts_major == major)
}

/// The releases by name, for messages: `OTP 25, OTP 26 (untested)`.
pub fn supported() -> String {
    RELEASES.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

struct Selected {
    release: &'static Release,
    erts: String,
}

kvik_state::vm_state! {
    static SELECTED: OnceLock<Selected> = OnceLock::new();
    /// A [`KeyHash`].
    static KEY_HASH: AtomicU8 = AtomicU8::new(0);
}

/// Selects the release for this VM, with the version of its `erts`; only the first call counts.
pub fn select(release: &'static Release, erts: &str) {
    SELECTED.get_or_init(|| {
        KEY_HASH.store(release.key_hash() as u8, Ordering::Relaxed);
        Selected { release, erts: erts.to_string() }
    });
}

/// How keys are hashed under [`current`]. Look-ups in large maps and tables ask this: it is one load
/// of a value that never changes.
#[inline]
pub fn key_hash() -> KeyHash {
    match KEY_HASH.load(Ordering::Relaxed) {
        0 => KeyHash::Jenkins,
        1 => KeyHash::Murmur,
        _ => KeyHash::MurmurWithRecords,
    }
}

/// The release that this VM runs; the oldest if none was selected, as in tests.
pub fn current() -> &'static Release {
    SELECTED.get().map_or(&RELEASES[0], |s| s.release)
}

/// `system_info(version)`.
pub fn erts_version() -> &'static str {
    SELECTED.get().map_or(RELEASES[0].erts_version, |s| s.erts.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_releases_by_name_and_erts() {
        for release in RELEASES {
            assert_eq!(by_name(release.name), Some(release));
            assert_eq!(by_erts(release.erts_version), Some(release));
            assert_eq!(release.name, release.number.to_string());
            let major = release.erts_version.split('.').next();
            assert_eq!(major, Some(release.erts_major));
        }
        assert!(RELEASES.is_sorted_by_key(|r| r.number));
        assert_eq!(by_name("24"), None);
        assert_eq!(by_erts("12.3.2"), None);
    }

    #[test]
    fn spans_include_their_first_release_and_exclude_their_last() {
        let [old, new] = [&RELEASES[0], &RELEASES[1]];
        assert!(Span::ALL.has(old) && Span::ALL.has(new));
        assert!(!Span::since(new.number).has(old) && Span::since(new.number).has(new));
        assert!(Span::until(new.number).has(old) && !Span::until(new.number).has(new));
    }

    #[test]
    fn emulator_atoms_are_unique_in_each_release() {
        for release in &RELEASES[1..] {
            let names: Vec<_> = release.emulator_atoms().collect();
            assert_eq!(names[..2], ["false", "true"]);
            assert!(names.len() > 1000 && names.iter().all(|n| !n.contains(' ')));
            let unique: std::collections::HashSet<_> = names.iter().collect();
            assert_eq!(unique.len(), names.len());
        }
        let has = |name| by_name(name).unwrap().emulator_atoms().any(|n| n == "erl_debugger");
        assert!(!has("27") && has("29"));
    }

    #[test]
    fn socket_atoms_are_those_of_the_release() {
        let has = |release, name| by_name(release).unwrap().socket_atoms().any(|atom| atom == name);
        assert_eq!(RELEASES[0].socket_atoms().next(), None);
        for (name, first, second) in
            [("adaption_layer", true, false), ("$esock_name", false, true), ("zero", true, true)]
        {
            assert_eq!((has("27", name), has("29", name)), (first, second), "{name}");
        }
    }

    #[test]
    fn preloads_the_trace_cleaner_since_27() {
        let has = |r: &Release| r.preloaded().any(|m| m == "erts_trace_cleaner");
        assert!(RELEASES.iter().all(|r| has(r) == (r.number >= 27)));
    }
}
