// The reader process: libfprint, served to the one peer at the other end of standard input.

internal import CSystemd
internal import Fingerprint
internal import Glibc
internal import ReaderBus
internal import ReaderService
internal import SDBus

// Before anything can look at it.
let testbed = takeEnvironment()

let words = CommandLine.arguments
// The other bus is for tests, which put the machine to sleep on a bus of their own.
let namesBus = words.count == 5 && words[3] == "--system-bus"
guard words.count == 3 || namesBus, words[1] == "--reader", let selection = ReaderSelection(words[2]) else {
  complain("started by hand; it serves the programs that start it. usage: whorl-reader --reader READER <> SOCKET")
  exit(64)
}

buildEnvironment(for: selection, testbed: testbed)
confineProcess()

let reader = LibfprintReader(nature: selection.nature)
let object = ReaderObject(
  serving: reader, systemBus: namesBus ? words[4] : "unix:path=/run/dbus/system_bus_socket")

do throws(BusError) {
  _ = try BusConnection(
    socket: 0, role: .server, handlers: .init(call: { object.handle($0) }, closed: { releaseAndExit(reader) }))
} catch {
  complain("standard input is no socket")
  exit(64)
}
MainContext.run()
