//! A socket's counters.

use kvik_heap::Heap;
use kvik_term::Term;

use crate::answer::record;

/// Counters of `sendfile`, allocated at its first use.
#[derive(Default)]
pub struct FileCounters {
    pub calls: u64,
    pub bytes: u64,
    pub fails: u64,
    pub max: u64,
    pub packets: u64,
    pub packet_max: u64,
    pub tries: u64,
    pub waits: u64,
    /// Bytes sent so far by the current call.
    pub so_far: u64,
}

/// A socket's counters.
#[derive(Default)]
pub struct SocketCounters {
    read_bytes: u64,
    pub read_fails: u64,
    read_packets: u64,
    read_packet_max: u64,
    pub read_tries: u64,
    write_bytes: u64,
    pub write_fails: u64,
    write_packets: u64,
    write_packet_max: u64,
    pub write_tries: u64,
    pub write_waits: u64,
    pub accept_success: u64,
    pub accept_fails: u64,
    pub accept_tries: u64,
    pub accept_waits: u64,
    /// Bytes so far of the current packet.
    read_so_far: u64,
    written_so_far: u64,
    file: Option<Box<FileCounters>>,
}
impl SocketCounters {
    pub fn wrote_all(&mut self, n: usize) {
        self.write_packets += 1;
        self.write_bytes += n as u64;
        let packet = std::mem::take(&mut self.written_so_far) + n as u64;
        self.write_packet_max = self.write_packet_max.max(packet);
    }
    pub fn wrote_part(&mut self, n: usize) {
        self.written_so_far += n as u64;
    }
    pub fn read_part(&mut self, n: usize) {
        self.read_bytes += n as u64;
        self.read_so_far += n as u64;
    }
    pub fn read_part_of_call(&mut self, n: usize) {
        self.read_bytes += n as u64;
    }
    pub fn read_packet(&mut self) {
        self.read_packets += 1;
        self.read_packet_so_far();
    }
    /// The bytes read so far count as a packet's size.
    pub fn read_packet_so_far(&mut self) {
        let packet = std::mem::take(&mut self.read_so_far);
        self.read_packet_max = self.read_packet_max.max(packet);
    }
    /// Counts a message, without regard to the largest packet.
    pub fn read_whole(&mut self, n: usize) {
        self.read_packets += 1;
        self.read_bytes += n as u64;
    }
    /// Counts a message.
    pub fn read_message(&mut self, n: usize) {
        self.read_whole(n);
        self.read_packet_max = self.read_packet_max.max(n as u64);
    }
    pub fn file(&mut self) -> &mut FileCounters {
        self.file.get_or_insert_default()
    }
    pub fn term<'h>(&self, h: &'h Heap) -> Term<'h> {
        let mut all = vec![
            ("read_byte", self.read_bytes),
            ("read_fails", self.read_fails),
            ("read_pkg", self.read_packets),
            ("read_pkg_max", self.read_packet_max),
            ("read_tries", self.read_tries),
            // Always 0, as in OTP.
            ("read_waits", 0),
            ("write_byte", self.write_bytes),
            ("write_fails", self.write_fails),
            ("write_pkg", self.write_packets),
            ("write_pkg_max", self.write_packet_max),
            ("write_tries", self.write_tries),
            ("write_waits", self.write_waits),
            ("acc_success", self.accept_success),
            ("acc_fails", self.accept_fails),
            ("acc_tries", self.accept_tries),
            ("acc_waits", self.accept_waits),
        ];
        if let Some(f) = &self.file {
            all.extend([
                ("sendfile", f.calls),
                ("sendfile_byte", f.bytes),
                ("sendfile_fails", f.fails),
                ("sendfile_max", f.max),
                ("sendfile_pkg", f.packets),
                ("sendfile_pkg_max", f.packet_max),
                ("sendfile_tries", f.tries),
                ("sendfile_waits", f.waits),
            ]);
        }
        let fields: Vec<_> = all.into_iter().map(|(name, n)| (name, h.unsigned(n))).collect();
        record(h, &fields)
    }
}
