// Only a target that depends on the installed programs, so that one `swift build` builds them all in parallel: it
// accepts only one `--product`, and separate builds are slower (scripts/build).
