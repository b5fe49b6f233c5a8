//! A client of AMQP 0-9-1: publishers with confirms, and a consumer.

use super::load::{Answered, ClientSession};
use super::wire::Wire;
use std::io::{Read, Write};

/// A kind of queue, as a publisher declares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queue {
    pub name: &'static str,
    /// `x-queue-type`.
    pub kind: &'static str,
    pub durable: bool,
}

/// Class and method of what a client says and hears.
mod method {
    pub const START: [u16; 2] = [10, 10];
    pub const START_OK: [u16; 2] = [10, 11];
    pub const TUNE: [u16; 2] = [10, 30];
    pub const TUNE_OK: [u16; 2] = [10, 31];
    pub const OPEN: [u16; 2] = [10, 40];
    pub const OPEN_OK: [u16; 2] = [10, 41];
    pub const CHANNEL_OPEN: [u16; 2] = [20, 10];
    pub const CHANNEL_OPEN_OK: [u16; 2] = [20, 11];
    pub const DECLARE: [u16; 2] = [50, 10];
    pub const DECLARE_OK: [u16; 2] = [50, 11];
    pub const QOS: [u16; 2] = [60, 10];
    pub const QOS_OK: [u16; 2] = [60, 11];
    pub const CONSUME: [u16; 2] = [60, 20];
    pub const CONSUME_OK: [u16; 2] = [60, 21];
    pub const PUBLISH: [u16; 2] = [60, 40];
    pub const DELIVER: [u16; 2] = [60, 60];
    pub const ACK: [u16; 2] = [60, 80];
    pub const SELECT: [u16; 2] = [85, 10];
    pub const SELECT_OK: [u16; 2] = [85, 11];
}

const METHOD: u8 = 1;
const HEADER: u8 = 2;
const BODY: u8 = 3;
const END: u8 = 0xCE;
/// Bytes of a frame beside its content.
const AROUND: usize = 8;
const MAX_FRAME: u32 = 131_072;
/// Messages that a consumer is sent before it acknowledges.
const PREFETCH: u16 = 1000;
/// How many messages a consumer acknowledges at once.
const ACK_EVERY: u64 = 100;
/// Bytes of a message.
const SIZE: usize = 1024;

/// A frame's content.
#[derive(Default)]
struct Content(Vec<u8>);

impl Content {
    fn method(method: [u16; 2]) -> Content {
        Content::default().u16(method[0]).u16(method[1])
    }
    fn bytes(mut self, bytes: &[u8]) -> Content {
        self.0.extend_from_slice(bytes);
        self
    }
    fn u8(self, n: u8) -> Content {
        self.bytes(&[n])
    }
    fn u16(self, n: u16) -> Content {
        self.bytes(&n.to_be_bytes())
    }
    fn u32(self, n: u32) -> Content {
        self.bytes(&n.to_be_bytes())
    }
    fn u64(self, n: u64) -> Content {
        self.bytes(&n.to_be_bytes())
    }
    fn short(self, text: &str) -> Content {
        self.u8(text.len() as u8).bytes(text.as_bytes())
    }
    fn long(self, text: &str) -> Content {
        self.u32(text.len() as u32).bytes(text.as_bytes())
    }
    /// A table of strings.
    fn table(self, pairs: &[(&str, &str)]) -> Content {
        let field = |t: Content, (name, value): &(&str, &str)| t.short(name).u8(b'S').long(value);
        let fields = pairs.iter().fold(Content::default(), field).0;
        self.u32(fields.len() as u32).bytes(&fields)
    }
    fn frame(&self, kind: u8, channel: u16, output: &mut Vec<u8>) {
        output.push(kind);
        output.extend_from_slice(&channel.to_be_bytes());
        output.extend_from_slice(&(self.0.len() as u32).to_be_bytes());
        output.extend_from_slice(&self.0);
        output.push(END);
    }
}

/// A frame that has arrived.
#[derive(Debug, PartialEq)]
struct Frame<'a> {
    kind: u8,
    content: &'a [u8],
}

impl<'a> Frame<'a> {
    fn parse(input: &'a [u8]) -> Result<Option<Frame<'a>>, String> {
        let Some((head, rest)) = input.split_first_chunk::<7>() else { return Ok(None) };
        let size = u32::from_be_bytes([head[3], head[4], head[5], head[6]]);
        if size > MAX_FRAME || !matches!(head[0], 1..=3 | 8) {
            return Err(format!("not a frame: {head:?}"));
        }
        let Some(content) = rest.get(..size as usize) else { return Ok(None) };
        match rest.get(size as usize) {
            None => Ok(None),
            Some(&END) => Ok(Some(Frame { kind: head[0], content })),
            Some(_) => Err("a frame without its end".to_owned()),
        }
    }
    fn size(&self) -> usize {
        self.content.len() + AROUND
    }
    /// Class and method, and the arguments.
    fn method(&self) -> Option<([u16; 2], &'a [u8])> {
        let (head, rest) = self.content.split_first_chunk::<4>()?;
        let number = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
        (self.kind == METHOD).then(|| ([number(0), number(2)], rest))
    }
}

/// What an unexpected method says: that of `close` has a text.
fn complaint(method: [u16; 2], arguments: &[u8]) -> String {
    let text = |a: &[u8]| {
        let (length, rest) = a.get(2..)?.split_first()?;
        Some(String::from_utf8_lossy(rest.get(..usize::from(*length))?).into_owned())
    };
    let closes = matches!(method, [10, 50] | [20, 40]);
    let why = closes.then(|| text(arguments)).flatten().unwrap_or_default();
    format!("the broker said {method:?} {why}")
}

/// A connection in its handshake.
struct Handshake<'a>(&'a mut Wire);

