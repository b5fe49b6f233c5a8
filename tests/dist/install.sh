# shellcheck shell=bash disable=SC2154
# Sourced by run: what docs/guide/install.md says, done in empty Debians, each of which is a folder that
# debootstrap fills and that is deleted afterwards.

guide=$root/docs/guide/install.md

# section HEADING [removal]: the commands of a section of the guide: those before or after "To remove it"
section() {
  awk -v heading="## $1" -v wanted="${2:-use}" '
    /^## / { inside = ($0 == heading); part = "use" }
    /[Tt]o remove it:$/ { part = "removal" }
    inside && part == wanted && /^    / { print substr($0, 5) }' "$guide"
}

# inside COMMAND...: in the Debian, with mounts and a process tree of its own, in the folder of packages
inside() {
  unshare --mount --pid --fork --kill-child --propagation private bash -c '
    at=$1; shift
    mount -t proc proc "$at/proc" && mount --rbind /dev "$at/dev" && mount -t tmpfs tmpfs "$at/dev/shm" &&
      exec chroot "$at" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
        LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive sh -ec "cd /srv; $*"' inside "$debian" "$@"
}

make_debian() {
  local suite=$1 script=/usr/share/debootstrap/scripts/$1 mirror
  mirror=$(sed -n 's/^URIs: *//p; s/^deb  *\(\[[^]]*\] *\)\{0,1\}\([^ ]*\) .*/\2/p' \
    /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null | grep -v security | head -1)
  [ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
  rm -rf "$debian"; mkdir -p "$debian"
  debootstrap --variant=minbase "$suite" "$debian" "${mirror:=http://deb.debian.org/debian}" "$script" || return
  echo "deb $mirror $suite main" >"$debian/etc/apt/sources.list"
  # No service starts; the mirror may be a snapshot, whose release file has expired.
  printf '#!/bin/sh\nexit 101\n' >"$debian/usr/sbin/policy-rc.d"; chmod +x "$debian/usr/sbin/policy-rc.d"
  echo 'Acquire::Check-Valid-Until "false";' >"$debian/etc/apt/apt.conf.d/snapshot"
  cp /etc/resolv.conf /etc/hosts "$debian/etc/"
  cp "$DIST"/*.tar.gz "$DIST"/*.deb "$here/hello.erl" "$debian/srv/"
  inside 'apt-get -qq update'
}

# uses KVIK: the shell answers, a module is compiled and run, a program of the system is started
uses() {
  inside "printf '21 * 2.\nq().\n' | $1 | grep -x '.*42'
    $1 erlc hello.erl && $1 -noshell -s hello main -s erlang halt | tee said && grep -qx 'hello from a module' said
    [ \"\$($1 run hello.erl)\" = 'hello from a module' ]
    [ \"\$($1 -noshell -eval 'io:put_chars(os:cmd(\"echo done\")), halt().')\" = done ]
    ! ldd /usr/bin/kvik 2>/dev/null | grep 'not found'"
}

# Nothing is left of kvik but the packages and what the test wrote.
gone() { [ -z "$(inside 'rm -f hello.beam said; find / -xdev -iname "*kvik*" -not -path "/srv/*" -not -path "/proc/*"' | tee "$BUILD/left")" ] || { cat "$BUILD/left"; return 1; }; }

full() {
  local at
  at=$(section "With OTP's libraries" | awk '/\/bin\/kvik/ { print "/srv/" $1; exit }')
  inside "$(section "With OTP's libraries")" && uses "$at" || return
  # a node, which starts epmd, finds another by its name
  inside "$at -noshell -sname one@localhost -eval 'receive stop -> halt() end.' &
    for n in 1 2 3 4 5 6 7 8 9; do
      sleep 1; $at -noshell -sname two@localhost -eval 'io:put_chars(atom_to_list(net_adm:ping(one@localhost))), halt().' >said
      ! grep -q pong said || exit 0
    done; cat said; exit 1" || return
  # moved, and started by a link
  inside "mkdir -p /var/tmp/elsewhere && mv /srv/kvik-full-*-x86_64-linux /var/tmp/elsewhere/
    ln -s /var/tmp/elsewhere/kvik-full-*/bin/kvik /usr/local/bin/kvik
    kvik -noshell -eval 'io:format(\"~s~n\", [code:root_dir()]), halt().' | grep ^/var/tmp/elsewhere/
    rm -r /var/tmp/elsewhere /usr/local/bin/kvik ~/.cache/kvik" && gone
}

# What docker would do with the Dockerfile, as far as a chroot can.
container() {
  local word rest name
  while read -r word rest; do
    case $word in
      ADD) name=$(inside "ls ${rest% *}") && inside "tar -C ${rest##* } -xzf $name" || return ;;
      RUN) inside "$rest" || return ;;
      ENTRYPOINT)
        [ "$rest" = '["kvik"]' ] && uses kvik &&
          inside "kvik -noshell -eval '<<_:256>> = crypto:hash(sha256, <<>>), halt().'" || return ;;
      FROM) [ "$rest" = debian:trixie-slim ] || return ;;
      '' | '#'*) ;;
      *) echo "what is $word?"; return 1 ;;
    esac
  done <"$root/packaging/Dockerfile"
  inside 'rm -r /opt/kvik-full-* /usr/local/bin/* ~/.cache/kvik' && gone
}

