# The front door. `make` alone lists what there is; a recipe longer than a line or two is a script in scripts/.

PREFIX ?= /usr/local
DESTDIR ?=
SYSTEM ?= 0
UDEV_RULES_DIR ?= /etc/udev/rules.d

# Swift is taken from PATH first, then from the places its own installers use.
export PATH := $(PATH):$(HOME)/.local/share/swiftly/bin:/opt/swift/usr/bin:/usr/libexec/swift/bin
export PREFIX DESTDIR SYSTEM UDEV_RULES_DIR

SWIFT_FILES = $(wildcard Package.swift Sources Tests Benchmarks Examples)
UDEV_RULES = 70-whorl-reader.rules

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup demo examples test lint format bench docs campaign system-test build install uninstall udev install-udev uninstall-udev clean

help: ## list these targets
	@awk -F ': [^#]*## ' '/^[a-z-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: ## install what the build and the tests need (Debian, Ubuntu) or name it; checks the Swift version
	@scripts/setup build test

demo: build ## the whole story with a synthetic finger, or your own reader: enrol, store, refuse, release
	@scripts/setup demo
	@scripts/demo .build/release

examples: setup ## build Examples/ as a package of its own and run its programs with synthetic fingers
	@scripts/examples

test: setup ## build everything and run all tests (FILTER=NAME for some of them)
	@scripts/test $(if $(FILTER),--filter '$(FILTER)')

lint: ## check the format of every Swift file, every script and every workflow; changes nothing
	@scripts/setup lint
	swift format lint --strict --recursive --parallel $(SWIFT_FILES)
	shellcheck .ci/run udev/generate $(filter-out %.txt,$(wildcard scripts/*)) Tests/System/common.sh
	yamllint --strict --config-file .yamllint .github .spi.yml

format: ## put every Swift file into the one format
	swift format --in-place --recursive --parallel $(SWIFT_FILES)

bench: build ## measure beside GNOME Keyring and pass; installs these for the comparison
	@scripts/setup bench
	@scripts/bench

docs: setup ## the documentation of the libraries in .build/docs; a warning fails it
	@scripts/docs

campaign: setup ## the test suite with its long forms: fuzzing, kills and snapshots by the thousand
	@WHORL_CAMPAIGN=1 scripts/test $(if $(FILTER),--filter '$(FILTER)')

system-test: build ## install in a Debian booted in a folder and tell the stories of Tests/System there; as root
	@scripts/setup system
	@scripts/system-test $(STORY)

build: setup ## release build of the programs in .build/release
	@scripts/build

install: ## install the programs under PREFIX (default /usr/local); SYSTEM=1 with the system service; DESTDIR for packagers
	@scripts/install

uninstall: ## remove what install put there
	@scripts/uninstall

udev: ## write the udev rule for the readers of the installed libfprint to .build/udev, to look at
	@mkdir -p .build/udev && udev/generate >.build/udev/$(UDEV_RULES) && echo "wrote .build/udev/$(UDEV_RULES)"

install-udev: ## let the user of the active seat reach the reader (and that user's other programs: udev/README.md)
	@scripts/install-udev $(UDEV_RULES)

uninstall-udev: ## remove that rule
	@scripts/uninstall-udev $(UDEV_RULES)

clean: ## remove everything that was built
	rm -rf .build
