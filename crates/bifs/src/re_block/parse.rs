//! From bytecode to tokens.

use super::class::Class;
use super::opcodes::{self, ConditionKind, GroupKind, Ket, Literal, Mode, Repeat, Shape};

/// A condition for any recursion.
pub const ANY_RECURSION: u16 = 0xffff;

#[derive(Debug, PartialEq)]
pub enum PatternToken<'a> {
    /// A group; of a capturing one the number.
    Open(GroupKind, u16),
    Alternative,
    Close(Ket),
    Optional(Option<Mode>),
    /// With a number, or a slot of the name table.
    Condition(ConditionKind, u16),
    Item(Item<'a>, Bounds),
    Verb(&'static str, Option<&'a [u8]>),
}

#[derive(Debug, PartialEq)]
pub enum Item<'a> {
    Simple(&'static str),
    Caret {
        multiline: bool,
    },
    Dollar {
        multiline: bool,
    },
    Property {
        not: bool,
        kind: u8,
        value: u8,
    },
    Char(Literal, u32),
    Class(Class<'a>),
    Reference {
        caseless: bool,
        group: u16,
    },
    NamedReference {
        caseless: bool,
        slot: u16,
    },
    /// The number of a group, or 0 for the whole pattern.
    Recurse(u16),
}

/// How often an item is repeated.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Bounds {
    pub min: u16,
    pub max: Option<u16>,
    pub mode: Mode,
}
pub const ONCE: Bounds = Bounds { min: 1, max: Some(1), mode: Mode::Greedy };

/// The tokens of a pattern, without the group around all.
pub struct PatternTokens<'a> {
    pub tokens: Vec<PatternToken<'a>>,
    /// Of each token that opens a group, the index of the one that closes it.
    pub ends: Vec<usize>,
}

impl PatternTokens<'_> {
    /// The group that begins at a token, and its end.
    pub fn group(&self, at: usize) -> Option<(GroupKind, usize)> {
        match self.tokens.get(at)? {
            PatternToken::Open(g, _) => Some((*g, *self.ends.get(at)?)),
            _ => None,
        }
    }
}

struct Parser<'a> {
    code: &'a [u8],
    at: usize,
    utf: bool,
    program: PatternTokens<'a>,
    /// Tokens of groups that are not closed, from the outermost on.
    open: Vec<usize>,
    /// Where in the code capturing groups begin, in order, with their numbers.
    groups: Vec<(usize, u16)>,
    /// Tokens of recursions, with the offset they go to.
    recursions: Vec<(usize, usize)>,
}

pub fn parse(code: &[u8], utf: bool) -> Option<PatternTokens<'_>> {
    let program = PatternTokens { tokens: Vec::new(), ends: Vec::new() };
    let (open, groups, recursions) = (Vec::new(), Vec::new(), Vec::new());
    let mut p = Parser { code, at: 0, utf, program, open, groups, recursions };
    while p.step()? {}
    p.resolve_recursions()?;
    let mut program = p.program;
    // All of the bytecode is one group.
    if program.group(0)? != (GroupKind::Plain, program.tokens.len() - 1) {
        return None;
    }
    program.tokens.pop();
    program.tokens.remove(0);
    program.ends.remove(0);
    program.ends.iter_mut().for_each(|e| *e = e.wrapping_sub(1));
    Some(program)
}

