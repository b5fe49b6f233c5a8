# Functions for the cases of Elixir's world. Sources are unpacked, unchanged, in the folder $ELIXIR_SOURCES
# (or $BUILD/elixir), each in a folder with the name that projects.txt gives it; Elixir's own in elixir-VERSION.
elixir_sources=${ELIXIR_SOURCES:-$BUILD/elixir}
elixir_here=$here/elixir
project_list=$elixir_here/projects.txt

# project_column NAME COLUMN
project_column() {
  awk -F'|' -v n="$1" -v c="$2" '!/^#/ {k = $1; gsub(/ /, "", k)} k == n {gsub(/^ +| +$/, "", $c); print $c}' "$project_list"
}
# path_deps NAME…: entries of a list of dependencies
path_deps() {
  local name
  for name in "$@"; do
    case $name in
      phx_new) printf '{:phx_new, path: "./installer"}, ' ;;
      *) printf '{:%s, path: "../%s"}, ' "$name" "$name" ;;
    esac
  done
}
# take_project NAME [tests]: copies a project and what it needs into the current folder, where their
# dependencies are the copies beside them
take_project() {
  local name=$1 needs tests='' deps
  [ -d "$name" ] && return
  [ -d "$elixir_sources/$name" ] || { echo "no sources of $name"; return 1; }
  needs=$(project_column "$name" 4)
  [ "${2:-}" = tests ] && tests=$(project_column "$name" 5)
  cp -r "$elixir_sources/$name" "$name"
  # shellcheck disable=SC2086
  deps=$(path_deps $needs $tests)
  if [ -f "$name/mix.exs" ]; then
    sed -i -E "0,/deps: deps\(\)/s||deps: [${deps%, }]|" "$name/mix.exs"
    [ ! -f "$name/installer/mix.exs" ] || sed -i -E "0,/deps: deps\(\)/s||deps: []|" "$name/installer/mix.exs"
  else
    sed -E "s|LIBRARY|Library_$name|; s|defp deps, do: \[\]|defp deps, do: [${deps%, }]|" "$elixir_here/erlang_mix.exs" >"$name/mix.exs"
  fi
  rm -f "$name/mix.lock" "$name/rebar.lock"
  # Its package leaves out its authors' task, which as a dependency does not compile under Elixir 1.20.
  [ "$name" != castore ] || [ "${2:-}" = tests ] || rm -rf castore/lib/mix
  for name in $needs $tests; do
    [ "$name" = phx_new ] || take_project "$name" || return 1
  done
}
# with_case_list: compiles the formatter, and has Erlang load it, as later versions of mix take out of the code
# path what the project does not name
with_case_list() {
  # which says so when it takes long
  mkdir -p case_list && elixirc -o case_list "$elixir_here/case_list.ex" >case_list.txt 2>&1 || { cat case_list.txt; return 1; }
  export CASE_LIST=$PWD/cases.txt ELIXIR_ERL_OPTIONS="-pa $PWD/case_list -s Elixir.CaseList module_info"
}
# say_cases NAME: what the formatter wrote. A case of known.txt that passes on OTP and fails on kvik is `known`, one of
# racy.txt `racy` whatever it came to. A line of either may name the version of Elixir it is about: `elixir 1.14`.
say_cases() {
  local expected=passed
  [ "$machine" = otp ] || expected=failed
  awk -F' *[|] *' -v name="$1" -v versioned="$1 $(elixir --short-version | cut -d. -f1,2)" -v expected=$expected '
    FILENAME == ARGV[1] {if ($1 == name || $1 == versioned) known[$2 " | " $3] = 1; next}
    FILENAME == ARGV[2] {if ($1 == name || $1 == versioned) racy[$2 " | " $3] = 1; next}
    {key = $0; sub(/ +\| [a-z]+$/, "", key); result = $0; sub(/.* \| /, "", result)}
    key in racy {if (!told[key]++) print key " | racy"; next}
    (key in known) && (result == expected || result == "returned") {if (!told[key]++) print key " | known"; next}
    {print; passed += result == "passed"}
    END {print name ": " passed + 0 " passed"}' "$elixir_here/known.txt" "$elixir_here/racy.txt" "$CASE_LIST"
}
# run_project NAME: the project's own tests, each with its result
run_project() {
  with_case_list && take_project "$1" tests || return
  (cd "$1" && mix test --seed 0 --formatter CaseList --formatter ExUnit.CLIFormatter) >log.txt 2>&1 </dev/null
  if [ -s "$CASE_LIST" ]; then say_cases "$1"; else tail -n 30 log.txt; fi
}
# run_elixir APPLICATION: the tests of one of Elixir's own applications, as its Makefile runs them, on the
# compiled Elixir that is installed
run_elixir() {
  local home app=$1 tests='test/**/*_test.exs' helper=test/test_helper.exs
  [ "$app" = elixir ] && tests='test/elixir/**/*_test.exs' helper=test/elixir/test_helper.exs
  home=$(dirname "$(readlink -f "$(command -v elixir)")")/..
  with_case_list || return
  unset ELIXIR_ERL_OPTIONS
  # mix's tests configure git, which fails below a repository that this system cannot see all of
  export GIT_CEILING_DIRECTORIES=$PWD
  cp -r "$elixir_sources/elixir-$(elixir --short-version)" source && cd "source/lib/$app" || return
  # Debian's source package leaves out the compiled rebar3
  [ -f ../mix/test/fixtures/rebar3 ] || cp "$(command -v rebar3)" ../mix/test/fixtures/
  for a in ../*/; do ln -sfn "$home/lib/$(basename "$a")/ebin" "$a/ebin"; done
  ../../bin/elixir --erl "-pa $OLDPWD/case_list -ex_unit seed 0 formatters ['Elixir.CaseList','Elixir.ExUnit.CLIFormatter']" \
    -r $helper -pr "$tests" >"$OLDPWD/log.txt" 2>&1 </dev/null
  cd "$OLDPWD" && if [ -s "$CASE_LIST" ]; then say_cases "$app"; else tail -n 30 log.txt; fi
}
# tested_projects: those of projects.txt that have tests which are run
tested_projects() {
  awk -F'|' '!/^#/ && $5 !~ /^ *-/ {gsub(/ /, "", $1); print $1}' "$project_list"
}
# own_epmd: a daemon of its own for the nodes that the case starts, until the case ends
own_epmd() {
  ERL_EPMD_PORT=$(free_port)
  export ERL_EPMD_PORT
  epmd -daemon
  trap 'end_epmd' EXIT
}
