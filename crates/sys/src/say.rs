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

/// Prints to standard error, each line ended as OTP's emulator ends it: by `\r\n`.
pub fn complain_as_emulator(text: &str) {
    use std::io::Write;
    let _ = std::io::stderr().write_all(format!("{text}\n").replace('\n', "\r\n").as_bytes());
}
