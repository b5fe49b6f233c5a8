# What a newcomer types. Each target does its own set-up.
.PHONY: help deps build test bench report conformance stalls faults tools systems soak soak-rabbitmq fuzz fuzz-verifier stress-builds loom miri dist dist-test clean

help:
	@echo 'Times are for two cores and include no first build, which takes about 5 minutes; ~ marks an estimate.'
	@echo
	@echo 'make test            build, and run everything CI runs (~30 to 60 min)'
	@echo 'make bench           the five experiments in a short form, on kvik, OTP and who else is there (3 to 5 min)'
	@echo 'make report          the five experiments in full (20 to 25 min)'
	@echo 'make build           target/release/kvik (4 to 5 min; a small change 2 to 4)'
	@echo "make deps            find OTP's libraries, or unpack them into .otp/ (seconds; to unpack ~1 min; OTP=29: of that release)"
	@echo "make conformance     OTP's own test suites on kvik; all compiled code through the verifier (many hours; OTP=27 or 29: that release's suites alone)"
	@echo 'make stalls          how long BIFs hold their scheduler, on kvik and on OTP (at most 20 min)'
	@echo 'make faults          what Erlang code sees when the operating system fails: a build of its own, then 26 cases (~4 min)'
	@echo 'make tools           rebar3, mix, dialyzer and others on kvik and on OTP, the long cases too (~1 hour)'
	@echo 'make systems         RabbitMQ and other systems from Debian, unmodified, on kvik and on OTP (~30 min, at most 80; with sources of public projects hours)'
	@echo 'make soak            everything at once (15 min; DURATION=120: two)'
	@echo 'make soak-rabbitmq   RabbitMQ under changing load and faults (90 min; DURATION=600: ten)'
	@echo 'make fuzz            the four fuzz targets, 5 min each (20 min; TARGET=etf DURATION=1800: one of them, longer)'
	@echo 'make fuzz-verifier   code that no compiler made, on a VM that checks what the verifier proved (~10 min; COUNT=20000)'
	@echo 'make stress-builds   random programs on a VM that collects at nearly every allocation, in turns of a few reductions (~8 min; COUNT=20000)'
	@echo 'make loom            every interleaving of the threads under inboxes and sleep (~5 min)'
	@echo 'make miri            unit tests of term, sync, heap and etf under Miri, which finds undefined behaviour (~5 min)'
	@echo 'make dist            a .tar.gz and a .deb in target/dist (4 to 8 min; FULL=1: one with OTP 29 too)'
	@echo 'make dist-test       these, built in two folders, compared, and installed in Debian 12, 13 and testing (~30 min)'
	@echo 'make clean           remove what was built, and report/'

deps:
	@scripts/setup deps

build: deps
	@scripts/setup tools
	cargo build --release

test:
	@for release in 25 27 29; do OTP=$$release scripts/setup deps || exit 1; done
	@scripts/setup tools lint
	@scripts/setup browser
	@scripts/setup terminal
	@scripts/setup programs
	@scripts/check

bench: build
	@"$${CARGO_TARGET_DIR:-target}/release/kvik" bench --quick --out report

report: build
	@"$${CARGO_TARGET_DIR:-target}/release/kvik" bench --out report

conformance: build
	@VM="$${CARGO_TARGET_DIR:-$(CURDIR)/target}/release/kvik" JOBS=$${JOBS:-4} tests/otp/run --all
	@[ -n "$(OTP)" ] || tests/verifier/run

stalls: build
	@VM="$${CARGO_TARGET_DIR:-$(CURDIR)/target}/release/kvik" tests/stalls/run --table

# A build of its own, in which calls of the operating system can be made to fail.
faults: deps
	@scripts/setup tools
	cargo build -q --release -p kvik-cli -p kvik-bifs --features kvik-bifs/simulation \
		--config profile.release.lto=false --target-dir "$${CARGO_TARGET_DIR:-target}/simulation"
	@VM="$${CARGO_TARGET_DIR:-$(CURDIR)/target}/simulation/release/kvik" tests/faults/run

tools: build
	@scripts/setup programs
	@VM="$${CARGO_TARGET_DIR:-$(CURDIR)/target}/release/kvik" tests/tools/run --all

systems: build
	@scripts/setup systems
	@VM="$${CARGO_TARGET_DIR:-$(CURDIR)/target}/release/kvik" tests/systems/run --all

soak: build
	@VM="$${CARGO_TARGET_DIR:-$(CURDIR)/target}/release/kvik" tests/soak/run $(or $(DURATION),900)

soak-rabbitmq: build
	@scripts/setup systems
	@VM="$${CARGO_TARGET_DIR:-$(CURDIR)/target}/release/kvik" tests/systems/rabbitmq_soak $(or $(DURATION),5400)

fuzz:
	@for target in $(or $(TARGET),loader etf re packet); do scripts/fuzz $$target $(or $(DURATION),300) || exit 1; done

# A build of its own, which asserts before each instruction what the verifier claims.
fuzz-verifier:
	@scripts/setup tools
	cargo build -q --release -p kvik-cli -p kvik-jit --features kvik-jit/checked --target-dir "$${CARGO_TARGET_DIR:-target}/checked"
	@export VM="$${CARGO_TARGET_DIR:-$(CURDIR)/target}/checked/release/kvik" BUILD="$${CARGO_TARGET_DIR:-$(CURDIR)/target}/corrupt-checked"; \
		tests/corrupt/run --findings && \
		MUTATE=semantic FROM=$(or $(FROM),0) tests/corrupt/run $(or $(COUNT),20000)

# A build of its own: docs/internals/gc.md, "Stress".
stress-builds:
	@scripts/setup tools
	cargo build -q --release -p kvik-cli -p kvik-heap -p kvik-proc --features kvik-heap/tight,kvik-proc/short-turns --target-dir "$${CARGO_TARGET_DIR:-target}/stress"
	@export VM="$${CARGO_TARGET_DIR:-$(CURDIR)/target}/stress/release/kvik" BUILD="$${CARGO_TARGET_DIR:-$(CURDIR)/target}/random-stress"; \
		tests/random/run $(or $(COUNT),20000) $(or $(FROM),1000000)

loom:
	@RUSTFLAGS='--cfg loom' cargo test -q --release -p kvik-sync --lib --target-dir "$${CARGO_TARGET_DIR:-target}/loom"

miri:
	@scripts/miri

dist:
	@scripts/dist $(if $(FULL),full)

dist-test:
	@scripts/dist full
	@VM="$${CARGO_TARGET_DIR:-$(CURDIR)/target}/dist/build/release/kvik" tests/dist/run
	@tests/dist/run install
	@tests/dist/run reproduce

clean:
	cargo clean
	rm -rf report
