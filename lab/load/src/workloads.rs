//! The workloads: which server, what its clients do, and how many there are.

use super::amqp::{Consumer, Publisher, Queue};
use super::http::HttpClient;
use super::load::{ClientSession, Load, Role};
use super::start::ServerKind;
use super::websocket::WebSocket;
use super::wire::Wire;
use super::xmpp::XmppUser;

pub struct Workload {
    pub name: &'static str,
    pub server: ServerKind,
    pub client: Client,
    /// Each is measured on its own.
    pub connections: &'static [usize],
    /// Requests that a connection has under way when the server is saturated, and up to which it
    /// sends ahead of answers at a fixed rate.
    pub depth: [usize; 2],
    /// Connections that are opened to see what an idle one takes, in quick mode and in full.
    pub idle: [usize; 2],
}

/// What a connection does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// Asks for a path, and takes no less than so many bytes.
    Http {
        path: &'static str,
        least: usize,
    },
    /// The same in TLS.
    Https {
        path: &'static str,
        least: usize,
    },
    WebSocket {
        path: &'static str,
    },
    /// Connects, makes a full handshake, and ends.
    Handshake,
    /// The server makes its load itself.
    Itself,
    /// Publishes with confirms; one more connection consumes.
    Amqp(Queue),
    /// Users in pairs: a message to the other one, which answers it with one.
    Xmpp,
}

const PLAIN: Client = Client::Http { path: "/plain", least: 13 };
const JSON: Client = Client::Http { path: "/json", least: 9000 };
const ECHO: Client = Client::WebSocket { path: "/ws" };

const fn web(name: &'static str, server: ServerKind, client: Client) -> Workload {
    Workload { name, server, client, connections: &[64, 1000], depth: [1, 1], idle: [500, 1000] }
}

const fn rabbit(name: &'static str, kind: &'static str, durable: bool) -> Workload {
    Workload {
        name,
        server: ServerKind::RabbitMq,
        client: Client::Amqp(Queue { name: "lab", kind, durable }),
        connections: &[8],
        depth: [50, 1000],
        idle: [50, 200],
    }
}

const fn ejabberd(name: &'static str) -> Workload {
    let (server, client) = (ServerKind::Ejabberd, Client::Xmpp);
    Workload { name, server, client, connections: &[250], depth: [1, 1], idle: [50, 500] }
}

const fn itself(name: &'static str, server: ServerKind) -> Workload {
    let idle = [0, 0];
    Workload { name, server, client: Client::Itself, connections: &[], depth: [0, 0], idle }
}

pub const WORKLOADS: &[Workload] = &[
    web("http/plain", ServerKind::Cowboy, PLAIN),
    web("http/json", ServerKind::Cowboy, JSON),
    web("http/websocket", ServerKind::Cowboy, ECHO),
    web("https/plain", ServerKind::CowboyTls, Client::Https { path: "/plain", least: 13 }),
    web("https/json", ServerKind::CowboyTls, Client::Https { path: "/json", least: 9000 }),
    Workload {
        connections: &[1, 4, 64],
        idle: [0, 0],
        ..web("tls/handshake", ServerKind::CowboyTls, Client::Handshake)
    },
    web("inets/plain", ServerKind::Inets, PLAIN),
    web("inets/json", ServerKind::Inets, JSON),
    web("bandit/plain", ServerKind::Bandit, PLAIN),
    web("bandit/json", ServerKind::Bandit, JSON),
    web("bandit/websocket", ServerKind::Bandit, ECHO),
    web("phoenix/plain", ServerKind::Phoenix, PLAIN),
    web("phoenix/json", ServerKind::Phoenix, JSON),
    rabbit("amqp/transient", "classic", false),
    rabbit("amqp/durable", "classic", true),
    rabbit("amqp/quorum", "quorum", true),
    rabbit("amqp/stream", "stream", true),
    ejabberd("xmpp/chat"),
    itself("nodes", ServerKind::Nodes),
    itself("mnesia", ServerKind::Mnesia),
];

pub fn find(name: &str) -> Option<&'static Workload> {
    WORKLOADS.iter().find(|workload| workload.name == name)
}

impl Client {
    /// A connection whose handshake is done.
    pub fn open(self, port: u16) -> Result<(Wire, Box<dyn ClientSession>), String> {
        let connected = match self {
            Client::Https { .. } | Client::Handshake => Wire::connect_tls(port),
            _ => Wire::connect(port),
        };
        let mut wire = connected.map_err(|e| format!("connect: {e}"))?;
        match self {
            Client::Http { path, least } | Client::Https { path, least } => {
                Ok((wire, Box::new(HttpClient::get(path, least))))
            }
            // Its handshake is all it does.
            Client::Handshake | Client::Itself => {
                Ok((wire, Box::new(HttpClient::get("/plain", 0))))
            }
            Client::WebSocket { path } => {
                let socket = WebSocket::open(&mut wire, path)?;
                Ok((wire, Box::new(socket)))
            }
            Client::Amqp(queue) => {
                let publisher = Publisher::open(&mut wire, queue)?;
                Ok((wire, Box::new(publisher)))
            }
            Client::Xmpp => {
                let user = XmppUser::alone(&mut wire)?;
                Ok((wire, Box::new(user)))
            }
        }
    }

    /// Adds the connections of a workload: as many that ask, and what listens beside them.
    pub fn crowd(self, load: &mut Load, port: u16, count: usize) -> Result<(), String> {
        if self == Client::Xmpp {
            return (0..count).try_for_each(|_| pair(load, port));
        }
        self.populate(load, port, count)?;
        if let Client::Amqp(queue) = self {
            let mut wire = Wire::connect(port).map_err(|e| format!("connect: {e}"))?;
            let consumer = Consumer::open(&mut wire, queue)?;
            load.add(wire, Box::new(consumer), Role::Listens)?;
        }
        Ok(())
    }

    /// Adds as many connections that ask.
    pub fn populate(self, load: &mut Load, port: u16, count: usize) -> Result<(), String> {
        for _ in 0..count {
            let (wire, session) = self.open(port)?;
            load.add(wire, session, Role::Asks)?;
        }
        Ok(())
    }

    /// One request, answered: false as long as the server takes no connections.
    pub fn ask_once(self, port: u16) -> Result<bool, String> {
        let Ok((wire, session)) = self.open(port) else { return Ok(false) };
        let mut load = Load::new()?;
        load.add(wire, session, Role::Asks)?;
        load.greet().map(|()| true)
    }
}

/// Two users who write to each other.
fn pair(load: &mut Load, port: u16) -> Result<(), String> {
    let connect = || Wire::connect(port).map_err(|e| format!("connect: {e}"));
    let (mut one, mut other) = (connect()?, connect()?);
    let [asks, answers] = XmppUser::pair([&mut one, &mut other])?;
    load.add(one, Box::new(asks), Role::Asks)?;
    load.add(other, Box::new(answers), Role::Listens)
}
