//! The options of each level, with the types of their values. One that can neither be set nor read
//! is a name that `socket` knows and this system, or OTP, does not support.

use kvik_release::SocketNatives::{self, V2, V3};

use crate::option_value::OptionValue::{self, *};
use crate::sctp_value;

pub struct Opt {
    pub name: &'static str,
    pub number: i32,
    pub set: Option<OptionValue>,
    pub get: Option<OptionValue>,
    /// The natives that have it first, and those that have it no more.
    since: SocketNatives,
    until: Option<SocketNatives>,
}
const PLAIN: Opt =
    Opt { name: "", number: 0, set: None, get: None, since: SocketNatives::V1, until: None };
impl Opt {
    const fn since(self, since: SocketNatives) -> Opt {
        Opt { since, ..self }
    }
    const fn until(self, until: SocketNatives) -> Opt {
        Opt { until: Some(until), ..self }
    }
    fn is_of(&self, natives: SocketNatives) -> bool {
        self.since <= natives && self.until.is_none_or(|until| natives < until)
    }
    pub fn is_there(&self) -> bool {
        self.set.is_some() || self.get.is_some()
    }
}

const fn both(name: &'static str, number: i32, v: OptionValue) -> Opt {
    Opt { name, number, set: Some(v), get: Some(v), ..PLAIN }
}
const fn set(name: &'static str, number: i32, v: OptionValue) -> Opt {
    Opt { name, number, set: Some(v), ..PLAIN }
}
const fn get(name: &'static str, number: i32, v: OptionValue) -> Opt {
    Opt { name, number, get: Some(v), ..PLAIN }
}
const fn none(name: &'static str) -> Opt {
    Opt { name, ..PLAIN }
}

/// A level and its options.
pub struct OptionLevel {
    pub number: i32,
    pub name: &'static str,
    options: &'static [Opt],
}
const fn level(number: i32, name: &'static str, options: &'static [Opt]) -> OptionLevel {
    OptionLevel { number, name, options }
}
impl OptionLevel {
    pub fn options(&self, natives: SocketNatives) -> impl DoubleEndedIterator<Item = &'static Opt> {
        self.options.iter().filter(move |o| o.is_of(natives))
    }
}
/// In the order of their numbers.
pub const LEVELS: &[OptionLevel] = &[
    level(libc::IPPROTO_IP, "ip", IP),
    level(libc::SOL_SOCKET, "socket", SOCKET),
    level(libc::IPPROTO_TCP, "tcp", TCP),
    level(libc::IPPROTO_UDP, "udp", UDP),
    level(libc::IPPROTO_IPV6, "ipv6", IPV6),
    level(libc::IPPROTO_SCTP, "sctp", SCTP),
];
pub fn find(natives: SocketNatives, level: i32, number: i32) -> Option<&'static Opt> {
    let level = LEVELS.iter().find(|l| l.number == level)?;
    level.options(natives).find(|o| o.is_there() && o.number == number)
}

#[rustfmt::skip]
const SOCKET: &[Opt] = &[
    both("acceptconn", libc::SO_ACCEPTCONN, Bool),
    none("acceptfilter"),
    both("bindtodevice", libc::SO_BINDTODEVICE, Device),
    both("broadcast", libc::SO_BROADCAST, Bool),
    none("bsp_state").since(V2),
    none("busy_poll"),
    both("debug", libc::SO_DEBUG, Int),
    get("domain", libc::SO_DOMAIN, Domain),
    both("dontroute", libc::SO_DONTROUTE, Bool),
    none("error"),
    none("exclusiveaddruse").since(V2),
    both("keepalive", libc::SO_KEEPALIVE, Bool),
    both("linger", libc::SO_LINGER, Linger),
    none("mark"),
    none("maxdg").since(V2),
    none("max_msg_size").since(V2),
    both("oobinline", libc::SO_OOBINLINE, Bool),
    both("passcred", libc::SO_PASSCRED, Bool),
    both("peek_off", libc::SO_PEEK_OFF, Int),
    none("peercred"),
    both("priority", libc::SO_PRIORITY, Int),
    get("protocol", libc::SO_PROTOCOL, Protocol),
    both("rcvbuf", libc::SO_RCVBUF, Int),
    none("rcvbufforce"),
    both("rcvlowat", libc::SO_RCVLOWAT, Int),
    none("rcvtimeo"),
    both("reuseaddr", libc::SO_REUSEADDR, Bool),
    both("reuseport", libc::SO_REUSEPORT, Bool),
    none("rxq_ovfl"),
    none("setfib"),
    both("sndbuf", libc::SO_SNDBUF, Int),
    none("sndbufforce"),
    both("sndlowat", libc::SO_SNDLOWAT, Int),
    none("sndtimeo"),
    both("timestamp", libc::SO_TIMESTAMP, Bool),
    both("timestampns", libc::SO_TIMESTAMPNS, Bool).since(V3),
    get("type", libc::SO_TYPE, Type),
];