impl<'a> Parser<'a> {
    fn bytes(&mut self, n: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(n)?;
        let b = self.code.get(self.at..end)?;
        self.at = end;
        Some(b)
    }
    fn byte(&mut self) -> Option<u8> {
        Some(self.bytes(1)?[0])
    }
    fn number(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.bytes(2)?.try_into().ok()?))
    }
    fn push(&mut self, t: PatternToken<'a>) {
        self.program.tokens.push(t);
        self.program.ends.push(0);
    }
    fn item(&mut self, i: Item<'a>) {
        self.push(PatternToken::Item(i, ONCE));
    }

    /// Reads one opcode; `false` after the last one.
    fn step(&mut self) -> Option<bool> {
        let start = self.at;
        match opcodes::shape(self.byte()?)? {
            Shape::End => return self.open.is_empty().then_some(false),
            Shape::Simple(text) => self.item(Item::Simple(text)),
            Shape::Caret { multiline } => self.item(Item::Caret { multiline }),
            Shape::Dollar { multiline } => self.item(Item::Dollar { multiline }),
            Shape::Property { not } => {
                let property = self.property(not)?;
                self.item(property);
            }
            Shape::Char(literal, repeat) => {
                let bounds = self.bounds(repeat)?;
                let c = self.character()?;
                self.push(PatternToken::Item(Item::Char(literal, c), bounds));
            }
            Shape::Type(repeat) => {
                let bounds = self.bounds(repeat)?;
                let item = self.repeated_type()?;
                self.push(PatternToken::Item(item, bounds));
            }
            Shape::Bitmap { above } => {
                let bitmap = self.bytes(32)?.try_into().ok()?;
                self.with_suffix(Item::Class(Class::Bitmap { bitmap, above }))?;
            }
            Shape::ExtendedClass => {
                let length = self.number()? as usize;
                let body = self.bytes(length.checked_sub(3)?)?;
                self.with_suffix(Item::Class(Class::Extended(body)))?;
            }
            Shape::Reference { caseless } => {
                let group = self.number()?;
                self.with_suffix(Item::Reference { caseless, group })?;
            }
            Shape::NamedReference { caseless } => {
                let slot = self.number()?;
                self.number()?;
                self.with_suffix(Item::NamedReference { caseless, slot })?;
            }
            Shape::Recurse => {
                let target = self.number()? as usize;
                self.recursions.push((self.program.tokens.len(), target));
                self.item(Item::Recurse(0));
            }
            Shape::Skip(n) => drop(self.bytes(n)?),
            other => self.structure(other, start)?,
        }
        Some(true)
    }

    fn structure(&mut self, shape: Shape, start: usize) -> Option<()> {
        match shape {
            Shape::Alternative => {
                self.number()?;
                self.push(PatternToken::Alternative);
            }
            Shape::Close(ket) => {
                self.number()?;
                let opened = self.open.pop()?;
                self.program.ends[opened] = self.program.tokens.len();
                self.push(PatternToken::Close(ket));
            }
            Shape::Open(group) => self.open_group(group, start)?,
            Shape::Condition(kind) => {
                let value = if kind == ConditionKind::Define { 0 } else { self.number()? };
                if matches!(kind, ConditionKind::Name | ConditionKind::NamedRecursion) {
                    self.number()?;
                }
                self.push(PatternToken::Condition(kind, value));
            }
            Shape::Optional(mode) => self.push(PatternToken::Optional(mode)),
            Shape::Verb(name) => self.push(PatternToken::Verb(name, None)),
            Shape::NamedVerb(name) => {
                let length = self.byte()? as usize;
                let argument = self.bytes(length)?;
                self.byte()?;
                self.push(PatternToken::Verb(name, Some(argument)));
            }
            _ => return None,
        }
        Some(())
    }

    fn open_group(&mut self, group: GroupKind, start: usize) -> Option<()> {
        self.number()?;
        let mut number = 0;
        if group == GroupKind::Capture {
            number = self.number()?;
            self.groups.push((start, number));
        }
        self.open.push(self.program.tokens.len());
        self.push(PatternToken::Open(group, number));
        Some(())
    }

    fn property(&mut self, not: bool) -> Option<Item<'a>> {
        Some(Item::Property { not, kind: self.byte()?, value: self.byte()? })
    }

    fn repeated_type(&mut self) -> Option<Item<'a>> {
        let opcode = self.byte().filter(|o| opcodes::TYPES.contains(o))?;
        match opcodes::shape(opcode)? {
            Shape::Simple(text) => Some(Item::Simple(text)),
            Shape::Property { not } => self.property(not),
            _ => None,
        }
    }

    /// A literal: a byte, or in UTF mode a code point.
    fn character(&mut self) -> Option<u32> {
        let (c, length) = match self.utf {
            true => code_point(self.code.get(self.at..)?)?,
            false => (*self.code.get(self.at)? as u32, 1),
        };
        self.at += length;
        Some(c)
    }

    fn bounds(&mut self, repeat: Repeat) -> Option<Bounds> {
        let (min, max, mode) = match repeat {
            Repeat::Once => return Some(ONCE),
            Repeat::Fixed(min, max, mode) => (min, max, mode),
            Repeat::UpTo(mode) => (0, Some(self.number()?), mode),
            Repeat::Exactly => {
                let n = self.number()?;
                (n, Some(n), Mode::Greedy)
            }
            Repeat::Range(mode) => {
                let min = self.number()?;
                (min, Some(self.number()?).filter(|max| *max != 0), mode)
            }
        };
        Some(Bounds { min, max, mode })
    }

    /// An item behind which a repeat may follow.
    fn with_suffix(&mut self, item: Item<'a>) -> Option<()> {
        let mut bounds = ONCE;
        if let Some(repeat) = self.code.get(self.at).and_then(|o| opcodes::suffix(*o)) {
            self.at += 1;
            bounds = self.bounds(repeat)?;
        }
        self.push(PatternToken::Item(item, bounds));
        Some(())
    }

    fn resolve_recursions(&mut self) -> Option<()> {
        for (token, target) in &self.recursions {
            let number = match target {
                0 => 0,
                _ => {
                    let i = self.groups.binary_search_by_key(target, |(start, _)| *start).ok()?;
                    self.groups[i].1
                }
            };
            self.program.tokens[*token] = PatternToken::Item(Item::Recurse(number), ONCE);
        }
        Some(())
    }
}

/// The first code point of UTF-8 text, and its length.
pub fn code_point(text: &[u8]) -> Option<(u32, usize)> {
    let length = match text.first()? {
        0..=0x7f => 1,
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        _ => 4,
    };
    let c = std::str::from_utf8(text.get(..length)?).ok()?.chars().next()?;
    Some((c as u32, length))
}
