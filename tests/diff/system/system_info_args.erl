%% What erlang:system_info/1 tells of how the node was started, and its texts.
-module(system_info_args).
-export([main/0]).

main() ->
    [_Program | Args] = Emu = erlang:system_info(emu_args),
    t:p({strings, lists:all(fun io_lib:latin1_char_list/1, Emu)}),
    %% The emulator's flags come first, then what init is told.
    {Flags, ["--" | Init]} = lists:splitwith(fun(A) -> A =/= "--" end, Args),
    t:p({flags, lists:all(fun([C | _]) -> C =:= $- orelse C >= $0 end, Flags)}),
    t:p({same, [{F, init:get_argument(F)} || F <- [noshell, noinput, s]],
         [lists:member(A, Init) || A <- ["-noshell", "-noinput", "-s", "-root", "-progname", "-bindir"]]}),
    [t:p({I, begin B = erlang:system_info(I), {is_binary(B), first(B)} end}) || I <- [info, dist]],
    <<"Current code: ", Loaded/binary>> = erlang:system_info(loaded),
    [N, Old | Modules] = string:split(Loaded, "\n", all),
    t:p({loaded, binary_to_integer(N) > 1000000, Old,
         [M || M <- Modules, lists:prefix("lists ", binary_to_list(M)) orelse lists:prefix("init ", binary_to_list(M))] =/= []}),
    S = erlang:system_info(schedulers),
    t:p({schedulers, [erlang:system_info(I) =:= S || I <- [schedulers_total, schedulers_active, schedulers_online]]}),
    t:p([{I, erlang:system_info(I)} || I <- [lock_counting, lock_checking]]),
    t:p(is_boolean(erlang:system_info(beam_jump_table))).

first(B) -> hd(string:split(B, "\n")).