#[rustfmt::skip]
const IP: &[Opt] = &[
    set("add_membership", libc::IP_ADD_MEMBERSHIP, Membership),
    set("add_source_membership", libc::IP_ADD_SOURCE_MEMBERSHIP, SourceMembership),
    set("block_source", libc::IP_BLOCK_SOURCE, SourceMembership),
    none("dontfrag"),
    set("drop_membership", libc::IP_DROP_MEMBERSHIP, Membership),
    set("drop_source_membership", libc::IP_DROP_SOURCE_MEMBERSHIP, SourceMembership),
    both("freebind", libc::IP_FREEBIND, Bool),
    both("hdrincl", libc::IP_HDRINCL, Bool),
    both("minttl", libc::IP_MINTTL, Int),
    set("msfilter", libc::IP_MSFILTER, SourceFilter),
    get("mtu", libc::IP_MTU, Int),
    both("mtu_discover", libc::IP_MTU_DISCOVER, MtuDiscover),
    both("multicast_all", libc::IP_MULTICAST_ALL, Bool),
    both("multicast_if", libc::IP_MULTICAST_IF, Ipv4),
    both("multicast_loop", libc::IP_MULTICAST_LOOP, Bool),
    both("multicast_ttl", libc::IP_MULTICAST_TTL, Int),
    both("nodefrag", libc::IP_NODEFRAG, Bool),
    none("options"),
    both("pktinfo", libc::IP_PKTINFO, Bool),
    get("pktoptions", IP_PKTOPTIONS, ControlMessages),
    none("recvdstaddr"),
    both("recverr", libc::IP_RECVERR, Bool),
    none("recvif"),
    both("recvopts", libc::IP_RECVOPTS, Bool),
    both("recvorigdstaddr", libc::IP_RECVORIGDSTADDR, Bool),
    both("recvtos", libc::IP_RECVTOS, Bool),
    both("recvttl", libc::IP_RECVTTL, Bool),
    both("retopts", libc::IP_RETOPTS, Bool),
    both("router_alert", libc::IP_ROUTER_ALERT, Int),
    none("sendsrcaddr"),
    both("tos", libc::IP_TOS, Tos),
    both("transparent", libc::IP_TRANSPARENT, Bool),
    both("ttl", libc::IP_TTL, Int),
    set("unblock_source", libc::IP_UNBLOCK_SOURCE, SourceMembership),
];
const IP_PKTOPTIONS: i32 = 9;

#[rustfmt::skip]
const IPV6: &[Opt] = &[
    set("addrform", libc::IPV6_ADDRFORM, Domain),
    set("add_membership", libc::IPV6_ADD_MEMBERSHIP, Membership6),
    both("authhdr", libc::IPV6_AUTHHDR, Bool),
    none("auth_level"),
    none("checksum"),
    set("drop_membership", libc::IPV6_DROP_MEMBERSHIP, Membership6),
    both("dstopts", libc::IPV6_DSTOPTS, Bool),
    none("esp_network_level"),
    none("esp_trans_level"),
    none("faith"),
    both("flowinfo", libc::IPV6_FLOWINFO, Bool),
    both("hoplimit", libc::IPV6_HOPLIMIT, Bool),
    both("hopopts", libc::IPV6_HOPOPTS, Bool),
    none("ipcomp_level"),
    none("join_group"),
    none("leave_group"),
    both("mtu", libc::IPV6_MTU, Int),
    both("mtu_discover", libc::IPV6_MTU_DISCOVER, MtuDiscover),
    Opt { name: "multicast_hops", number: libc::IPV6_MULTICAST_HOPS, set: Some(Hops), get: Some(Int), ..PLAIN },
    both("multicast_if", libc::IPV6_MULTICAST_IF, Int),
    both("multicast_loop", libc::IPV6_MULTICAST_LOOP, Bool),
    none("portrange"),
    none("pktoptions"),
    both("recverr", libc::IPV6_RECVERR, Bool),
    both("recvhoplimit", libc::IPV6_RECVHOPLIMIT, Bool),
    both("recvpktinfo", libc::IPV6_RECVPKTINFO, Bool),
    both("recvtclass", libc::IPV6_RECVTCLASS, Bool),
    both("router_alert", libc::IPV6_ROUTER_ALERT, Int),
    both("rthdr", libc::IPV6_RTHDR, Bool),
    both("tclass", libc::IPV6_TCLASS, Int),
    Opt { name: "unicast_hops", number: libc::IPV6_UNICAST_HOPS, set: Some(Hops), get: Some(Int), ..PLAIN },
    none("use_min_mtu"),
    both("v6only", libc::IPV6_V6ONLY, Bool),
];

