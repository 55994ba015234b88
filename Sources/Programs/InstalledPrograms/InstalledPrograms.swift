// Nothing but a target that depends on the installed programs, so that one `swift build` builds them all and keeps every
// processor busy: it takes only the last of several `--product`, and a build for each program waits for one module after
// another (scripts/build).
