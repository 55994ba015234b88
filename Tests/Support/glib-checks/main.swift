// Runs one check of GLibKit, for tests: glib-checks NAME. A program of its own, because the test runner does not link
// GLib. Prints what was found; `GLibKitTests` knows what is right.

internal import GLibKit
internal import Glibc

guard let check = Check(rawValue: CommandLine.arguments.dropFirst().first ?? "") else { exit(64) }
MainContextExecutor.runOnThread()
for line in await check.run() { print(line) }
