%% send_timeout_close of active and passive sockets: who is told.
-module(late_send_close).
-export([main/0]).
fl() -> receive X -> [case X of {'EXIT',_,R} -> {exit,R}; _ -> element(1,X) end|fl()] after 300 -> [] end.
main() -> process_flag(trap_exit,true), [begin {ok,L}=gen_tcp:listen(0,[{active,false},binary]), {ok,Po}=inet:port(L), {ok,C}=gen_tcp:connect({127,0,0,1},Po,[{send_timeout,200},{send_timeout_close,true},{high_watermark,1000},{low_watermark,500},{exit_on_close,E},{active,A}]), {ok,_A}=gen_tcp:accept(L), R=gen_tcp:send(C,binary:copy(<<1>>,20000000)), R2=gen_tcp:send(C,<<"x">>), R3=gen_tcp:send(C,<<"x">>), t:p({E,A,R,R2,R3,fl(),erlang:port_info(C)==undefined,inet:getopts(C,[active]),gen_tcp:recv(C,0,100)}), inet:close(L) end || E <- [true,false], A <- [true,false,5,once]].
