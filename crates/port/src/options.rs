//! Decoded arguments of `open_port/2` (`bifs` reads the terms).

/// The first argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PortTarget {
    /// `{spawn, Command}`: a driver's name or a command for the shell.
    Spawn(Vec<u8>),
    /// `{spawn_driver, Name}`.
    Driver(Vec<u8>),
    /// `{spawn_executable, File}`.
    Executable(Vec<u8>),
    /// A name by itself: a file.
    File(Vec<u8>),
    /// `{fd, In, Out}`.
    Fd(i32, i32),
}

impl PortTarget {
    /// Whether it is an external program.
    pub fn is_program(&self) -> bool {
        match self {
            PortTarget::Executable(_) => true,
            PortTarget::Spawn(command) => crate::driver_by_name(command).is_none(),
            _ => false,
        }
    }
}

/// Queue sizes at which a port becomes busy (`high`), and no longer busy (`low`).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct BusyLimits {
    pub low: usize,
    pub high: usize,
}

#[derive(Clone, Debug)]
pub struct PortOptions {
    /// Length bytes before each packet: 0 (a stream), 1, 2 or 4.
    pub packet: u8,
    /// The most bytes of a line that are delivered at once.
    pub line: Option<usize>,
    pub read: bool,
    pub write: bool,
    pub binary: bool,
    pub eof: bool,
    pub exit_status: bool,
    pub use_stdio: bool,
    pub stderr_to_stdout: bool,
    pub parallelism: bool,
    pub args: Option<Vec<Vec<u8>>>,
    pub arg0: Option<Vec<u8>>,
    pub dir: Option<Vec<u8>>,
    /// Variables to set, or to remove (`None`).
    pub env: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    /// `None`: never busy.
    pub busy: Option<BusyLimits>,
}

impl Default for PortOptions {
    fn default() -> Self {
        PortOptions {
            packet: 0,
            line: None,
            read: false,
            write: false,
            binary: false,
            eof: false,
            exit_status: false,
            use_stdio: true,
            stderr_to_stdout: false,
            parallelism: false,
            args: None,
            arg0: None,
            dir: None,
            env: Vec::new(),
            busy: Some(BusyLimits { low: 4096, high: 8192 }),
        }
    }
}
