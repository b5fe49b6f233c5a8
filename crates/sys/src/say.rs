//! Text for who started the program. Where nobody reads it any more (`kvik --version | head -1`) it is
//! lost, while `println!` would panic.

/// `println!`, but for that.
#[macro_export]
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write;
        let _ = writeln!(std::io::stdout(), $($text)*);
    }};
}

/// `eprintln!`, but for that.
#[macro_export]
macro_rules! complain {
    ($($text:tt)*) => {{
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), $($text)*);
    }};
}
