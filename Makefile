# kvik: what a newcomer types. Each target does its own set-up.
.PHONY: help deps build test bench report conformance stalls tools systems soak soak-rabbitmq fuzz fuzz-verifier loom clean

help:
	@echo 'make test         build, and run everything CI runs'
	@echo 'make bench        the five experiments in a short form, on kvik, OTP and who else is there (under 5 minutes)'
	@echo 'make report       the five experiments in full (under 25 minutes)'
	@echo 'make build        target/release/kvik'
	@echo "make deps         find OTP 25's libraries, or unpack them into .otp/"
	@echo "make conformance  OTP's own test suites on kvik; all compiled code through the verifier (many hours)"
	@echo "make stalls       how long BIFs hold their scheduler, on kvik and on OTP"
	@echo 'make tools        rebar3, mix, dialyzer and others on kvik and on OTP, the long cases too (an hour)'
	@echo 'make systems      RabbitMQ and other systems from Debian, unmodified, on kvik and on OTP'
	@echo 'make soak         everything at once for 15 minutes (DURATION=120: two)'
	@echo 'make soak-rabbitmq  RabbitMQ under changing load and faults for 90 minutes (DURATION=600: ten)'
	@echo 'make fuzz         the four fuzz targets, 5 minutes each (TARGET=etf DURATION=1800: one of them, longer)'
	@echo 'make fuzz-verifier  code that no compiler made, on a machine that checks what the verifier proved (COUNT=20000)'
	@echo 'make loom         every order of steps that the threads under inboxes and sleep can take'

deps:
	@scripts/setup deps

build: deps
	@scripts/setup tools
	cargo build --release

test: deps
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
	@tests/verifier/run

stalls: build
	@VM="$${CARGO_TARGET_DIR:-$(CURDIR)/target}/release/kvik" tests/stalls/run --table

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

loom:
	@RUSTFLAGS='--cfg loom' cargo test -q --release -p kvik-sync --lib --target-dir "$${CARGO_TARGET_DIR:-target}/loom"

clean:
	cargo clean
	rm -rf report
