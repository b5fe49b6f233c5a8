%% A stand-in for the hook of OTP's test server that makes the suites' data directories: build_data
%% has made them already, so it only gives the suites what they look up in their configuration.
-module(ts_install_cth).
-export([id/1, init/2, pre_init_per_suite/3]).

id(_) -> ?MODULE.

init(_, Options) -> {ok, proplists:get_value(nodenames, Options, 0)}.

pre_init_per_suite(Suite, Config, Count) ->
    {ok, Host} = inet:gethostname(),
    Names = [list_to_atom(lists:concat([Suite, "_", N, "_", os:getpid(), "@", Host])) || N <- lists:seq(1, Count)],
    {[{nodenames, Names} | Config], Count}.
