%% One `apply` that calls now this, now that: what was called there last must not be called again by
%% mistake, whatever comes between.
-module(apply_again).
-export([main/0, one/1, one/2, two/1]).

main() ->
    [t:pc(fun () -> call(M, F, [x]) end) || {M, F} <- calls()],
    [t:pc(fun () -> last(M, F, [x]) end) || {M, F} <- calls()],
    t:p([call(?MODULE, F, [N]) || N <- [1, 2, 3], F <- [one, two, one]]),
    t:p([both(?MODULE, one, A) || A <- [1, {2, 3}, 4]]),
    [t:p(t:st(fun () -> last(erlang, F, [oops]) end)) || F <- [error, throw, exit, hd, error]],
    new_code(),
    Terms = [self(), hd(erlang:ports()), make_ref(), a, 1, 1 bsl 70, 1.5, {self()}, [self()], #{}, <<1:3>>,
             fun main/0, other(pid), other(port), other(ref)],
    t:p([kinds(t:id(T)) || T <- Terms]).

calls() ->
    [{?MODULE, one}, {?MODULE, two}, {?MODULE, one}, {?MODULE, none}, {?MODULE, one}, {no_such, one},
     {?MODULE, two}, {erlang, error}, {erlang, is_atom}, {erlang, throw}, {erlang, hd}, {1, one},
     {?MODULE, "one"}, {{}, one}, {?MODULE, one}].

one(X) -> {one, X}.
one(X, Y) -> {one, X, Y}.
two(X) -> {two, X}.

call(M, F, [X]) ->
    R = M:F(X),
    {called, R}.

last(M, F, [X]) -> M:F(X).

both(M, F, {X, Y}) -> M:F(X, Y);
both(M, F, X) -> M:F(X).

%% A module that changes between calls.
new_code() ->
    Load = fun (Answer) ->
        Forms = [{attribute, 1, module, apply_again_new}, {attribute, 1, export, [{f, 1}]},
                 {function, 1, f, 1, [{clause, 1, [{var, 1, '_'}], [], [{atom, 1, Answer}]}]}],
        {ok, M, Code} = compile:forms(Forms, []),
        {module, M} = code:load_binary(M, "apply_again_new.erl", Code)
    end,
    Ask = fun () -> t:pc(fun () -> call(apply_again_new, f, [x]) end) end,
    Ask(),
    Load(first),
    Ask(),
    Load(second),
    Ask(),
    code:purge(apply_again_new),
    code:delete(apply_again_new),
    Ask().

kinds(T) when is_pid(T) -> pid;
kinds(T) when is_port(T) -> port;
kinds(T) when is_reference(T) -> ref;
kinds(_) -> other.

%% A pid, port or reference of another node.
other(Kind) ->
    Node = <<119, 5, "o@her">>,
    binary_to_term(case Kind of
        pid -> <<131, 88, Node/binary, 1:32, 2:32, 3:32>>;
        port -> <<131, 89, Node/binary, 1:32, 3:32>>;
        ref -> <<131, 90, 2:16, Node/binary, 3:32, 1:32, 2:32>>
    end).
