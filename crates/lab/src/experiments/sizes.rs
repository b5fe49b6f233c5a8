//! Sizes of the experiments: in quick mode, in full, and when named on the command line.
//!
//! Runs are only as long as steady figures need: in full mode mostly between 0.2 and one second.

use crate::peers::PeerKind;

pub struct ExperimentSizes {
    pub oneway: u64,
    pub pingpong: u64,
    pub ring: &'static [u64],
    pub ring_messages: u64,
    pub waiting: u64,
    pub calls: u64,
    pub senders: u64,
    pub pairs: u64,
    pub lives: u64,
    pub lines: u64,
    /// Lines through one port.
    pub lines_of_one: u64,
    pub ports: Option<PortSizes>,
    /// Megabytes, time limit of a cell, and block sizes in KB; all sizes if none is named.
    pub files: &'static [&'static str],
    /// Number of files of 1 KB, 1 MB and 100 MB that are read.
    pub read_files: [&'static str; 3],
    pub text_lines: u64,
    /// Also run the files with other flags.
    pub tuned: bool,
    pub switching_ms: u64,
    /// Iterations of each small program.
    pub work: u64,
    /// Whole programs with their sizes; 0 modules of stdlib means all.
    pub programs: &'static [(&'static str, u64)],
}

/// Sizes of further port experiments.
pub struct PortSizes {
    pub megabytes: u64,
    pub opened: u64,
    /// Lines through each of many ports.
    pub rounds: u64,
}

pub const QUICK: ExperimentSizes = ExperimentSizes {
    oneway: 2_000_000,
    pingpong: 500_000,
    ring: &[10, 1_000, 100_000],
    ring_messages: 300_000,
    waiting: 100_000,
    calls: 150_000,
    senders: 100_000,
    pairs: 1_000_000,
    lives: 100_000,
    lines: 4_000,
    lines_of_one: 5_000,
    ports: None,
    files: &["8", "1", "8", "64", "1024"],
    read_files: ["5000", "100", "1"],
    text_lines: 20_000,
    tuned: false,
    switching_ms: 500,
    work: 10,
    programs: &[
        ("nbody", 50_000),
        ("spectral_norm", 300),
        ("mandelbrot", 300),
        ("binary_trees", 14),
        ("sudoku", 2),
        ("json", 1_000),
        ("words", 2),
        ("log", 20_000),
        ("cache", 100_000),
        ("xml", 2_000),
    ],
};

pub const WHOLE: ExperimentSizes = ExperimentSizes {
    oneway: 10_000_000,
    pingpong: 2_000_000,
    ring: &[1, 10, 100, 1_000, 10_000, 1_000_000],
    ring_messages: 1_000_000,
    waiting: 250_000,
    calls: 500_000,
    senders: 250_000,
    pairs: 3_000_000,
    lives: 300_000,
    lines: 12_500,
    lines_of_one: 12_500,
    ports: Some(PortSizes { megabytes: 128, opened: 500, rounds: 40 }),
    files: &["100", "40ms"],
    read_files: ["20000", "500", "4"],
    text_lines: 100_000,
    tuned: true,
    switching_ms: 500,
    work: 50,
    programs: &[
        ("nbody", 200_000),
        ("spectral_norm", 1_000),
        ("mandelbrot", 1_000),
        ("binary_trees", 17),
        ("sudoku", 8),
        ("json", 5_000),
        ("json_library", 5_000),
        ("words", 10),
        ("log", 100_000),
        ("cache", 1_000_000),
        ("xml", 5_000),
        ("lua", 40),
        ("xref", 20),
        ("compile_stdlib", 16),
        ("dialyzer", 10),
        ("mix_compile", 4),
    ],
};

/// Sizes of experiments named on the command line: everything.
pub const NAMED: ExperimentSizes = ExperimentSizes {
    pingpong: 10_000_000,
    waiting: 1_000_000,
    lines: 100_000,
    lines_of_one: 100_000,
    ports: Some(PortSizes { megabytes: 256, opened: 600, rounds: 50 }),
    files: &["100"],
    read_files: ["50000", "1000", "8"],
    text_lines: 1_000_000,
    switching_ms: 1_000,
    programs: &[
        ("nbody", 500_000),
        ("spectral_norm", 1_000),
        ("mandelbrot", 1_000),
        ("binary_trees", 17),
        ("sudoku", 20),
        ("json", 10_000),
        ("json_library", 10_000),
        ("words", 100),
        ("log", 200_000),
        ("cache", 2_000_000),
        ("xml", 10_000),
        ("lua", 100),
        ("xref", 0),
        ("compile_stdlib", 0),
        ("dialyzer", 0),
        ("mix_compile", 20),
    ],
    ..WHOLE
};

/// Peers that get only that fraction of the messages, as they are slow; the cost per message stays
/// the same.
pub const SLOW_PEERS: &[(&str, PeerKind, u64)] = &[
    ("pingpong", PeerKind::Otp, 2),
    ("pingpong", PeerKind::JavaVirtual, 2),
    ("pingpong", PeerKind::JavaThreads, 100),
    ("ring", PeerKind::JavaThreads, 100),
    ("calls", PeerKind::Otp, 2),
    ("pairs", PeerKind::Otp, 3),
];

pub fn pace(experiment: &str, kind: PeerKind) -> u64 {
    SLOW_PEERS
        .iter()
        .find(|(e, k, _)| (*e, *k) == (experiment, kind))
        .map_or(1, |(_, _, part)| *part)
}
