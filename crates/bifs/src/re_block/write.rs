//! From tokens to a pattern.

use kvik_sys::pcre::opt;

use super::class::{self, Style};
use super::fold::fold;
use super::opcodes::{ConditionKind, GroupKind, Literal, Mode};
use super::parse::{Bounds, Item, PatternToken, PatternTokens, ANY_RECURSION};
use super::{property, Header, Name, DEPTH_LIMIT_SET, HAS_CR_OR_LF, MATCH_LIMIT_SET};

/// Most groups within each other; PCRE 8 allowed fewer.
const MAX_NESTING: usize = 1000;

/// What `(?i)` and `(?m)` set. A group's settings end with it, but last from one alternative to the
/// next.
#[derive(Copy, Clone, PartialEq)]
struct Settings {
    caseless: bool,
    multiline: bool,
}

/// A group that is not yet closed.
struct Frame {
    settings: Settings,
    bounds: Bounds,
    next: usize,
    reset: Option<Reset>,
}
/// Of a group whose alternatives number their groups anew: the number before the group, and the
/// highest in an alternative.
struct Reset {
    before: u16,
    highest: u16,
}

struct Writer<'a> {
    out: Vec<u8>,
    names: &'a [Name<'a>],
    /// Which entries of the name table the pattern has so far.
    named: Vec<bool>,
    style: Style,
    settings: Settings,
    frames: Vec<Frame>,
    /// How many groups there are, and the number of the last one.
    groups: u16,
    last_group: u16,
    names_newline: bool,
}

