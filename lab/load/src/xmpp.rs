//! A client of XMPP: users who register, log in and send each other short messages.
//!
//! A request is a message to a partner, and its answer the partner's message in return, so that the
//! server delivers two messages for each.

use super::load::{Answered, ClientSession};
use super::wire::Wire;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

const BODY: &str = "A short message, as they are in a chat, goes there and comes back.";
const MESSAGE: &[u8] = b"<message";
const MESSAGE_END: &[u8] = b"</message>";
const HEADER: &str = "<?xml version='1.0'?><stream:stream to='localhost' version='1.0' \
                      xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>";
/// A server that says so much in a handshake says something else.
const LONGEST_ANSWER: usize = 64 << 10;

/// Number of the next user: names are not used twice.
static USERS: AtomicUsize = AtomicUsize::new(1);

/// Whoever answers messages with messages; the other one of a pair asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Asks,
    Answers,
}

pub struct XmppUser {
    part: Part,
    message: Vec<u8>,
}

impl XmppUser {
    /// A user who writes to itself.
    pub fn alone(wire: &mut Wire) -> Result<XmppUser, String> {
        let name = new_name();
        log_in(wire, &name)?;
        Ok(XmppUser { part: Part::Asks, message: message_to(&name) })
    }

    /// Two users: the first asks, the second answers.
    pub fn pair(wires: [&mut Wire; 2]) -> Result<[XmppUser; 2], String> {
        let names = [new_name(), new_name()];
        for (wire, name) in wires.into_iter().zip(&names) {
            log_in(wire, name)?;
        }
        let [first, second] = names.each_ref().map(|name| message_to(name));
        Ok([
            XmppUser { part: Part::Asks, message: second },
            XmppUser { part: Part::Answers, message: first },
        ])
    }
}

fn new_name() -> String {
    format!("user{}", USERS.fetch_add(1, Relaxed))
}

fn message_to(name: &str) -> Vec<u8> {
    format!("<message to='{name}@localhost/lab' type='chat' id='m1'><body>{BODY}</body></message>")
        .into_bytes()
}

/// Registers a user, who then logs in and is available.
fn log_in(wire: &mut Wire, name: &str) -> Result<(), String> {
    let secret = base64(format!("\0{name}\0secret").as_bytes());
    let steps = [
        (HEADER.to_owned(), "</stream:features>"),
        (
            format!(
                "<iq type='set' id='register'><query xmlns='jabber:iq:register'>\
                 <username>{name}</username><password>secret</password></query></iq>"
            ),
            "type='result'",
        ),
        (
            format!(
                "<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>{secret}</auth>"
            ),
            "<success",
        ),
        (HEADER.to_owned(), "</stream:features>"),
        (
            "<iq type='set' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>\
             <resource>lab</resource></bind></iq>"
                .to_owned(),
            "</iq>",
        ),
        ("<presence/>".to_owned(), "<presence"),
    ];
    steps.iter().try_for_each(|(say, answer)| step(wire, say, answer))
}

/// Says something and reads up to the end of the tag in which the answer is.
fn step(wire: &mut Wire, say: &str, answer: &str) -> Result<(), String> {
    wire.write_all(say.as_bytes()).map_err(|e| e.to_string())?;
    let mut said = String::new();
    // Byte by byte: what follows belongs to the next step, or to the session.
    while !(said.ends_with('>') && said.contains(answer)) {
        let mut byte = [0];
        wire.read_exact(&mut byte).map_err(|e| format!("{e} after {said}"))?;
        said.push(char::from(byte[0]));
        let refused =
            ["type='error'", "<failure", "<stream:error"].iter().any(|no| said.ends_with(no));
        if refused || said.len() > LONGEST_ANSWER {
            return Err(format!("XMPP: {answer} expected: {said}"));
        }
    }
    Ok(())
}

/// As in RFC 4648.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |part: &[u8]| -> [char; 4] {
        let bits = part.iter().fold(0, |bits, byte| bits << 8 | usize::from(*byte));
        let bits = bits << (8 * (3 - part.len()));
        std::array::from_fn(|i| match i <= part.len() {
            true => char::from(DIGITS[bits >> (18 - 6 * i) & 63]),
            false => '=',
        })
    };
    bytes.chunks(3).flat_map(group).collect()
}

fn find(input: &[u8], what: &[u8]) -> Option<usize> {
    input.windows(what.len()).position(|at| at == what)
}

impl ClientSession for XmppUser {
    fn request(&mut self, output: &mut Vec<u8>) {
        output.extend_from_slice(&self.message);
    }

    fn receive(
        &mut self,
        input: &[u8],
        answers: &mut Vec<Answered>,
        output: &mut Vec<u8>,
    ) -> Result<usize, String> {
        let mut used = 0;
        while let Some(length) = find(&input[used..], MESSAGE_END) {
            // Presence and the like may come before a message.
            let stanza = &input[used..used + length];
            let message = find(stanza, MESSAGE).map(|at| &stanza[at..]).unwrap_or_default();
            let error = find(message, b"type='error'").is_some();
            if error || find(message, BODY.as_bytes()).is_none() {
                let said = String::from_utf8_lossy(stanza);
                return Err(format!("XMPP: another message: {said}"));
            }
            match self.part {
                Part::Asks => answers.push(Answered::Oldest),
                Part::Answers => self.request(output),
            }
            used += length + MESSAGE_END.len();
        }
        Ok(used)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_rfc() {
        let known =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (text, code) in known {
            assert_eq!(base64(text.as_bytes()), code);
        }
    }

    fn received(part: Part, input: &str) -> (Result<usize, String>, usize, Vec<u8>) {
        let mut user = XmppUser { part, message: b"return".to_vec() };
        let (mut answers, mut output) = (Vec::new(), Vec::new());
        let used = user.receive(input.as_bytes(), &mut answers, &mut output);
        (used, answers.len(), output)
    }

    #[test]
    fn whole_messages_are_answers() {
        let message = format!("<message from='a@b'><body>{BODY}</body></message>");
        let two = format!("<presence from='a@b'/>{message}{message}<mess");
        let (used, answers, output) = received(Part::Asks, &two);
        assert_eq!((used, answers, output.len()), (Ok(two.len() - 5), 2, 0));
        let (used, answers, output) = received(Part::Answers, &two);
        assert_eq!((used, answers, output), (Ok(two.len() - 5), 0, b"returnreturn".to_vec()));
    }

    #[test]
    fn errors_and_other_messages_are_faults() {
        let error = format!("<message type='error'><body>{BODY}</body></message>");
        assert!(received(Part::Asks, &error).0.is_err());
        assert!(received(Part::Asks, "<message><body>other</body></message>").0.is_err());
    }
}
