% A parser for tests/tools that answers what it has read comes to.
Nonterminals sum.
Terminals number '+' '*' '(' ')'.
Rootsymbol sum.
Left 100 '+'.
Left 200 '*'.
sum -> sum '+' sum : '$1' + '$3'.
sum -> sum '*' sum : '$1' * '$3'.
sum -> '(' sum ')' : '$2'.
sum -> number : element(3, '$1').
