%% How many processes there may be: what the release has without the flag +P.
-module(process_limit).
-export([main/0]).
main() -> t:p(erlang:system_info(process_limit)).
