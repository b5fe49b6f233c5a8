//! The commands of `bs_match` (since OTP 26): how many bits are required, and a sequence of
//! operations on them.
//!
//! The first command checks the number of bits. The verifier checks that the others together take
//! no more, so their templates need no bounds checks.

use crate::code::Arg;
use crate::module::Module;

/// Why a list of commands is refused.
type What = &'static str;

/// One command of `bs_match`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum MatchCommand {
    /// Fails unless there are at least that many bits and the number of the rest is a multiple of
    /// the unit.
    EnsureAtLeast {
        /// Bits that the following commands may take.
        bits: u64,
        /// 1 to 256.
        unit: u64,
    },
    /// Fails unless there are exactly that many bits.
    EnsureExactly {
        /// Bits that the following commands may take.
        bits: u64,
    },
    /// Takes an integer.
    Integer {
        /// X registers that are live if a collection is needed.
        live: u64,
        /// `[]` or a literal list of atoms.
        flags: Arg,
        /// Its size.
        bits: u64,
        /// Destination register.
        to: Arg,
    },
    /// Takes a bit string.
    Binary {
        /// See `Integer`.
        live: u64,
        /// Its size.
        bits: u64,
        /// Destination register.
        to: Arg,
    },
    /// Makes a bit string of the remaining bits, without advancing the position.
    Tail {
        /// See `Integer`.
        live: u64,
        /// Destination register.
        to: Arg,
    },
    /// Skips bits.
    Skip {
        /// How many.
        bits: u64,
    },
    /// Skips bits, and fails unless they are this number.
    Equal {
        /// How many: 64 at most.
        bits: u64,
        /// The number.
        value: u64,
    },
}

/// No bit string is that long, and the number is a small integer: a size above it stands for this,
/// and its match fails when it runs.
const MAX_BITS: u64 = 1 << 58;
/// Same limit as for operands of kind `v`.
const MAX_LIVE: u64 = 1023;

/// Iterator over the commands in a list of operands: each is well-formed, or a reason to refuse.
pub struct MatchCommands<'a> {
    module: &'a Module<'a>,
    rest: &'a [Arg],
}

impl<'a> MatchCommands<'a> {
    /// The commands in the list of a `bs_match`.
    pub fn new(module: &'a Module<'a>, list: &'a [Arg]) -> Self {
        MatchCommands { module, rest: list }
    }

    fn next_command(&mut self) -> Result<MatchCommand, What> {
        let (name, rest) = match self.rest {
            [Arg::Atom(name), rest @ ..] => (self.module.atom(*name).unwrap_or_default(), rest),
            _ => return Err("no command of a match"),
        };
        let (command, rest) = match (name, rest) {
            ("ensure_at_least", [bits, Arg::U(unit @ 1..=256), rest @ ..]) => {
                (MatchCommand::EnsureAtLeast { bits: size(*bits, 1)?, unit: *unit }, rest)
            }
            ("ensure_exactly", [bits, rest @ ..]) => {
                (MatchCommand::EnsureExactly { bits: size(*bits, 1)? }, rest)
            }
            ("integer", [Arg::U(live), flags, bits, Arg::U(unit), to, rest @ ..]) => {
                let bits = size(*bits, *unit)?;
                let flags = *flags;
                if !matches!(flags, Arg::Nil | Arg::Literal(_)) {
                    return Err("flags of the wrong kind");
                }
                (MatchCommand::Integer { live: *live, flags, bits, to: *to }, rest)
            }
            ("binary", [Arg::U(live), _, bits, Arg::U(unit), to, rest @ ..]) => {
                let bits = size(*bits, *unit)?;
                (MatchCommand::Binary { live: *live, bits, to: *to }, rest)
            }
            ("get_tail", [Arg::U(live), _, to, rest @ ..]) => {
                (MatchCommand::Tail { live: *live, to: *to }, rest)
            }
            ("skip", [bits, rest @ ..]) => (MatchCommand::Skip { bits: size(*bits, 1)? }, rest),
            ("=:=", [_, bits, Arg::U(value), rest @ ..]) => {
                let bits = size(*bits, 1).ok().filter(|bits| *bits <= 64);
                let bits = bits.ok_or("compares too many bits")?;
                (MatchCommand::Equal { bits, value: *value }, rest)
            }
            _ => return Err("no command of a match"),
        };
        check_operands(command)?;
        self.rest = rest;
        Ok(command)
    }
}

impl Iterator for MatchCommands<'_> {
    type Item = Result<MatchCommand, What>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let command = self.next_command();
        if command.is_err() {
            self.rest = &[];
        }
        Some(command)
    }
}

fn check_operands(command: MatchCommand) -> Result<(), What> {
    use MatchCommand::*;
    let (Integer { live, to, .. } | Binary { live, to, .. } | Tail { live, to }) = command else {
        return Ok(());
    };
    match to {
        Arg::X(..) | Arg::Y(..) if live <= MAX_LIVE => Ok(()),
        Arg::X(..) | Arg::Y(..) => Err("too many live registers"),
        _ => Err("not a register"),
    }
}

fn size(number: Arg, unit: u64) -> Result<u64, What> {
    let number = match number {
        Arg::U(n) => Some(n),
        Arg::Int(n) => u64::try_from(n).ok(),
        Arg::Overflow => Some(u64::MAX),
        _ => None,
    };
    let number = number.ok_or("a match of no number of bits")?;
    Ok(number.saturating_mul(unit).min(MAX_BITS))
}

/// The commands of a whole instruction, in order: first the one that checks the number of bits,
/// then commands that take no more than that.
pub fn match_commands(module: &Module, list: &[Arg]) -> Result<Vec<MatchCommand>, What> {
    use MatchCommand::*;
    let commands: Vec<MatchCommand> = MatchCommands::new(module, list).collect::<Result<_, _>>()?;
    let [first, rest @ ..] = commands.as_slice() else {
        return Err("no command of a match");
    };
    let (EnsureAtLeast { bits: ensured, .. } | EnsureExactly { bits: ensured }) = *first else {
        return Err("a match that begins without making sure of its bits");
    };
    let mut taken = 0;
    for command in rest {
        let bits = match *command {
            EnsureAtLeast { .. } | EnsureExactly { .. } => {
                return Err("a match that makes sure of its bits twice")
            }
            Integer { bits, .. } | Binary { bits, .. } | Skip { bits } | Equal { bits, .. } => bits,
            Tail { .. } => 0,
        };
        taken = MAX_BITS.min(taken + bits);
        if taken > ensured {
            return Err("a match takes more bits than it made sure of");
        }
    }
    Ok(commands)
}
