//! Entries as bytes: numbers of four bytes, lists with their length in front.

#[derive(Default)]
pub struct EntryWriter {
    pub bytes: Vec<u8>,
}

impl EntryWriter {
    pub fn number(&mut self, n: u32) {
        self.bytes.extend(n.to_le_bytes());
    }
    pub fn blob(&mut self, bytes: &[u8]) -> Option<()> {
        self.number(u32::try_from(bytes.len()).ok()?);
        self.bytes.extend(bytes);
        Some(())
    }
    /// A list whose elements are some numbers each.
    pub fn list<const N: usize>(
        &mut self,
        elements: impl ExactSizeIterator<Item = Option<[u32; N]>>,
    ) -> Option<()> {
        self.number(u32::try_from(elements.len()).ok()?);
        for element in elements {
            element?.into_iter().for_each(|n| self.number(n));
        }
        Some(())
    }
}

/// `None` where the bytes are not as written.
pub struct EntryReader<'e> {
    left: &'e [u8],
}

impl<'e> EntryReader<'e> {
    pub fn new(bytes: &'e [u8]) -> EntryReader<'e> {
        EntryReader { left: bytes }
    }
    pub fn number(&mut self) -> Option<u32> {
        let (n, left) = self.left.split_first_chunk()?;
        self.left = left;
        Some(u32::from_le_bytes(*n))
    }
    pub fn blob(&mut self) -> Option<&'e [u8]> {
        let n = self.number()? as usize;
        self.bytes(n)
    }
    pub fn bytes(&mut self, n: usize) -> Option<&'e [u8]> {
        let (bytes, left) = self.left.split_at_checked(n)?;
        self.left = left;
        Some(bytes)
    }
    pub fn list<const N: usize>(&mut self) -> Option<impl ExactSizeIterator<Item = [u32; N]> + 'e> {
        let n = self.number()? as usize;
        let (numbers, _) = self.bytes(n.checked_mul(4 * N)?)?.as_chunks::<4>();
        Some(numbers.chunks_exact(N).map(|element| {
            let mut all = [0; N];
            all.iter_mut().zip(element).for_each(|(to, n)| *to = u32::from_le_bytes(*n));
            all
        }))
    }
    pub fn is_at_end(&self) -> bool {
        self.left.is_empty()
    }
}

/// Writes four bytes of code.
pub fn put(code: &mut [u8], at: u32, n: u32) -> Option<()> {
    *code.get_mut(at as usize..)?.first_chunk_mut()? = n.to_le_bytes();
    Some(())
}
