//! Why a file is refused.

use kvik_isa::highest_opcode;
use std::fmt;

/// Everything that can be wrong with a file, with the text for the log. Erlang code sees `badfile`
/// in every case, as in OTP.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BeamError {
    /// Not an IFF file of form `BEAM`, or its sizes don't add up.
    Header,
    /// The gzip stream around the file is damaged or far too large.
    Gzip,
    /// A chunk without which no module can be loaded isn't there.
    Missing(&'static str),
    /// A chunk is damaged.
    Chunk(&'static str),
    /// The file was made by OTP 20 or earlier: its atoms are in Latin-1.
    OldAtoms,
    /// The file uses instructions of a later OTP release: its highest opcode.
    TooNew(u32),
    /// The file uses an instruction that every supported release has dropped.
    TooOld(&'static str),
    /// The code can't be decoded.
    Code {
        /// Byte offset in the code.
        offset: usize,
        /// What was found there.
        what: &'static str,
    },
    /// The code isn't laid out in functions.
    Layout {
        /// Index of the instruction.
        op: usize,
        /// What is wrong there.
        what: &'static str,
    },
    /// The verifier refused the code.
    Unsafe(Box<Reason>),
}

/// The verifier's reason for refusing code, and the position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reason {
    /// Function name and arity.
    pub function: String,
    /// Index of the instruction in the decoded code.
    pub op: usize,
    /// Name of the instruction.
    pub name: &'static str,
    /// What is wrong with it.
    pub what: &'static str,
}

impl BeamError {
    /// The atom that Erlang code sees.
    pub fn atom(&self) -> &'static str {
        "badfile"
    }
}

impl fmt::Display for BeamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BeamError::Header => write!(f, "not a BEAM file"),
            BeamError::Gzip => write!(f, "damaged compressed file"),
            BeamError::Missing(chunk) => write!(f, "chunk {chunk} is missing"),
            BeamError::Chunk(chunk) => write!(f, "chunk {chunk} is damaged"),
            BeamError::OldAtoms => write!(f, "compiled by OTP 20 or earlier; please compile again"),
            BeamError::TooNew(opcode) => {
                let release = kvik_release::current();
                write!(
                    f,
                    "compiled for a release later than OTP {}: it uses opcode {opcode}, and {} is the \
                     highest here",
                    release.name,
                    highest_opcode(release.number)
                )
            }
            BeamError::TooOld(name) => {
                write!(
                    f,
                    "compiled by too old a compiler: instruction {name}; please compile again"
                )
            }
            BeamError::Code { offset, what } => write!(f, "code byte {offset}: {what}"),
            BeamError::Layout { op, what } => write!(f, "instruction {op}: {what}"),
            BeamError::Unsafe(r) => {
                write!(f, "{}, instruction {} ({}): {}", r.function, r.op, r.name, r.what)
            }
        }
    }
}

impl std::error::Error for BeamError {}