pub fn pattern(
    p: &mut PatternTokens<'_>,
    header: &Header,
    names: &[Name<'_>],
    options: u32,
) -> Option<Vec<u8>> {
    let may_name_newlines = header.flags & HAS_CR_OR_LF != 0;
    let mut w = Writer {
        out: Vec::new(),
        names,
        named: vec![false; names.len()],
        style: Style { utf: options & opt::UTF != 0, may_name_newlines },
        settings: Settings {
            caseless: options & opt::CASELESS != 0,
            multiline: options & opt::MULTILINE != 0,
        },
        frames: Vec::new(),
        groups: header.groups,
        last_group: 0,
        names_newline: false,
    };
    for (flag, name, value) in [
        (MATCH_LIMIT_SET, "MATCH", header.match_limit),
        (DEPTH_LIMIT_SET, "DEPTH", header.depth_limit),
    ] {
        if header.flags & flag != 0 {
            w.text(&format!("(*LIMIT_{name}={value})"));
        }
    }
    let twice = names.windows(2).any(|w| w[0].text == w[1].text);
    if twice && options & opt::DUPNAMES == 0 {
        w.text("(?J)");
    }
    let mut at = 0;
    while at < p.tokens.len() {
        at = w.token(p, at)?;
    }
    if may_name_newlines && !w.names_newline {
        w.text(r"\n{0}");
    }
    let complete = w.frames.is_empty() && w.last_group == header.groups;
    (complete && w.named.iter().all(|n| *n)).then_some(w.out)
}

impl Writer<'_> {
    fn text(&mut self, s: &str) {
        self.out.extend_from_slice(s.as_bytes());
    }

    /// Writes a token; the next one.
    fn token(&mut self, p: &mut PatternTokens<'_>, at: usize) -> Option<usize> {
        match &p.tokens[at] {
            PatternToken::Open(..) | PatternToken::Optional(_) => return self.open(p, at),
            PatternToken::Close(_) => return self.close(),
            PatternToken::Alternative => self.alternative(),
            PatternToken::Condition(kind, value) => self.condition(*kind, *value)?,
            PatternToken::Item(item, bounds) => {
                self.item(item)?;
                self.repeat(*bounds);
            }
            PatternToken::Verb(name, None) => self.text(&format!("(*{name})")),
            PatternToken::Verb(name, Some(argument)) => {
                if argument.is_empty() || argument.contains(&b')') {
                    return None;
                }
                self.text(&format!("(*{name}:"));
                self.out.extend_from_slice(argument);
                self.text(")");
            }
        }
        Some(at + 1)
    }

    fn open(&mut self, p: &mut PatternTokens<'_>, at: usize) -> Option<usize> {
        let folded = fold(p, at)?;
        let PatternToken::Open(group, number) = p.tokens[folded.group] else { return None };
        if self.frames.len() >= MAX_NESTING {
            return None;
        }
        let resets = group == GroupKind::Plain && numbers_anew(p, folded.group);
        let before = self.last_group;
        self.frames.push(Frame {
            settings: self.settings,
            bounds: folded.bounds,
            next: folded.next,
            reset: resets.then_some(Reset { before, highest: before }),
        });
        match group {
            GroupKind::Plain if resets => self.text("(?|"),
            GroupKind::Plain => self.text("(?:"),
            GroupKind::Capture => self.capture(number)?,
            GroupKind::Atomic => self.text("(?>"),
            GroupKind::Ahead => self.text("(?="),
            GroupKind::NotAhead => self.text("(?!"),
            GroupKind::Behind => self.text("(?<="),
            GroupKind::NotBehind => self.text("(?<!"),
            GroupKind::Conditional => self.text("(?"),
        }
        let first = folded.group + 1;
        if group != GroupKind::Conditional {
            return Some(first);
        }
        match p.tokens.get(first)? {
            PatternToken::Condition(..) => Some(first),
            PatternToken::Open(g, _) => g.is_assertion().then_some(first),
            PatternToken::Verb("FAIL", None) => {
                self.text("(?!)");
                Some(first + 1)
            }
            _ => None,
        }
    }

    /// Groups are numbered in the order in which they begin.
    fn capture(&mut self, number: u16) -> Option<()> {
        self.last_group = self.last_group.checked_add(1).filter(|n| *n == number)?;
        self.text("(");
        if let Some(slot) = self.names.iter().position(|n| n.group == number) {
            // Entries of the same name are in the order in which the pattern names their groups.
            let previous = slot.checked_sub(1).filter(|i| self.same_name(*i, slot));
            if previous.is_none_or(|i| self.named[i]) {
                self.named[slot] = true;
                self.text("?<");
                self.name(slot as u16)?;
                self.text(">");
            }
        }
        Some(())
    }
    fn same_name(&self, a: usize, b: usize) -> bool {
        self.names[a].text == self.names[b].text
    }

    fn close(&mut self) -> Option<usize> {
        let f = self.frames.pop()?;
        if let Some(r) = f.reset {
            self.last_group = self.last_group.max(r.highest);
        }
        self.settings = f.settings;
        self.text(")");
        self.repeat(f.bounds);
        Some(f.next)
    }

    fn alternative(&mut self) {
        if let Some(r) = self.frames.last_mut().and_then(|f| f.reset.as_mut()) {
            r.highest = r.highest.max(self.last_group);
            self.last_group = r.before;
        }
        self.text("|");
    }

    fn name(&mut self, slot: u16) -> Option<()> {
        self.out.extend_from_slice(self.names.get(slot as usize)?.text);
        Some(())
    }

    fn condition(&mut self, kind: ConditionKind, value: u16) -> Option<()> {
        match (kind, value) {
            // A group that there is not is never entered.
            (ConditionKind::Recursion, n) if n != ANY_RECURSION && n > self.groups => {
                self.text("(?!");
            }
            (ConditionKind::Group, n) => self.text(&format!("({n}")),
            (ConditionKind::Recursion, ANY_RECURSION) => self.text("(R"),
            (ConditionKind::Recursion, n) => self.text(&format!("(R{n}")),
            (ConditionKind::Define, _) => self.text("(DEFINE"),
            (ConditionKind::Name, slot) => {
                self.text("(<");
                self.name(slot)?;
                self.text(">");
            }
            (ConditionKind::NamedRecursion, slot) => {
                self.text("(R&");
                self.name(slot)?;
            }
        }
        self.text(")");
        Some(())
    }

    fn caseless(&mut self, on: bool) {
        if self.settings.caseless != on {
            self.text(if on { "(?i)" } else { "(?-i)" });
            self.settings.caseless = on;
        }
    }
    fn multiline(&mut self, on: bool) {
        if self.settings.multiline != on {
            self.text(if on { "(?m)" } else { "(?-m)" });
            self.settings.multiline = on;
        }
    }

    fn item(&mut self, item: &Item<'_>) -> Option<()> {
        match item {
            Item::Simple(text) => self.text(text),
            Item::Caret { multiline } => {
                self.multiline(*multiline);
                self.text("^");
            }
            Item::Dollar { multiline } => {
                self.multiline(*multiline);
                self.text("$");
            }
            Item::Char(literal, c) => self.literal(*literal, *c),
            Item::Property { not, kind, value } => match property::caseless_set(*kind, *value) {
                Some(c) => self.literal(Literal { not: *not, caseless: true }, c),
                None => {
                    self.caseless(false);
                    self.text(&property::item(*not, *kind, *value)?);
                }
            },
            Item::Class(class) => {
                self.caseless(false);
                self.text(&class::text(class, self.style)?);
            }
            Item::Reference { caseless, group } => {
                self.caseless(*caseless);
                self.text(&format!(r"\g{{{group}}}"));
            }
            Item::NamedReference { caseless, slot } => {
                self.caseless(*caseless);
                self.text(r"\k{");
                self.name(*slot)?;
                self.text("}");
            }
            // PCRE 8 does not backtrack into a recursion.
            Item::Recurse(group) => self.text(&format!("(?>(?{group}))")),
        }
        Some(())
    }

    fn literal(&mut self, literal: Literal, c: u32) {
        let has_case = c > 0x7f || (c as u8).is_ascii_alphabetic();
        if has_case {
            self.caseless(literal.caseless);
        }
        self.names_newline |= c == 10 || c == 13;
        let mut s = String::new();
        class::character(&mut s, c);
        match literal.not {
            true => self.text(&format!("[^{s}]")),
            false => self.text(&s),
        }
    }

    fn repeat(&mut self, b: Bounds) {
        let mode = match b.mode {
            Mode::Greedy => "",
            Mode::Lazy => "?",
            Mode::Possessive => "+",
        };
        match (b.min, b.max) {
            (1, Some(1)) => return,
            (0, Some(1)) => self.text("?"),
            (0, None) => self.text("*"),
            (1, None) => self.text("+"),
            (n, None) => self.text(&format!("{{{n},}}")),
            (n, Some(m)) if n == m => return self.text(&format!("{{{n}}}")),
            (n, Some(m)) => self.text(&format!("{{{n},{m}}}")),
        }
        self.text(mode);
    }
}

/// Whether each alternative of a group numbers its groups from the same number on, as in `(?|a|b)`.
fn numbers_anew(p: &PatternTokens<'_>, group: usize) -> bool {
    let Some((_, end)) = p.group(group) else { return false };
    let (mut depth, mut before, mut highest) = (0, 0, 0);
    for t in &p.tokens[group + 1..end] {
        match t {
            PatternToken::Open(g, number) => {
                depth += 1;
                if *g == GroupKind::Capture {
                    if *number <= before {
                        return true;
                    }
                    highest = highest.max(*number);
                }
            }
            PatternToken::Close(_) => depth -= 1,
            PatternToken::Alternative if depth == 0 => before = highest,
            _ => {}
        }
    }
    false
}
