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
    TooNew(i32),
    /// The file's compiler is of a release whose files are refused: its highest opcode says so.
    EarlyCompiler,
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

/// What OTP calls a part of a file in its log.
fn part(chunk: &'static str) -> &'static str {
    match chunk {
        "AtU8" => "atom table",
        "Code" => "code chunk",
        "ExpT" => "export table",
        "ImpT" => "import table",
        "FunT" => "lambda table",
        "Line" => "line table",
        "LitT" => "literal table",
        "Type" => "type table",
        "DbgB" => "BEAM debug information table",
        "Recs" => "record table",
        other => other,
    }
}
/// What to do with a file of another release, in OTP's words.
fn recompile(f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let release = kvik_release::current();
    let (name, besides) = (release.name, release.besides_recompiling());
    write!(f, "please re-compile this module with an Erlang/OTP {name} compiler{besides}")
}

impl fmt::Display for BeamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BeamError::Header => write!(f, "corrupt file header"),
            BeamError::Gzip => write!(f, "damaged compressed file"),
            BeamError::Missing(chunk) => write!(f, "missing {}", part(chunk)),
            BeamError::Chunk(chunk) => write!(f, "corrupt {}", part(chunk)),
            BeamError::OldAtoms => recompile(f),
            BeamError::TooNew(opcode) => {
                let release = kvik_release::current();
                write!(
                    f,
                    "This BEAM file was compiled for a later version of the runtime system than the \
                     current (Erlang/OTP {}).\n  To fix this, ",
                    release.name
                )?;
                recompile(f)?;
                let highest = highest_opcode(release.number);
                write!(
                    f,
                    ".\n  (Use of opcode {opcode}; this emulator supports only up to {highest}.)"
                )
            }
            BeamError::EarlyCompiler => {
                let compiler = kvik_release::current().earliest_compiler().unwrap_or_default();
                writeln!(
                    f,
                    "This BEAM file was compiled for an old version of the runtime system.\n  \
                     To fix this, please re-compile this module with Erlang/OTP {compiler} or later."
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
