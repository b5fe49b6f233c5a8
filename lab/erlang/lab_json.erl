%% JSON in Erlang alone: objects are maps, strings are binaries in UTF-8, `true`,
%% `false` and `null` are atoms.
-module(lab_json).
-export([encode/1, decode/1]).

%% An iolist.
encode(Map) when is_map(Map) -> [${, members(maps:to_list(Map)), $}];
encode(List) when is_list(List) -> [$[, elements(List), $]];
encode(Text) when is_binary(Text) -> string(Text);
encode(Number) when is_integer(Number) -> integer_to_binary(Number);
encode(Number) when is_float(Number) -> float_to_binary(Number, [short]);
encode(Atom) when Atom =:= true; Atom =:= false; Atom =:= null -> atom_to_binary(Atom).

members([]) -> [];
members([{Name, Value}]) -> [string(Name), $:, encode(Value)];
members([{Name, Value} | Rest]) -> [string(Name), $:, encode(Value), $, | members(Rest)].

elements([]) -> [];
elements([Value]) -> [encode(Value)];
elements([Value | Rest]) -> [encode(Value), $, | elements(Rest)].

string(Text) -> [$", escape(Text, Text, 0, 0), $"].

%% What needs no escape is taken as a part of the text, not byte by byte.
escape(<<C, Rest/binary>>, Text, From, Length) when C >= 32, C =/= $", C =/= $\\ ->
    escape(Rest, Text, From, Length + 1);
escape(<<C, Rest/binary>>, Text, From, Length) ->
    [binary_part(Text, From, Length), escaped(C) | escape(Rest, Text, From + Length + 1, 0)];
escape(<<>>, Text, From, Length) ->
    [binary_part(Text, From, Length)].

escaped($") -> <<"\\\"">>;
escaped($\\) -> <<"\\\\">>;
escaped($\n) -> <<"\\n">>;
escaped($\r) -> <<"\\r">>;
escaped($\t) -> <<"\\t">>;
escaped(C) -> io_lib:format("\\u~4.16.0b", [C]).

decode(Text) ->
    {Value, Rest} = value(Text),
    <<>> = blank(Rest),
    Value.

value(<<C, Rest/binary>>) when C =:= $\s; C =:= $\n; C =:= $\r; C =:= $\t -> value(Rest);
value(<<$", Rest/binary>>) -> text(Rest);
value(<<${, Rest/binary>>) -> first_member(blank(Rest));
value(<<$[, Rest/binary>>) -> first_element(blank(Rest));
value(<<"true", Rest/binary>>) -> {true, Rest};
value(<<"false", Rest/binary>>) -> {false, Rest};
value(<<"null", Rest/binary>>) -> {null, Rest};
value(<<C, _/binary>> = Text) when C =:= $-; C >= $0, C =< $9 -> number(Text).

blank(<<C, Rest/binary>>) when C =:= $\s; C =:= $\n; C =:= $\r; C =:= $\t -> blank(Rest);
blank(Text) -> Text.

first_member(<<$}, Rest/binary>>) -> {#{}, Rest};
first_member(Text) -> member(Text, []).

member(<<$", Text/binary>>, Sofar) ->
    {Name, Rest} = text(Text),
    <<$:, Rest1/binary>> = blank(Rest),
    {Value, Rest2} = value(Rest1),
    Members = [{Name, Value} | Sofar],
    case blank(Rest2) of
        <<$,, Rest3/binary>> -> member(blank(Rest3), Members);
        <<$}, Rest3/binary>> -> {maps:from_list(Members), Rest3}
    end.

first_element(<<$], Rest/binary>>) -> {[], Rest};
first_element(Text) -> next_element(Text, []).

next_element(Text, Sofar) ->
    {Value, Rest} = value(Text),
    case blank(Rest) of
        <<$,, Rest1/binary>> -> next_element(Rest1, [Value | Sofar]);
        <<$], Rest1/binary>> -> {lists:reverse(Sofar, [Value]), Rest1}
    end.

text(Text) -> text(Text, Text, 0, []).

text(<<$", Rest/binary>>, From, Length, []) ->
    {binary_part(From, 0, Length), Rest};
text(<<$", Rest/binary>>, From, Length, Parts) ->
    {iolist_to_binary([Parts, binary_part(From, 0, Length)]), Rest};
text(<<$\\, Rest/binary>>, From, Length, Parts) ->
    {Char, Rest1} = unescape(Rest),
    text(Rest1, Rest1, 0, [Parts, binary_part(From, 0, Length), Char]);
text(<<C, Rest/binary>>, From, Length, Parts) when C >= 32 ->
    text(Rest, From, Length + 1, Parts).

unescape(<<$n, Rest/binary>>) -> {$\n, Rest};
unescape(<<$r, Rest/binary>>) -> {$\r, Rest};
unescape(<<$t, Rest/binary>>) -> {$\t, Rest};
unescape(<<$b, Rest/binary>>) -> {$\b, Rest};
unescape(<<$f, Rest/binary>>) -> {$\f, Rest};
unescape(<<$u, Digits:4/binary, Rest/binary>>) ->
    case {binary_to_integer(Digits, 16), Rest} of
        {High, <<"\\u", Digits2:4/binary, Rest2/binary>>} when High >= 16#d800, High < 16#dc00 ->
            Low = binary_to_integer(Digits2, 16),
            true = Low >= 16#dc00 andalso Low < 16#e000,
            {<<(16#10000 + (High - 16#d800) * 1024 + Low - 16#dc00)/utf8>>, Rest2};
        {Char, _} ->
            {<<Char/utf8>>, Rest}
    end;
unescape(<<C, Rest/binary>>) when C =:= $"; C =:= $\\; C =:= $/ -> {C, Rest}.

number(Text) ->
    Length = digits(Text, 0),
    <<Number:Length/binary, Rest/binary>> = Text,
    {to_number(Number), Rest}.

digits(<<C, Rest/binary>>, N) when C >= $0, C =< $9; C =:= $-; C =:= $+; C =:= $.; C =:= $e; C =:= $E ->
    digits(Rest, N + 1);
digits(_, N) -> N.

%% `1e5` is a number in JSON and not in Erlang.
to_number(Text) ->
    case binary:match(Text, [<<".">>, <<"e">>, <<"E">>]) of
        nomatch -> binary_to_integer(Text);
        {At, 1} ->
            case binary:at(Text, At) of
                $. -> binary_to_float(Text);
                _ ->
                    <<Front:At/binary, Back/binary>> = Text,
                    binary_to_float(<<Front/binary, ".0", Back/binary>>)
            end
    end.
