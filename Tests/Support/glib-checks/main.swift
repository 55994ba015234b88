// Runs one check of GLibKit: glib-checks NAME. A separate program, because the test runner does not link GLib. Prints
// the results, which `GLibKitTests` compares.

internal import Glibc
internal import ReaderService

guard let check = Check(rawValue: CommandLine.arguments.dropFirst().first ?? "") else { exit(64) }
MainContextExecutor.runOnThread()
for line in await check.run() { print(line) }
