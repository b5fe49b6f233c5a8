%% Changes to one function's decoded instructions that keep them well formed: what the decoder accepts
%% and the verifier has to judge.
-module(corrupt_semantic).
-export([mutate/3]).

below(N) -> rand:uniform(max(1, N)) - 1.
pick(L) -> lists:nth(rand:uniform(length(L)), L).

%% The instructions First to Last of all Ops (a tuple), after one to five changes. {What, Instructions}
mutate(Ops, First, Last) ->
    Own = [element(I, Ops) || I <- lists:seq(First, Last)],
    {Head, Body} = lists:split(min(length(Own), 4), Own),
    {What, New} = times(1 + below(3) + below(3), Body, Ops, []),
    {lists:reverse(What), Head ++ New}.

times(0, Body, _, What) -> {What, Body};
times(_, [], _, What) -> {What, []};
times(N, Body, Ops, What) ->
    {W, New} = change(below(17), Body, Ops),
    times(N - 1, New, Ops, [W | What]).

%% Registers: two of them change places, in one instruction, from one on, or everywhere.
change(N, Body, _) when N < 3 ->
    {A, B} = two_registers(Body),
    Swap = fun (R) when R =:= A -> B; (R) when R =:= B -> A; (R) -> R end,
    At = below(length(Body)),
    {Before, [Op | After]} = lists:split(At, Body),
    case N of
        0 -> {{swap, A, B, at, At}, Before ++ [registers(Swap, Op) | After]};
        1 -> {{swap, A, B, from, At}, Before ++ [registers(Swap, O) || O <- [Op | After]]};
        2 -> {{swap, A, B}, [registers(Swap, O) || O <- Body]}
    end;
%% One operand that is a register becomes another.
change(N, Body, _) when N < 5 ->
    {_, B} = two_registers(Body),
    {At, Op} = any(Body, fun (O) -> registers_of(O) =/= [] end),
    case registers_of(Op) of
        [] -> {nothing, Body};
        Rs ->
            A = pick(Rs),
            {{register, At, A, B}, put_at(At, registers(fun (R) when R =:= A -> B; (R) -> R end, Op), Body)}
    end;
%% Numbers: live registers, words to reserve, sizes of frames, arities, indexes.
change(N, Body, _) when N < 8 ->
    {At, Op} = any(Body, fun (O) -> numbers(O) =/= [] andalso not is_label(O) end),
    case numbers(Op) of
        [] -> {nothing, Body};
        Is ->
            I = pick(Is),
            {Code, Args} = Op,
            {0, Old} = lists:nth(I, Args),
            New = max(0, Old + pick([1, -1, 2, -2])),
            {{number, At, I, Old, New}, put_at(At, {Code, set(I, {0, New}, Args)}, Body)}
    end;
%% All frames of the function become larger or smaller.
change(8, Body, _) ->
    D = pick([1, -1, 2]),
    {{frames, D}, [frame(D, O) || O <- Body]};
%% A jump goes to another label of the function.
change(N, Body, _) when N < 11 ->
    {At, {Code, Args} = Op} = any(Body, fun (O) -> targets(O) =/= [] end),
    case {targets(Op), [L || {1, [{0, L}]} <- Body]} of
        {[_ | _] = Ts, [_ | _] = Ls} ->
            {T, L} = {pick(Ts), pick(Ls)},
            {{target, At, T, L}, put_at(At, {Code, retarget(T, L, Args)}, Body)};
        _ -> {nothing, Body}
    end;
%% Instructions go, come twice, or change places.
change(11, Body, _) ->
    At = below(length(Body)),
    {Before, [Op | After]} = lists:split(At, Body),
    case is_label(Op) of
        true -> {nothing, Body};
        false -> {{delete, At}, Before ++ After}
    end;
change(12, Body, _) ->
    {From, To} = {below(length(Body)), below(length(Body))},
    Op = lists:nth(From + 1, Body),
    case is_label(Op) of
        true -> {nothing, Body};
        false ->
            {Before, After} = lists:split(To, Body),
            {{copy, From, To}, Before ++ [Op | After]}
    end;
change(13, Body, _) ->
    {From, Far} = {below(length(Body)), below(8) + 1},
    {Before, [Op | After]} = lists:split(From, Body),
    {Passed, Rest} = lists:split(min(Far, length(After)), After),
    {{later, From, Far}, Before ++ Passed ++ [Op | Rest]};
