//! The options of each level, with the types of their values. One that can neither be set nor read
//! is a name that `socket` knows and this system, or OTP, does not support.

use crate::option_value::OptionValue::{self, *};

pub struct Opt {
    pub name: &'static str,
    pub number: i32,
    pub set: Option<OptionValue>,
    pub get: Option<OptionValue>,
}
impl Opt {
    pub fn is_there(&self) -> bool {
        self.set.is_some() || self.get.is_some()
    }
}

const fn both(name: &'static str, number: i32, v: OptionValue) -> Opt {
    Opt { name, number, set: Some(v), get: Some(v) }
}
const fn set(name: &'static str, number: i32, v: OptionValue) -> Opt {
    Opt { name, number, set: Some(v), get: None }
}
const fn get(name: &'static str, number: i32, v: OptionValue) -> Opt {
    Opt { name, number, set: None, get: Some(v) }
}
const fn none(name: &'static str) -> Opt {
    Opt { name, number: 0, set: None, get: None }
}

/// Levels and their options, in the order of their numbers.
pub const LEVELS: &[(i32, &[Opt])] = &[
    (libc::IPPROTO_IP, IP),
    (libc::SOL_SOCKET, SOCKET),
    (libc::IPPROTO_TCP, TCP),
    (libc::IPPROTO_UDP, UDP),
    (libc::IPPROTO_IPV6, IPV6),
    (libc::IPPROTO_SCTP, SCTP),
];
pub fn find(level: i32, number: i32) -> Option<&'static Opt> {
    let (_, table) = LEVELS.iter().find(|(l, _)| *l == level)?;
    table.iter().find(|o| o.is_there() && o.number == number)
}

#[rustfmt::skip]
const SOCKET: &[Opt] = &[
    both("acceptconn", libc::SO_ACCEPTCONN, Bool),
    none("acceptfilter"),
    both("bindtodevice", libc::SO_BINDTODEVICE, Device),
    both("broadcast", libc::SO_BROADCAST, Bool),
    none("busy_poll"),
    both("debug", libc::SO_DEBUG, Int),
    get("domain", libc::SO_DOMAIN, Domain),
    both("dontroute", libc::SO_DONTROUTE, Bool),
    none("error"),
    both("keepalive", libc::SO_KEEPALIVE, Bool),
    both("linger", libc::SO_LINGER, Linger),
    none("mark"),
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
    Opt { name: "multicast_hops", number: libc::IPV6_MULTICAST_HOPS, set: Some(Hops), get: Some(Int) },
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
    Opt { name: "unicast_hops", number: libc::IPV6_UNICAST_HOPS, set: Some(Hops), get: Some(Int) },
    none("use_min_mtu"),
    both("v6only", libc::IPV6_V6ONLY, Bool),
];

#[rustfmt::skip]
const SCTP: &[Opt] = &[
    none("adaption_layer"),
    both("associnfo", 1, SctpAssociation),
    none("auth_active_key"),
    none("auth_chunk"),
    none("auth_delete_key"),
    none("auth_key"),
    both("autoclose", 4, Int),
    none("context"),
    none("default_send_params"),
    none("delayed_ack_time"),
    both("disable_fragments", 8, Bool),
    none("hmac_ident"),
    set("events", 11, SctpEvents),
    none("explicit_eor"),
    none("fragment_interleave"),
    none("get_peer_addr_info"),
    both("initmsg", 2, SctpInitial),
    none("i_want_mapped_v4_addr"),
    none("local_auth_chunks"),
    both("maxseg", 13, Int),
    none("maxburst"),
    both("nodelay", 3, Bool),
    none("partial_delivery_point"),
    none("peer_addr_params"),
    none("peer_auth_chunks"),
    none("primary_addr"),
    none("reset_streams"),
    both("rtoinfo", 0, SctpTimeouts),
    none("set_peer_primary_addr"),
    none("status"),
    none("use_ext_recvinfo"),
];

#[rustfmt::skip]
const TCP: &[Opt] = &[
    both("congestion", libc::TCP_CONGESTION, Congestion),
    both("cork", libc::TCP_CORK, Bool),
    none("info"),
    none("keepcnt"),
    none("keepidle"),
    none("keepintvl"),
    both("maxseg", libc::TCP_MAXSEG, Int),
    none("md5sig"),
    both("nodelay", libc::TCP_NODELAY, Bool),
    none("noopt"),
    none("nopush"),
    none("syncnt"),
    none("user_timeout"),
];
const UDP: &[Opt] = &[both("cork", 1, Bool)];