deb() {
  inside "$(section 'Debian and Ubuntu')" && uses kvik && inside 'dpkg -S /usr/bin/erl | grep ^erlang' &&
    inside "$(section 'Debian and Ubuntu' removal)" && gone
}

any_linux() {
  inside "$(section 'Any Linux')" && uses kvik && inside "$(section 'Any Linux' removal)" && gone
}

# gdb names functions of a program that has no symbols.
debug() {
  inside "apt-get install -y -qq --no-install-recommends gdb ./kvik_*.deb
    $(section 'Debug information')
    gdb -batch -ex 'info functions main.*' /usr/bin/kvik 2>&1 | tee said
    grep 'crates/cli/src/main.rs' said
    apt-get remove -y -qq kvik
    rm -rf /usr/lib/debug/.build-id ~/.cache/kvik" && gone
}

# Programs that look at packages and completions, which a developer's system need not have.
tools() {
  inside "apt-get install -y -qq --no-install-recommends zsh fish lintian man-db bash-completion ./kvik_*.deb
    bash -n /usr/share/bash-completion/completions/kvik
    zsh -n /usr/share/zsh/vendor-completions/_kvik
    zsh -fc 'autoload -U compinit; compinit -u -D; whence -v _kvik; [[ \$_comps[kvik] = _kvik ]]'
    fish -n /usr/share/fish/vendor_completions.d/kvik.fish
    fish -c \"complete -C 'kvik be'\" | grep -q ^bench
    fish -c \"complete -C 'kvik sched --e'\" | grep -q ^--each
    lintian --fail-on error,warning kvik_*.deb
    apt-get remove -y -qq kvik
    rm -rf /root/.zcompdump* ~/.cache/kvik" && gone
}

install_everywhere() {
  local suite suites=("$@")
  [ "$(id -u)" = 0 ] && have debootstrap && unshare --mount true 2>/dev/null || { skipped 'no root, debootstrap or mounts'; return; }
  [ ${#suites[@]} -gt 0 ] || suites=(bookworm trixie forky)
  for suite in "${suites[@]}"; do
    debian=$BUILD/debian-$suite
    check "$suite: an empty Debian" make_debian "$suite"
    check "$suite: with OTP's libraries" full
    [ "$suite" != trixie ] || check "$suite: the Dockerfile" container
    check "$suite: the .deb" deb
    check "$suite: the .tar.gz" any_linux
    [ "$suite" != trixie ] || check "$suite: debug information" debug
    [ "$suite" != trixie ] || check "$suite: completions and lintian" tools
    rm -rf "$debian"
  done
}

# HEAD in two folders, with target folders of their own.
reproduce() {
  local place
  for place in "$BUILD/one" "$BUILD/another/place"; do
    rm -rf "$place"; mkdir -p "$place"
    git clone -q "$root" "$place" && (cd "$place" && unset CARGO_TARGET_DIR && scripts/dist) || return
  done
  diff "$BUILD/one/target/dist/SHA256SUMS" "$BUILD/another/place/target/dist/SHA256SUMS" &&
    rm -rf "$BUILD/one" "$BUILD/another"
}
