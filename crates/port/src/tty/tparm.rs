//! Expands the parameters of a terminal's strings, as in terminfo(5): `%` drives a stack machine.

/// Variables of a string, for later parts of it.
const VARIABLES: usize = 52;
/// Number of parameters that `%p` can name.
pub const PARAMETERS: usize = 9;

struct Machine<'a> {
    rest: &'a [u8],
    params: [i64; PARAMETERS],
    variables: [i64; VARIABLES],
    stack: Vec<i64>,
    out: Vec<u8>,
}

/// Expands the parameters in a string.
pub fn tparm(text: &[u8], params: [i64; PARAMETERS]) -> Vec<u8> {
    let (stack, out) = (Vec::new(), Vec::new());
    let mut m = Machine { rest: text, params, variables: [0; VARIABLES], stack, out };
    while let Some(b) = m.next() {
        match b {
            b'%' => m.operation(),
            _ => m.out.push(b),
        }
    }
    m.out
}

fn variable(name: u8) -> Option<usize> {
    match name {
        b'a'..=b'z' => Some(usize::from(name - b'a')),
        b'A'..=b'Z' => Some(usize::from(name - b'A') + 26),
        _ => None,
    }
}

impl Machine<'_> {
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }
    fn pop(&mut self) -> i64 {
        self.stack.pop().unwrap_or(0)
    }

    fn operation(&mut self) {
        let Some(op) = self.next() else { return };
        match op {
            b'%' => self.out.push(b'%'),
            b'c' => {
                let byte = self.pop() as u8;
                self.out.push(byte)
            }
            b'p' => {
                let which = self.next().unwrap_or(b'1');
                let at = usize::from(which.wrapping_sub(b'1'));
                self.stack.push(self.params.get(at).copied().unwrap_or(0))
            }
            b'P' => {
                let value = self.pop();
                let at = self.next().and_then(variable);
                if let Some(slot) = at.and_then(|at| self.variables.get_mut(at)) {
                    *slot = value
                }
            }
            b'g' => {
                let at = self.next().and_then(variable);
                self.stack.push(at.and_then(|at| self.variables.get(at)).copied().unwrap_or(0))
            }
            b'\'' => {
                let byte = self.next().unwrap_or(0);
                self.next();
                self.stack.push(i64::from(byte))
            }
            b'{' => self.constant(),
            b'i' => {
                let [a, b, ..] = &mut self.params;
                (*a, *b) = (a.wrapping_add(1), b.wrapping_add(1))
            }
            b'l' => {
                let length = self.pop().to_string().len();
                self.stack.push(length as i64)
            }
            b'!' | b'~' => {
                let a = self.pop();
                self.stack.push(if op == b'!' { i64::from(a == 0) } else { !a })
            }
            b't' => {
                if self.pop() == 0 {
                    self.skip(true)
                }
            }
            b'e' => self.skip(false),
            b'?' | b';' => {}
            b'+' | b'-' | b'*' | b'/' | b'm' | b'&' | b'|' | b'^' | b'=' | b'>' | b'<' | b'A'
            | b'O' => self.binary(op),
            _ => self.number(op),
        }
    }

    fn constant(&mut self) {
        let mut n: i64 = 0;
        while let Some(digit @ b'0'..=b'9') = self.next() {
            n = n.wrapping_mul(10).wrapping_add(i64::from(digit - b'0'));
        }
        self.stack.push(n)
    }

    fn binary(&mut self, op: u8) {
        let (b, a) = (self.pop(), self.pop());
        let truth = i64::from;
        self.stack.push(match op {
            b'+' => a.wrapping_add(b),
            b'-' => a.wrapping_sub(b),
            b'*' => a.wrapping_mul(b),
            b'/' => a.checked_div(b).unwrap_or(0),
            b'm' => a.checked_rem(b).unwrap_or(0),
            b'&' => a & b,
            b'|' => a | b,
            b'^' => a ^ b,
            b'=' => truth(a == b),
            b'>' => truth(a > b),
            b'<' => truth(a < b),
            b'A' => truth(a != 0 && b != 0),
            _ => truth(a != 0 || b != 0),
        })
    }

    /// `%d`, `%3d`, `%02x` and the like: flags, a width, and the base.
    fn number(&mut self, first: u8) {
        let mut op = first;
        let (mut zeros, mut left, mut width) = (false, false, 0usize);
        loop {
            match op {
                b':' | b'#' | b' ' => {}
                b'-' => left = true,
                b'0' if width == 0 => zeros = true,
                b'0'..=b'9' => width = (width * 10 + usize::from(op - b'0')).min(255),
                _ => break,
            }
            match self.next() {
                Some(next) => op = next,
                None => return,
            }
        }
        let n = self.pop();
        let text = match op {
            b'd' => n.to_string(),
            b'o' => format!("{n:o}"),
            b'x' => format!("{n:x}"),
            b'X' => format!("{n:X}"),
            // String parameters are not supported.
            _ => return,
        };
        let text = match (left, zeros) {
            (true, _) => format!("{text:<width$}"),
            (false, true) => format!("{text:0>width$}"),
            (false, false) => format!("{text:>width$}"),
        };
        self.out.extend(text.bytes())
    }

    /// Skips past the `%;` of the current `%?` or, if `to_else`, past its `%e`.
    fn skip(&mut self, to_else: bool) {
        let mut depth = 0;
        while let Some(b) = self.next() {
            if b != b'%' {
                continue;
            }
            match self.next() {
                Some(b'?') => depth += 1,
                Some(b';') if depth == 0 => return,
                Some(b';') => depth -= 1,
                Some(b'e') if depth == 0 && to_else => return,
                Some(b'\'') => {
                    self.next();
                    self.next();
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &[u8], params: &[i64]) -> String {
        let mut all = [0; PARAMETERS];
        all[..params.len()].copy_from_slice(params);
        String::from_utf8(tparm(text, all)).unwrap()
    }

    #[test]
    fn strings_of_xterm() {
        assert_eq!(with(b"\x1b[%i%p1%d;%p2%dH", &[4, 9]), "\x1b[5;10H");
        assert_eq!(with(b"\x1b[%p1%dC", &[3]), "\x1b[3C");
        let setaf = b"\x1b[%?%p1%{8}%<%t3%p1%d%e%p1%{16}%<%t9%p1%{8}%-%d%e38;5;%p1%d%;m";
        assert_eq!(
            [1, 9, 200].map(|n| with(setaf, &[n])),
            ["\x1b[31m", "\x1b[91m", "\x1b[38;5;200m"]
        );
        assert_eq!(with(b"%p1%3d|%p1%:-3d|%p1%03d|%p1%x", &[10]), " 10|10 |010|a");
    }

    #[test]
    fn conditions_variables_and_nonsense() {
        assert_eq!(with(b"%?%p1%t%?%p2%tx%ey%;%ez%;.", &[1, 0]), "y.");
        assert_eq!(with(b"%?%p1%t%?%p2%tx%ey%;%ez%;.", &[0, 1]), "z.");
        assert_eq!(with(b"%{7}%Pa%ga%ga%*%d%%", &[]), "49%");
        assert_eq!(with(b"%'a'%c%p1%{0}%/%d", &[5]), "a0");
        assert_eq!(with(b"%", &[]), "");
        assert_eq!(with(b"%p", &[]), "");
        assert_eq!(with(b"a%{", &[]), "a");
    }
}
