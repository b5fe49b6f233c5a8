% A scanner for tests/tools: words, numbers, strings with escapes, and what belongs to none.
Definitions.
D = [0-9]
L = [a-zA-Z_]
W = [\s\t\n\r]

Rules.
{W}+ : skip_token.
(if|then|else) : {token, {list_to_atom(TokenChars), TokenLine}}.
{L}({L}|{D})* : {token, {word, TokenLine, TokenChars}}.
{D}+\.{D}+ : {token, {float, TokenLine, list_to_float(TokenChars)}}.
{D}+ : {token, {integer, TokenLine, list_to_integer(TokenChars)}}.
"(\\.|[^\\"])*" : {token, {string, TokenLine, lists:sublist(TokenChars, 2, TokenLen - 2)}}.
[=<>+*/-] : {token, {list_to_atom(TokenChars), TokenLine}}.
. : {error, TokenChars}.

Erlang code.
