%% since 27
%% The atoms that the natives of zlib, erl_tracer, prim_buffer, prim_file and prim_net make when they are
%% loaded come before those of modules that are loaded later: seen by the order of keys in small maps.
-module(since27_native_atoms).
-export([main/0]).

main() ->
    Names = names(),
    t:p([N || N <- Names, not is_known(N)]),
    Atoms = lists:sort(fun earlier/2, [list_to_atom(N) || N <- Names]),
    t:p(Atoms),
    %% Before the first atom of the kernel's modules, after those of the preloaded ones.
    t:p(maps:keys(#{application_controller => 1, hd(Atoms) => 2, lists:last(Atoms) => 3, erts_code_purger => 4})).

earlier(A, B) -> A =:= B orelse hd(maps:keys(#{A => 1, B => 2})) =:= A.

is_known(Name) ->
    try is_atom(list_to_existing_atom(Name)) catch error:badarg -> false end.

names() ->
    ["acquired", "address_info", "address_not_associated", "admin_status", "already_initialized",
     "anycast_addrs", "bcast_addr", "buf_error", "can_not_complete", "dad_state", "ddns_enabled",
     "deprecated", "description", "device", "dhcp", "dhcp_v4_enabled", "disconnected",
     "dns_eligible", "dns_server_addrs", "dns_suffix", "dont_need", "duplicate", "eaddrfamily",
     "ebadflags", "efail", "efamily", "efault", "emem", "enametoolong", "enodata", "enoname",
     "enxio", "eoverflow", "eservice", "esocktype", "esystem", "ethernet_csmacd", "fddi",
     "friendly_name", "gc_buffer", "gc_zlib", "idn", "ieee80211", "ieee80216_wman", "in_discards",
     "in_errors", "in_nucast_pkts", "in_octets", "in_ucast_pkts", "in_unknown_protos",
     "insufficient_buffer", "internal_oper_status", "invalid_data", "invalid_flags",
     "invalid_parameter", "ipv4_enabled", "ipv6_enabled", "ipv6_index",
     "ipv6_managed_address_config_supported", "ipv6_other_stateful_config", "iso88025_tokenring",
     "last_change", "lease_lifetime", "link_layer_address", "lock_order_violation",
     "lower_layer_down", "manual", "mask", "mem_error", "multicast_addrs", "name_info", "namereqd",
     "netbios_over_tcpip_enabled", "no_data", "no_function", "no_multicast", "no_reuse",
     "no_uniconde_traslation", "nofqdn", "non_operational", "not_enough_memory", "not_initialized",
     "not_present", "numerichost", "numericserv", "on_link_prefix_length", "oper_status",
     "operational", "out_discards", "out_errors", "out_nucast_pkts", "out_octets", "out_of_memory",
     "out_qlen", "out_ucast_pkts", "phys_addr", "preferred", "preferred_lifetime", "prefix_origin",
     "prefixes", "random", "reasm_size", "receive_only", "register_adapter_suffix",
     "router_advertisement", "service", "skip_type_check", "software_loopback", "speed",
     "stream_end", "stream_error", "suffix_origin", "symlink", "tentative", "testing", "trace_ts",
     "transient", "unchanged", "unicast_addrs", "unknown_error", "unreachable", "valid_lifetime",
     "version_error", "well_known", "will_need", "wwanpp", "wwanpp2", "zone_indices"].
