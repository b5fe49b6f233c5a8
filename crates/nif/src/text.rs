//! Formatted text: C's `printf` directives, and `%T` for a term.

use std::ffi::{c_char, c_double, c_int, c_long, c_void};

use kvik_term::Term;

use crate::pointers::{from_c, CStrPtr, OutBuffer};

/// The System V `va_list`: offsets into the save area of the registers, then the stack.
#[repr(C)]
pub struct Arguments {
    general: u32,
    floating: u32,
    stack: *const u64,
    saved: *const u8,
}

impl Arguments {
    /// # Safety
    /// There is one more argument, which is an integer or a pointer.
    unsafe fn word(&mut self) -> u64 {
        // SAFETY: as the caller says; the layout is the calling convention's.
        unsafe {
            if self.general < 48 {
                let at = self.saved.add(self.general as usize).cast::<u64>();
                self.general += 8;
                return at.read();
            }
            self.stacked()
        }
    }
    /// # Safety
    /// There is one more argument, which is a double.
    unsafe fn float(&mut self) -> f64 {
        // SAFETY: as above.
        unsafe {
            if self.floating < 176 {
                let at = self.saved.add(self.floating as usize).cast::<f64>();
                self.floating += 16;
                return at.read();
            }
            f64::from_bits(self.stacked())
        }
    }
    /// # Safety
    /// There is one more argument, which is a term.
    unsafe fn term<'a>(&mut self) -> Term<'a> {
        // SAFETY: as the caller says.
        unsafe { from_c(self.word()) }
    }
    /// # Safety
    /// There is one more argument on the stack.
    unsafe fn stacked(&mut self) -> u64 {
        // SAFETY: as the caller says.
        unsafe {
            let w = self.stack.read();
            self.stack = self.stack.add(1);
            w
        }
    }
}

/// A conversion directive: its text up to the letter, and the length of its argument.
struct Directive {
    text: Vec<u8>,
    long: bool,
    letter: u8,
}

/// Reads a directive behind its `%`; `*` takes an argument.
///
/// # Safety
/// The arguments match the format.
unsafe fn directive(rest: &mut &[u8], args: &mut Arguments) -> Directive {
    let mut d = Directive { text: vec![b'%'], long: false, letter: 0 };
    while let Some((c, tail)) = rest.split_first() {
        *rest = tail;
        match *c {
            b'*' => {
                // SAFETY: as the caller says.
                let n = unsafe { args.word() } as c_int;
                d.text.extend_from_slice(n.to_string().as_bytes());
            }
            b'l' | b'z' | b'j' | b't' | b'q' => d.long = true,
            b'h' => d.text.push(*c),
            b'0'..=b'9' | b'.' | b'-' | b'+' | b' ' | b'#' | b'\'' => d.text.push(*c),
            letter => {
                d.letter = letter;
                break;
            }
        }
    }
    d
}

/// Pads to the width of a directive, on the right if it begins with `-`.
fn padded(directive: &[u8], text: Vec<u8>) -> Vec<u8> {
    let digits = directive.iter().skip_while(|c| !matches!(c, b'1'..=b'9'));
    let digits = digits.take_while(|c| c.is_ascii_digit());
    let width = digits.fold(0usize, |n, c| n.saturating_mul(10).saturating_add((c - b'0').into()));
    let spaces = vec![b' '; width.saturating_sub(text.len())];
    match directive.contains(&b'-') {
        true => [text, spaces].concat(),
        false => [spaces, text].concat(),
    }
}

/// Formats one argument with the C library's function.
fn with_c(size: usize, print: impl Fn(*mut c_char, usize) -> c_int) -> Vec<u8> {
    let mut out = vec![0u8; size];
    let n = print(out.as_mut_ptr().cast(), out.len()).max(0) as usize;
    if n >= out.len() {
        out = vec![0u8; n + 1];
        print(out.as_mut_ptr().cast(), out.len());
    }
    out.truncate(n);
    out
}

/// # Safety
/// The arguments match the format.
unsafe fn formatted(format: &[u8], args: &mut Arguments) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = format;
    while let Some((c, tail)) = rest.split_first() {
        rest = tail;
        if *c != b'%' {
            out.push(*c);
            continue;
        }
        // SAFETY: as the caller says; each piece is a format of one argument of its kind.
        unsafe {
            let mut d = directive(&mut rest, args);
            match d.letter {
                b'%' => out.push(b'%'),
                b'T' => out.extend(padded(&d.text, kvik_term::print::display(args.term()))),
                b'p' => out.extend(format!("{:#018x}", args.word()).bytes()),
                b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => {
                    let f: c_double = args.float();
                    d.text.extend([d.letter, 0]);
                    let text = d.text.as_ptr().cast();
                    out.extend(with_c(64, |to, n| libc::snprintf(to, n, text, f)));
                }
                b's' | b'c' | b'd' | b'i' | b'u' | b'x' | b'X' | b'o' => {
                    let mut w = args.word();
                    let signed = matches!(d.letter, b'd' | b'i');
                    let number = signed || matches!(d.letter, b'u' | b'x' | b'X' | b'o');
                    if number && !d.long {
                        w = if signed { w as i32 as i64 as u64 } else { w as u32 as u64 };
                    }
                    if number && !d.text.contains(&b'h') {
                        d.text.push(b'l');
                    }
                    d.text.extend([d.letter, 0]);
                    let text = d.text.as_ptr().cast();
                    out.extend(with_c(64, |to, n| libc::snprintf(to, n, text, w as c_long)));
                }
                _ => out.extend(d.text),
            }
        }
    }
    out
}

/// Like `vsnprintf`: writes what fits, returns the untruncated length.
///
/// # Safety
/// The buffer has `size` bytes, and the arguments match the format.
#[no_mangle]
pub unsafe extern "C" fn enif_vsnprintf(
    mut to: OutBuffer,
    size: usize,
    format: CStrPtr,
    args: &mut Arguments,
) -> c_int {
    // SAFETY: as the caller says.
    unsafe {
        let text = formatted(format.bytes(), args);
        to.put_string(&text, size);
        text.len() as c_int
    }
}
/// Like `vfprintf`.
///
/// # Safety
/// The file is open, and the arguments match the format.
#[no_mangle]
pub unsafe extern "C" fn enif_vfprintf(
    file: *mut c_void,
    format: CStrPtr,
    args: &mut Arguments,
) -> c_int {
    // SAFETY: as the caller says.
    unsafe {
        let text = formatted(format.bytes(), args);
        libc::fwrite(text.as_ptr().cast(), 1, text.len(), file.cast()) as c_int
    }
}