%% A run of instructions from anywhere in the module, with this function's labels.
change(N, Body, Ops) ->
    Labels = [L || {1, [{0, L}]} <- Body],
    Count = 1 + below(case N of 14 -> 2; _ -> 12 end),
    From = 1 + below(tuple_size(Ops) - Count),
    Run = [relabel(Labels, element(I, Ops)) || I <- lists:seq(From, From + Count - 1)],
    Fit = [O || {Code, _} = O <- Run, Code =/= 1, Code =/= 2, Code =/= 3, Labels =/= []],
    To = below(length(Body) + 1),
    {Before, After} = lists:split(To, Body),
    Left = case N of 16 -> lists:nthtail(min(length(Fit), length(After)), After); _ -> After end,
    case [O || O <- After, is_label(O)] -- [O || O <- Left, is_label(O)] of
        [] -> {{splice, From, Count, To}, Before ++ Fit ++ Left};
        Lost -> {{splice, From, Count, To}, Before ++ Fit ++ Lost ++ Left}
    end.

is_label({Code, _}) -> Code =:= 1.

any(Body, Fits) ->
    Count = length(Body),
    any(Body, Fits, Count, 30).
any(Body, Fits, Count, N) ->
    At = below(Count),
    Op = lists:nth(At + 1, Body),
    case N =:= 0 orelse Fits(Op) of
        true -> {At, Op};
        false -> any(Body, Fits, Count, N - 1)
    end.

put_at(At, Op, Body) -> set(At + 1, Op, Body).
set(I, New, L) -> lists:sublist(L, I - 1) ++ [New | lists:nthtail(I, L)].

%% X and y registers: {3, N} and {4, N}.
registers_of({_, Args}) -> [R || A <- flat(Args), {T, _} = R <- [plain(A)], T =:= 3 orelse T =:= 4].

two_registers(Body) ->
    case lists:usort(lists:flatmap(fun registers_of/1, Body)) of
        [] -> {{3, 0}, {3, 1}};
        All -> {pick(All), case below(6) of 0 -> {pick([3, 4]), below(6)}; _ -> pick(All) end}
    end.

flat(Args) -> lists:flatmap(fun ({list, L}) -> flat(L); (A) -> [A] end, Args).
plain({tr, R, _}) -> R;
plain({alloc, _}) -> none;
plain(A) -> A.

registers(F, {Code, Args}) -> {Code, [rename(F, A) || A <- Args]}.
rename(F, {list, L}) -> {list, [rename(F, A) || A <- L]};
rename(F, {tr, R, T}) ->
    case F(R) of
        R -> {tr, R, T};
        Other -> Other
    end;
rename(F, {T, _} = R) when T =:= 3; T =:= 4 -> F(R);
rename(_, A) -> A.

numbers({_, Args}) -> [I || {I, {0, N}} <- lists:enumerate(Args), N < 300].

%% allocate, allocate_heap, their kin, deallocate, trim, and the calls that drop a frame.
frame(D, {Code, [{0, N} | Rest]}) when Code >= 12, Code =< 15; Code =:= 18 ->
    {Code, [{0, max(0, N + D)} | Rest]};
frame(D, {17, [A, {0, N}]}) -> {17, [A, {0, max(0, N + D)}]};
frame(D, {Code, [A, B, {0, N}]}) when Code =:= 5; Code =:= 8 -> {Code, [A, B, {0, max(0, N + D)}]};
frame(D, {113, [A, {0, N}]}) -> {113, [A, {0, max(0, N + D)}]};
frame(_, Op) -> Op.

targets({Code, _}) when Code >= 4, Code =< 6 -> [];
targets({_, Args}) -> [L || {5, L} <- flat(Args), L > 0].

retarget(From, To, Args) ->
    [case A of
         {5, From} -> {5, To};
         {list, L} -> {list, retarget(From, To, L)};
         _ -> A
     end || A <- Args].

relabel([], Op) -> Op;
relabel(_, {Code, _} = Op) when Code >= 4, Code =< 6 -> Op;
relabel(Labels, {Code, Args}) ->
    {Code, [case A of
                {5, L} when L > 0 -> {5, pick(Labels)};
                {list, L} -> {list, [case E of {5, _} -> {5, pick(Labels)}; _ -> E end || E <- L]};
                _ -> A
            end || A <- Args]}.
