%% module_info(exports) is in the order of the source, which is the order in which EUnit runs tests.
-module(module_exports_order).
-export([main/0, z_test/0, a_test/0, b_test/1, m_test/0, k/2]).

main() ->
    t:p(module_info(exports)),
    t:p(erlang:get_module_info(?MODULE, exports)),
    {ok, M, Code} = compile:forms(forms(numbered), []),
    %% Nobody has named its functions; then one has been named before the module is there.
    load(M, Code),
    {ok, N, Other} = compile:forms(forms(named), []),
    t:pc(fun() -> N:f3() end),
    load(N, Other),
    %% Loading again changes nothing.
    load(M, Code).

load(M, Code) ->
    {module, M} = code:load_binary(M, "", Code),
    t:p([F || F <- M:module_info(exports), element(1, F) =/= module_info]).

forms(Name) ->
    Fs = [list_to_atom("f" ++ integer_to_list(N)) || N <- [7, 3, 9, 1, 12, 4, 11, 2]],
    [{attribute, 1, module, Name}, {attribute, 1, export, [{F, 0} || F <- lists:sort(Fs)]}
     | [{function, 1, F, 0, [{clause, 1, [], [], [{atom, 1, F}]}]} || F <- Fs]].

z_test() -> ok.
k(_, _) -> ok.
a_test() -> ok.
m_test() -> ok.
b_test(_) -> ok.