impl Handshake<'_> {
    fn say(&mut self, channel: u16, content: &Content) -> Result<(), String> {
        let mut output = Vec::new();
        content.frame(METHOD, channel, &mut output);
        self.0.write_all(&output).map_err(|e| e.to_string())
    }
    /// Reads one frame, and no byte more.
    fn expect(&mut self, method: [u16; 2]) -> Result<(), String> {
        let mut frame = vec![0; 7];
        self.0.read_exact(&mut frame).map_err(|e| e.to_string())?;
        let size = u32::from_be_bytes([frame[3], frame[4], frame[5], frame[6]]).min(MAX_FRAME);
        frame.resize(AROUND + size as usize, 0);
        self.0.read_exact(&mut frame[7..]).map_err(|e| e.to_string())?;
        let parsed = Frame::parse(&frame)?.ok_or("half a frame")?;
        match parsed.method() {
            Some((said, _)) if said == method => Ok(()),
            Some((said, arguments)) => Err(complaint(said, arguments)),
            None => Err("the broker sent no method".to_owned()),
        }
    }
    fn ask(&mut self, channel: u16, content: &Content, answer: [u16; 2]) -> Result<(), String> {
        self.say(channel, content)?;
        self.expect(answer)
    }
    /// Logs in and opens a channel.
    fn open(&mut self) -> Result<(), String> {
        self.0.write_all(b"AMQP\0\0\x09\x01").map_err(|e| e.to_string())?;
        self.expect(method::START)?;
        let login = Content::method(method::START_OK).table(&[]).short("PLAIN");
        self.ask(0, &login.long("\0guest\0guest").short("en_US"), method::TUNE)?;
        self.say(0, &Content::method(method::TUNE_OK).u16(100).u32(MAX_FRAME).u16(0))?;
        self.ask(0, &Content::method(method::OPEN).short("/").short("").u8(0), method::OPEN_OK)?;
        let channel = Content::method(method::CHANNEL_OPEN).short("");
        self.ask(1, &channel, method::CHANNEL_OPEN_OK)
    }
}

/// Publishes messages of 1 KB.
pub struct Publisher {
    /// Method, header and body of a message.
    message: Vec<u8>,
}

impl Publisher {
    /// Logs in, declares the queue, and asks for confirms.
    pub fn open(wire: &mut Wire, queue: Queue) -> Result<Publisher, String> {
        let mut handshake = Handshake(wire);
        handshake.open()?;
        let flags = if queue.durable { 2 } else { 0 };
        let declare = Content::method(method::DECLARE).u16(0).short(queue.name).u8(flags);
        handshake.ask(1, &declare.table(&[("x-queue-type", queue.kind)]), method::DECLARE_OK)?;
        handshake.ask(1, &Content::method(method::SELECT).u8(0), method::SELECT_OK)?;
        Ok(Publisher::of(queue))
    }

    fn of(queue: Queue) -> Publisher {
        let mut message = Vec::new();
        let publish = Content::method(method::PUBLISH).u16(0).short("").short(queue.name).u8(0);
        publish.frame(METHOD, 1, &mut message);
        // Class, weight, size, which properties there are (the delivery mode), and it.
        let header = Content::default().u16(60).u16(0).u64(SIZE as u64).u16(0x1000);
        header.u8(if queue.durable { 2 } else { 1 }).frame(HEADER, 1, &mut message);
        Content(vec![b'x'; SIZE]).frame(BODY, 1, &mut message);
        Publisher { message }
    }
}

impl ClientSession for Publisher {
    fn request(&mut self, output: &mut Vec<u8>) {
        output.extend_from_slice(&self.message);
    }

    fn receive(
        &mut self,
        input: &[u8],
        answers: &mut Vec<Answered>,
        _: &mut Vec<u8>,
    ) -> Result<usize, String> {
        let mut used = 0;
        while let Some(frame) = Frame::parse(&input[used..])? {
            used += frame.size();
            match frame.method() {
                Some((method::ACK, [number @ .., multiple])) if number.len() == 8 => {
                    let number = number.iter().fold(0, |n, byte| n << 8 | u64::from(*byte));
                    let all = multiple & 1 == 1;
                    answers.push(if all {
                        Answered::UpTo(number)
                    } else {
                        Answered::Number(number)
                    });
                }
                Some((other, arguments)) => return Err(complaint(other, arguments)),
                None => return Err("the broker sent a message to a publisher".to_owned()),
            }
        }
        Ok(used)
    }
}

