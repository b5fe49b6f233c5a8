//! Output for the user who started the program. If nobody reads it any more (`kvik --version | head
//! -1`), it is discarded, while `println!` would panic.

/// `println!` without the panic.
#[macro_export]
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write;
        let _ = writeln!(std::io::stdout(), $($text)*);
    }};
}

/// `eprintln!` without the panic.
#[macro_export]
macro_rules! complain {
    ($($text:tt)*) => {{
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), $($text)*);
    }};
}

/// Prints to standard error as OTP's emulator does: lines end in `\r\n`, for a terminal in raw mode.
pub fn complain_as_emulator(text: &[u8]) {
    use std::io::Write;
    let mut bytes = Vec::with_capacity(text.len() + 2);
    for b in text {
        bytes.extend_from_slice(if *b == b'\n' { b"\r\n" } else { std::slice::from_ref(b) });
    }
    let _ = std::io::stderr().write_all(&bytes);
}
