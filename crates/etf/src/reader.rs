//! A cursor over bytes that somebody else wrote.

use crate::Error;

pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    pos: usize,
}

impl<'a> Reader<'a> {
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, pos: 0 }
    }
    /// From a position on, which is among the bytes or at their end.
    pub fn at(bytes: &'a [u8], pos: usize) -> Option<Reader<'a>> {
        (pos <= bytes.len()).then_some(Reader { bytes, pos })
    }
    #[inline]
    pub fn pos(&self) -> usize {
        self.pos
    }
    #[inline]
    pub fn left(&self) -> usize {
        self.bytes.len() - self.pos
    }
    #[inline]
    pub fn take(&mut self, n: usize) -> Result<&'a [u8], Error> {
        if n > self.left() {
            return Err(Error::Malformed);
        }
        let b = &self.bytes[self.pos..self.pos + n];
        self.pos += n;
        Ok(b)
    }
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        self.take(N)?.try_into().map_err(|_| Error::Malformed)
    }
    #[inline]
    pub fn u8(&mut self) -> Result<u8, Error> {
        Ok(self.array::<1>()?[0])
    }
    #[inline]
    pub fn u16(&mut self) -> Result<u16, Error> {
        Ok(u16::from_be_bytes(self.array()?))
    }
    #[inline]
    pub fn u32(&mut self) -> Result<u32, Error> {
        Ok(u32::from_be_bytes(self.array()?))
    }
    #[inline]
    pub fn u64(&mut self) -> Result<u64, Error> {
        Ok(u64::from_be_bytes(self.array()?))
    }
    /// A count of things that take at least `each` bytes each.
    #[inline]
    pub fn count(&mut self, each: usize) -> Result<usize, Error> {
        let n = self.u32()? as usize;
        if n.checked_mul(each).is_none_or(|b| b > self.left()) {
            return Err(Error::Malformed);
        }
        Ok(n)
    }
}
