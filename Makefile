# `make` alone lists the targets. A recipe of more than a line or two is a script in scripts/.

PREFIX ?= /usr/local
DESTDIR ?=
SYSTEM ?= 0
UDEV_RULES_DIR ?= /etc/udev/rules.d

# Swift is searched in PATH first, then where its installers put it.
export PATH := $(PATH):$(HOME)/.local/share/swiftly/bin:/opt/swift/usr/bin:/usr/libexec/swift/bin
export PREFIX DESTDIR SYSTEM UDEV_RULES_DIR

SWIFT_FILES = $(wildcard Package.swift Sources Tests Benchmarks Examples)
UDEV_RULES = 70-whorl-reader.rules
# The targets of programs that serve for days (docs/decisions/0149). The window begins its tasks with
# MainLoop.begin; Settings works for commands and the window.
SERVING = Sources/Common Sources/Reader Sources/Session Sources/Vault \
  $(filter-out %/Settings,$(wildcard Sources/Client/*)) \
  $(filter-out %/CommandLine %/CommandBase %/whorl-reader-kit %/whorl-gtk,$(wildcard Sources/Programs/*))

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup demo examples test check lint format bench docs campaign fuzz system-test machine-test pictures hardware-test deb deb-source rpm dist api-changes release reproducible build install install-window uninstall udev install-udev uninstall-udev clean

help: ## list these targets
	@awk -F ': [^#]*## ' '/^[a-z-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: ## install what the build and the tests need (Debian, Ubuntu) or list it; checks the Swift version
	@scripts/setup build test

demo: setup ## demonstrate Whorl with a synthetic finger, or your own reader: enrol, store, refuse, release
	@scripts/setup demo
	@swift build --target InstalledPrograms
	@scripts/demo .build/debug

examples: setup ## build Examples/ as a package of its own and run its programs with synthetic fingers; ARCHIVE=yes: from `make dist`
	@scripts/examples $(if $(ARCHIVE),--archive)

test: setup ## build everything and run all tests (FILTER=NAME for some of them)
	@scripts/test $(if $(FILTER),--filter '$(FILTER)')

check: ## build and run one test target only: T=TARGET [FILTER=NAME]; FILE=PATH names the target for a changed file
	@scripts/check $(if $(T),'$(T)' '$(FILTER)',$(if $(FILE),--file $(FILE)))

lint: ## check the format of every Swift file, script and workflow, and the structure of the sources; changes nothing
	@scripts/setup lint
	swift format lint --strict --recursive --parallel $(SWIFT_FILES)
	shellcheck .ci/run udev/generate $(filter-out %.txt %.py,$(wildcard scripts/*)) Tests/System/*.sh Tests/Machine/make-guest Tests/Machine/*.sh Tests/Session/fido-suites/run packaging/debian/*.p* packaging/arch/whorl.install data/git/git-credential-whorl data/docker/docker-credential-whorl data/gpg/pinentry-whorl data/age/age-plugin-whorl data/xsession/* data/browser/browser-whorl
	mandoc -T lint -W warning data/man/*.[1-8] Tests/System/*.8
	yamllint --strict --config-file .yamllint .github .spi.yml
	python3 -m json.tool .devcontainer/devcontainer.json /dev/null
	scripts/translations.py check
	scripts/house --quiet
	python3 scripts/borders.py
	@! grep -rnE '(^|[^[:alnum:]])Task(\.detached|\.immediate)?( \{|\(priority)|Task\.sleep\(|DispatchQueue\.global|attributes: \.concurrent' --include=*.swift $(SERVING) || \
	  { echo "lint: name an executor, or use Pause or BlockingCall (docs/decisions/0149)"; exit 1; }

format: ## format every Swift file
	swift format --in-place --recursive --parallel $(SWIFT_FILES)

bench: build ## compare with GNOME Keyring and pass, and measure the service in a booted Debian; installs what that needs
	@scripts/setup bench system
	@scripts/bench
	@scripts/system-test service-speed

docs: setup ## build the documentation of the libraries in .build/docs; a warning is an error
	@scripts/docs

campaign: setup ## the long versions of the tests, on the release programs: thousands of fuzzed inputs, kills and snapshots
	@scripts/build
	@STALL=60 WHORL_CAMPAIGN=1 WHORL_PROGRAMS=$(CURDIR)/.build/release scripts/test $(if $(FILTER),--filter '$(FILTER)')

fuzz: setup ## hostile and random messages against the vault and the PAM module, in builds with AddressSanitizer
	@scripts/fuzz-sanitized
	@scripts/fuzz-pam-module

system-test: deb ## install in a Debian booted in a folder and run the stories of Tests/System there; as root (RELEASE=SUITE)
	@scripts/setup system
	@scripts/system-test $(STORY)

machine-test: deb ## install in a Debian with a kernel of its own, in QEMU, and run the stories of Tests/Machine there; as root
	@scripts/setup system machine
	@scripts/machine-test $(STORY)

pictures: build ## make the pictures in docs/pictures, in a session of a Debian booted in a folder; as root
	@scripts/setup system
	@scripts/pictures

hardware-test: build ## test readers: the virtual ones, and the attached one with your own fingers
	@BIN=.build/release scripts/whorl-tests

deb: $(if $(RELEASE),setup,build) ## Debian packages in .build/packages, checked by lintian; RELEASE=trixie for another release; as root
	@scripts/setup $(if $(RELEASE),system,deb)
	@$(if $(RELEASE),,scripts/build whorl-gtk)
	@$(if $(RELEASE),scripts/deb-for '$(RELEASE)',scripts/deb)

deb-source: ## source package for Debian of the last commit in .build/deb-source, checked by lintian; BUILD=sid builds it there
	@scripts/setup deb $(if $(BUILD),system)
	@scripts/deb-source
	@$(if $(BUILD),scripts/build-source-package '$(BUILD)')

rpm: build ## RPM packages in .build/packages, checked by rpmlint; with the SELinux module
	@scripts/setup rpm
	@scripts/build whorl-gtk
	@scripts/rpm

dist: ## source archive of the last commit, with its dependencies, in .build/dist; the same commit gives the same bytes
	@scripts/dist

api-changes: ## what would break programs that use the libraries since the last release (or since COMMIT)
	@scripts/api-changes $(COMMIT)

release: ## sign and tag the last commit as VERSION=0.1.0, with packages, apt repository and checksums; UNSIGNED=yes
	@scripts/setup release system deb
	@scripts/release $(if $(UNSIGNED),--unsigned) '$(VERSION)'

reproducible: setup ## build the Debian packages twice, in different places and times, and compare them; REBUILD=no only packs twice
	@scripts/setup deb reproducible
	@scripts/reproducible

build: setup ## release build of the programs in .build/release
	@scripts/build

install: ## install the programs under PREFIX (default /usr/local); SYSTEM=1 with the system service; DESTDIR for packagers
	@scripts/install

install-window: build ## install the window (GTK 4, libadwaita) beside the programs, under the same PREFIX
	@scripts/setup window
	@scripts/build whorl-gtk
	@scripts/install-window

uninstall: ## remove what install put there
	@scripts/uninstall

udev: ## write the udev rule for the readers of the installed libfprint to .build/udev, for inspection
	@mkdir -p .build/udev && udev/generate >.build/udev/$(UDEV_RULES) && echo "wrote .build/udev/$(UDEV_RULES)"

install-udev: ## let all programs of the user at the active seat open the reader (udev/README.md)
	@scripts/install-udev $(UDEV_RULES)

uninstall-udev: ## remove that rule
	@scripts/uninstall-udev $(UDEV_RULES)

clean: ## remove everything that was built
	rm -rf .build