#[rustfmt::skip]
const SCTP: &[Opt] = &[
    none("adaption_layer").until(V3),
    both("adaptation_layer", 7, Structure(&sctp_value::ADAPTATION_LAYER)).since(V3),
    both("associnfo", 1, SctpAssociation).until(V3),
    both("associnfo", 1, Structure(&sctp_value::ASSOCIATION)).since(V3),
    none("auth_active_key"),
    none("auth_chunk"),
    none("auth_delete_key"),
    none("auth_key"),
    both("autoclose", 4, Int),
    none("context"),
    none("default_send_params").until(V3),
    both("default_send_param", 10, Structure(&sctp_value::SEND_PARAMETERS)).since(V3),
    none("delayed_ack_time"),
    both("disable_fragments", 8, Bool),
    none("hmac_ident"),
    set("events", 11, SctpEvents).until(V3),
    set("events", 11, SctpEventsOr).since(V3),
    none("explicit_eor"),
    none("fragment_interleave"),
    get("get_assoc_stats", 112, Structure(&sctp_value::STATISTICS)).since(V3),
    none("get_peer_addr_info").until(V3),
    get("get_peer_addr_info", 15, Structure(&sctp_value::PEER_ADDRESS)).since(V3),
    both("initmsg", 2, SctpInitial),
    none("i_want_mapped_v4_addr").until(V3),
    set("i_want_mapped_v4_addr", 12, Bool).since(V3),
    none("local_auth_chunks"),
    both("maxseg", 13, Int),
    none("maxburst"),
    both("nodelay", 3, Bool),
    none("partial_delivery_point").until(V3),
    none("partial_delivery").since(V3),
    // OTP lists this one as unsupported, too.
    none("peer_addr_params"),
    none("peer_auth_chunks"),
    none("primary_addr").until(V3),
    set("primary_addr", 6, Structure(&sctp_value::PRIMARY_ADDRESS)).since(V3),
    none("reset_streams"),
    both("rtoinfo", 0, SctpTimeouts),
    none("set_peer_primary_addr").until(V3),
    set("set_peer_primary_addr", 5, Structure(&sctp_value::PRIMARY_ADDRESS)).since(V3),
    none("status").until(V3),
    get("status", 14, Structure(&sctp_value::STATUS)).since(V3),
    none("use_ext_recvinfo"),
];

#[rustfmt::skip]
const TCP: &[Opt] = &[
    both("congestion", libc::TCP_CONGESTION, Congestion),
    both("cork", libc::TCP_CORK, Bool),
    none("info"),
    none("keepcnt").until(V2),
    both("keepcnt", libc::TCP_KEEPCNT, Int).since(V2),
    none("keepidle").until(V2),
    both("keepidle", libc::TCP_KEEPIDLE, Int).since(V2),
    none("keepintvl").until(V2),
    both("keepintvl", libc::TCP_KEEPINTVL, Int).since(V2),
    both("maxseg", libc::TCP_MAXSEG, Int),
    none("md5sig"),
    both("nodelay", libc::TCP_NODELAY, Bool),
    none("noopt"),
    none("nopush"),
    none("syncnt"),
    none("user_timeout").until(V3),
    both("user_timeout", libc::TCP_USER_TIMEOUT, Unsigned).since(V3),
];
const UDP: &[Opt] = &[both("cork", 1, Bool)];
