//! The natives of `prim_socket` and `prim_net`, on which OTP's modules `socket` and `net` are
//! built. They return what those modules expect of OTP's own natives; see the manual page of
//! `socket`.
//!
//! A socket is a magic reference to a [`Socket`]: a descriptor, and the waiting processes. An
//! operation that would block returns `select`, and its process gets a message when it should
//! retry: `{'$socket', Socket, select, Ref}`, or `{'$socket', Socket, abort, {Ref, Reason}}` if the
//! socket was closed meanwhile. Of several readers one is current; the others wait in a queue
//! ([`requests`]). A socket is closed when its owner ends.
//!
//! See `docs/internals/sockets.md`.
#![forbid(unsafe_code)]

mod accept;
mod address;
mod answer;
mod cancel;
mod close;
mod connect;
mod control;
mod count;
mod counters;
mod info;
mod ioctl;
mod message;
mod monitors;
mod natives;
mod net;
mod open;
mod option;
mod option_table;
mod option_value;
mod otp_option;
mod packet_address;
mod receive;
mod receive_several;
mod register;
mod requests;
mod sctp;
mod sctp_value;
mod send;
mod send_several;
mod sendfile;
mod socket;
mod supports;
mod type_of_service;

use kvik_proc::{bif, BifEntry};
pub use monitors::{down, watcher};
pub use socket::Socket;

/// The natives. What they answer differs between releases, too: see `SocketNatives`.
pub const BIFS: &[BifEntry] = &[
    bif!("prim_socket", "nif_info", 0, info::all_0),
    bif!("prim_socket", "nif_info", 1, info::socket_1),
    bif!("prim_socket", "nif_command", 1, info::command_1),
    bif!("prim_socket", "nif_supports", 0, supports::supports_0),
    bif!("prim_socket", "nif_supports", 1, supports::supports_1),
    bif!("prim_socket", "nif_open", 2, open::adopt_2),
    bif!("prim_socket", "nif_open", 4, open::open_4),
    bif!("prim_socket", "nif_bind", 2, open::bind_2),
    bif!("prim_socket", "nif_bind", 3, open::bind_3, until 26),
    bif!("prim_socket", "nif_bind", 3, sctp::bind_3, since 29),
    bif!("prim_socket", "nif_listen", 2, open::listen_2),
    bif!("prim_socket", "nif_sockname", 1, open::local_name_1),
    bif!("prim_socket", "nif_peername", 1, open::peer_name_1),
    bif!("prim_socket", "nif_shutdown", 2, open::shutdown_2),
    bif!("prim_socket", "nif_connect", 1, connect::finish_1),
    bif!("prim_socket", "nif_connect", 3, connect::connect_3),
    bif!("prim_socket", "nif_accept", 2, accept::accept_2),
    bif!("prim_socket", "nif_peeloff", 2, sctp::peel_off_2, since 29),
    bif!("prim_socket", "nif_socknames", 2, sctp::local_names_2, since 29),
    bif!("prim_socket", "nif_peernames", 2, sctp::peer_names_2, since 29),
    bif!("prim_socket", "nif_send", 4, send::send_4),
    bif!("prim_socket", "nif_sendto", 5, send::send_to_5),
    bif!("prim_socket", "nif_sendmsg", 5, send::send_message_5),
    bif!("prim_socket", "nif_sendv", 3, send::send_vector_3, since 27),
    bif!("prim_socket", "nif_sendmmsg", 4, send_several::send_4, since 29),
    bif!("prim_socket", "nif_sendfile", 1, sendfile::deferred_close_1),
    bif!("prim_socket", "nif_sendfile", 4, sendfile::go_on_4),
    bif!("prim_socket", "nif_sendfile", 5, sendfile::start_5),
    bif!("prim_socket", "nif_recv", 4, receive::receive_4),
    bif!("prim_socket", "nif_recvfrom", 4, receive::receive_from_4),
    bif!("prim_socket", "nif_recvmsg", 5, receive::receive_message_5),
    bif!("prim_socket", "nif_recvmmsg", 6, receive_several::receive_6, since 29),
    bif!("prim_socket", "nif_close", 1, close::close_1),
    bif!("prim_socket", "nif_finalize_close", 1, close::finalize_1),
    bif!("prim_socket", "nif_setopt", 5, option::set_5),
    bif!("prim_socket", "nif_getopt", 3, option::get_3),
    bif!("prim_socket", "nif_getopt", 4, option::get_native_4, until 29),
    bif!("prim_socket", "nif_getopt", 5, option::get_5, since 29),
    bif!("prim_socket", "nif_ioctl", 2, ioctl::list_2),
    bif!("prim_socket", "nif_ioctl", 3, ioctl::get_3),
    bif!("prim_socket", "nif_ioctl", 4, ioctl::set_4),
    bif!("prim_socket", "nif_cancel", 3, cancel::cancel_3),
    bif!("prim_net", "nif_info", 0, net::info_0),
    bif!("prim_net", "nif_command", 1, net::command_1),
    bif!("prim_net", "nif_getservbyname", 2, net::service_by_name_2, since 27),
    bif!("prim_net", "nif_getservbyport", 2, net::service_by_port_2, since 27),
    bif!("prim_net", "nif_gethostname", 0, net::host_name_0),
    bif!("prim_net", "nif_getnameinfo", 2, net::name_info_2),
    bif!("prim_net", "nif_getaddrinfo", 3, net::address_info_3),
    bif!("prim_net", "nif_getifaddrs", 1, net::interface_addresses_1),
    bif!("prim_net", "nif_get_adapters_addresses", 1, net::not_here_1),
    bif!("prim_net", "nif_get_if_entry", 1, net::not_here_1),
    bif!("prim_net", "nif_get_interface_info", 1, net::not_here_1),
    bif!("prim_net", "nif_get_ip_address_table", 1, net::not_here_1),
    bif!("prim_net", "nif_if_name2index", 1, net::name_to_index_1),
    bif!("prim_net", "nif_if_index2name", 1, net::index_to_name_1),
    bif!("prim_net", "nif_if_names", 0, net::names_0),
];

/// Handles what `prim_socket` passes when it loads its natives (the process that keeps the
/// register), and makes the atoms that OTP's natives make then.
pub fn install() {
    kvik_bifs::code::on_static_load("prim_socket", info::loaded);
    kvik_bifs::code::on_static_load("net", info::net_loaded);
}
