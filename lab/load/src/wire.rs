//! A connection to a server, plain or in TLS.

use super::tls;
use rustls::{ClientConnection, StreamOwned};
use std::io::{Error, Read, Result, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;

/// How long a handshake may take.
const PATIENCE: Duration = Duration::from_secs(30);

pub enum Wire {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Wire {
    /// Connects to a server on this machine. It blocks, up to a limit, until `unblock`.
    pub fn connect(port: u16) -> Result<Wire> {
        let tcp = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        tcp.set_nodelay(true)?;
        tcp.set_read_timeout(Some(PATIENCE))?;
        Ok(Wire::Plain(tcp))
    }

    /// The same with a full handshake of TLS.
    pub fn connect_tls(port: u16) -> Result<Wire> {
        let Wire::Plain(mut tcp) = Wire::connect(port)? else { unreachable!("a plain connection") };
        let mut session = tls::session().map_err(Error::other)?;
        session.complete_io(&mut tcp)?;
        Ok(Wire::Tls(Box::new(StreamOwned::new(session, tcp))))
    }

    fn socket(&self) -> &TcpStream {
        match self {
            Wire::Plain(tcp) => tcp,
            Wire::Tls(stream) => stream.get_ref(),
        }
    }

    pub fn unblock(&self) -> std::result::Result<(), String> {
        self.socket().set_nonblocking(true).map_err(|e| e.to_string())
    }

    pub fn descriptor(&self) -> RawFd {
        self.socket().as_raw_fd()
    }

    /// Whether a read that does not fill the buffer has emptied the socket: TLS may hold a record.
    pub fn is_plain(&self) -> bool {
        matches!(self, Wire::Plain(_))
    }

    /// Whether TLS has taken something that the socket has not.
    pub fn holds_back(&self) -> bool {
        matches!(self, Wire::Tls(stream) if stream.conn.wants_write())
    }
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        match self {
            Wire::Plain(tcp) => tcp.read(buffer),
            Wire::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        match self {
            Wire::Plain(tcp) => tcp.write(bytes),
            Wire::Tls(stream) => stream.write(bytes),
        }
    }
    fn flush(&mut self) -> Result<()> {
        match self {
            Wire::Plain(tcp) => tcp.flush(),
            Wire::Tls(stream) => stream.flush(),
        }
    }
}
