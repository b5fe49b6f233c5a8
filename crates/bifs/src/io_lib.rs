//! `io_lib`: searching the end of a line in a binary. Replaces the library function, which goes
//! byte by byte.

use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, Term};

pub const BIFS: &[BifEntry] = &[bif!("io_lib", "collect_line_bin", 4, collect_line_bin_4)];

/// Bytes searched per reduction.
const BYTES: usize = 1024;

/// Concatenates the binaries of a stack (last one first) and `last`.
fn put_together<'h>(p: &'h Proc, stack: Term<'h>, last: &[u8]) -> BifResult<'h> {
    let pieces = stack.list_to_vec().ok_or_else(|| p.badarg())?;
    let bytes = pieces.iter().rev().map(|t| match t.as_bits() {
        Some(b) if b.is_binary() => Ok(b.to_bytes()),
        _ => Err(p.badarg()),
    });
    let bytes = bytes.collect::<Result<Vec<_>, _>>()?;
    let size = bytes.iter().map(|b| b.len()).sum::<usize>() + last.len();
    Ok(p.heap.gathered(size, |g| {
        bytes.iter().for_each(|b| g.push(b));
        g.push(last);
    }))
}

/// `collect_line_bin(Data, Data, Stack, Encoding)`: `{stop, Line, Rest}`, or the stack with the
/// data that has no line end yet. CR LF counts as LF, even if split between two binaries.
fn collect_line_bin_4<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (data, stack, h) = (a[1], a[2], &p.heap);
    let Some(bits) = data.as_bits().filter(|b| b.is_binary()) else {
        return Err(p.error(am::function_clause));
    };
    let bytes = bits.to_bytes();
    let part = |from: usize, to: usize| h.sub_binary(data, from * 8, (to - from) * 8);
    let Some(at) = memchr::memchr(b'\n', &bytes) else {
        h.bump_reductions((bytes.len() / BYTES) as i64);
        return match (bytes.strip_suffix(b"\r"), part(0, bytes.len().saturating_sub(1))) {
            (Some(_), Some(before)) => Ok(h.list_with_tail(&[h.binary(b"\r"), before], stack)),
            _ => Ok(h.cons(data, stack)),
        };
    };
    h.bump_reductions((at / BYTES) as i64);
    let cut = |rest: Term<'h>| rest.as_cons().filter(|c| is_cr(c.head())).map(|c| c.tail());
    let line = match (bytes[..at].strip_suffix(b"\r"), cut(stack)) {
        (Some(line), _) => put_together(p, stack, &[line, b"\n"].concat())?,
        (None, Some(before)) if at == 0 => put_together(p, before, b"\n")?,
        _ if stack.is_nil() => part(0, at + 1).unwrap_or(data),
        _ => put_together(p, stack, &bytes[..at + 1])?,
    };
    let rest = part(at + 1, bytes.len()).unwrap_or(Term::NIL);
    Ok(h.tuple(&[am::stop.into(), line, rest]))
}

fn is_cr(t: Term<'_>) -> bool {
    t.as_bits().and_then(|b| b.as_bytes()) == Some(b"\r")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line and the rest, or the pieces kept on the stack.
    fn collect(data: &[u8], stack: &[&[u8]]) -> Vec<Vec<u8>> {
        let p = Proc::new(1, 1000);
        let kept: Vec<_> = stack.iter().map(|b| p.heap.binary(b)).collect();
        let (data, kept) = (p.heap.binary(data), p.heap.list(&kept));
        let r = collect_line_bin_4(&p, &[data, data, kept, am::latin1.into()]).unwrap();
        let terms = match r.as_tuple_n() {
            Some([_, line, rest]) => vec![line, rest],
            None => r.list_to_vec().unwrap(),
        };
        terms.iter().map(|t| t.as_bytes().unwrap().to_vec()).collect()
    }

    #[test]
    fn lines_end_in_lf_or_cr_lf() {
        assert_eq!(collect(b"ab\ncd", &[]), [b"ab\n".to_vec(), b"cd".to_vec()]);
        assert_eq!(collect(b"ab\r\n", &[b"2", b"1"]), [b"12ab\n".to_vec(), b"".to_vec()]);
        assert_eq!(collect(b"b\n", &[b"\r", b"1"]), [b"1\rb\n".to_vec(), b"".to_vec()]);
        assert_eq!(collect(b"\nx", &[b"\r", b"1"]), [b"1\n".to_vec(), b"x".to_vec()]);
        assert_eq!(collect(b"\n", &[]), [b"\n".to_vec(), b"".to_vec()]);
        assert_eq!(collect(b"abc", &[b"1"]), [b"abc".to_vec(), b"1".to_vec()]);
        assert_eq!(collect(b"abc\r", &[b"1"]), [&b"\r"[..], b"abc", b"1"].map(<[u8]>::to_vec));
        assert_eq!(collect(b"\r", &[]), [&b"\r"[..], b""].map(<[u8]>::to_vec));
        assert_eq!(collect(b"", &[]), [b"".to_vec()]);
    }
}