/// Takes the messages of a queue, and acknowledges them.
pub struct Consumer {
    delivered: u64,
}

impl Consumer {
    pub fn open(wire: &mut Wire, queue: Queue) -> Result<Consumer, String> {
        let mut handshake = Handshake(wire);
        handshake.open()?;
        let qos = Content::method(method::QOS).u32(0).u16(PREFETCH).u8(0);
        handshake.ask(1, &qos, method::QOS_OK)?;
        let offset = if queue.kind == "stream" { &[("x-stream-offset", "next")][..] } else { &[] };
        let consume = Content::method(method::CONSUME).u16(0).short(queue.name).short("lab").u8(0);
        handshake.ask(1, &consume.table(offset), method::CONSUME_OK)?;
        Ok(Consumer { delivered: 0 })
    }
}

impl ClientSession for Consumer {
    fn request(&mut self, _: &mut Vec<u8>) {}

    fn receive(
        &mut self,
        input: &[u8],
        _: &mut Vec<Answered>,
        output: &mut Vec<u8>,
    ) -> Result<usize, String> {
        let mut used = 0;
        while let Some(frame) = Frame::parse(&input[used..])? {
            used += frame.size();
            match frame.method() {
                Some((method::DELIVER, _)) => {
                    self.delivered += 1;
                    if self.delivered.is_multiple_of(ACK_EVERY) {
                        let ack = Content::method(method::ACK).u64(self.delivered).u8(1);
                        ack.frame(METHOD, 1, output);
                    }
                }
                Some((other, arguments)) => return Err(complaint(other, arguments)),
                // A header or a body.
                None => {}
            }
        }
        Ok(used)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUEUE: Queue = Queue { name: "q", kind: "classic", durable: true };

    #[test]
    fn frames_are_as_the_protocol_has_them() {
        let mut output = Vec::new();
        Content::method(method::SELECT).u8(0).frame(METHOD, 1, &mut output);
        assert_eq!(output, [1, 0, 1, 0, 0, 0, 5, 0, 85, 0, 10, 0, 0xCE]);
        let table = Content::default().table(&[("a", "bc")]);
        assert_eq!(table.0, [0, 0, 0, 9, 1, b'a', b'S', 0, 0, 0, 2, b'b', b'c']);
    }

    #[test]
    fn a_message_has_three_frames() {
        let message = Publisher::of(QUEUE).message;
        let (mut kinds, mut at) = (Vec::new(), 0);
        while let Some(frame) = Frame::parse(&message[at..]).unwrap() {
            kinds.push((frame.kind, frame.content.to_vec()));
            at += frame.size();
        }
        assert_eq!(at, message.len());
        assert_eq!(kinds[0], (METHOD, vec![0, 60, 0, 40, 0, 0, 0, 1, b'q', 0]));
        assert_eq!(kinds[1].1, [0, 60, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0x10, 0, 2]);
        assert_eq!((kinds[2].0, kinds[2].1.len()), (BODY, SIZE));
    }

    #[test]
    fn confirms_are_answers() {
        let mut input = Vec::new();
        Content::method(method::ACK).u64(7).u8(0).frame(METHOD, 1, &mut input);
        Content::method(method::ACK).u64(300).u8(1).frame(METHOD, 1, &mut input);
        let whole = input.len();
        input.extend_from_slice(&[1, 0]);
        let mut answers = Vec::new();
        let used = Publisher::of(QUEUE).receive(&input, &mut answers, &mut Vec::new());
        assert_eq!(used, Ok(whole));
        assert_eq!(answers, [Answered::Number(7), Answered::UpTo(300)]);
    }

    #[test]
    fn a_consumer_acknowledges_now_and_then() {
        let mut input = Vec::new();
        let deliver = Content::method(method::DELIVER).short("lab").u64(1).u8(0).short("");
        deliver.short("q").frame(METHOD, 1, &mut input);
        Content(vec![0; 14]).frame(HEADER, 1, &mut input);
        Content(vec![0; 9]).frame(BODY, 1, &mut input);
        let (mut consumer, mut output) = (Consumer { delivered: 0 }, Vec::new());
        for _ in 0..ACK_EVERY {
            assert!(output.is_empty());
            let used = consumer.receive(&input, &mut Vec::new(), &mut output);
            assert_eq!(used, Ok(input.len()));
        }
        let mut ack = Vec::new();
        Content::method(method::ACK).u64(ACK_EVERY).u8(1).frame(METHOD, 1, &mut ack);
        assert_eq!(output, ack);
    }

    #[test]
    fn a_broker_that_closes_says_why() {
        let mut input = Vec::new();
        let close = Content::method([20, 40]).u16(404).short("NOT_FOUND").u16(60).u16(40);
        close.frame(METHOD, 1, &mut input);
        let fault = Publisher::of(QUEUE).receive(&input, &mut Vec::new(), &mut Vec::new());
        assert!(fault.is_err_and(|why| why.contains("NOT_FOUND")));
        assert!(Frame::parse(b"HTTP/1.1 200").is_err());
        assert!(Frame::parse(&[1, 0, 1, 0, 0, 0, 1, 0, 0]).is_err());
    }
}
