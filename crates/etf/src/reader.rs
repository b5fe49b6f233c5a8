//! A cursor over untrusted bytes.

use crate::EtfError;

pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    pos: usize,
}

impl<'a> Reader<'a> {
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, pos: 0 }
    }
    /// A cursor at `pos`; `None` beyond the end.
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
    pub fn take(&mut self, n: usize) -> Result<&'a [u8], EtfError> {
        if n > self.left() {
            return Err(EtfError::Malformed);
        }
        let b = &self.bytes[self.pos..self.pos + n];
        self.pos += n;
        Ok(b)
    }
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], EtfError> {
        self.take(N)?.try_into().map_err(|_| EtfError::Malformed)
    }
    #[inline]
    pub fn u8(&mut self) -> Result<u8, EtfError> {
        Ok(self.array::<1>()?[0])
    }
    #[inline]
    pub fn u16(&mut self) -> Result<u16, EtfError> {
        Ok(u16::from_be_bytes(self.array()?))
    }
    #[inline]
    pub fn u32(&mut self) -> Result<u32, EtfError> {
        Ok(u32::from_be_bytes(self.array()?))
    }
    #[inline]
    pub fn u64(&mut self) -> Result<u64, EtfError> {
        Ok(u64::from_be_bytes(self.array()?))
    }
    /// Reads a count of items that take at least `each` bytes each, so it is bounded by the input.
    #[inline]
    pub fn count(&mut self, each: usize) -> Result<usize, EtfError> {
        let n = self.u32()? as usize;
        if n.checked_mul(each).is_none_or(|b| b > self.left()) {
            return Err(EtfError::Malformed);
        }
        Ok(n)
    }
}
