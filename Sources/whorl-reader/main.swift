// The reader process: libfprint or fprintd, served to the one peer at the other end of standard input.

internal import CSystemd
internal import Fingerprint
internal import Glibc
internal import ReaderBus
internal import ReaderService
internal import SDBus

// Before anything can look at it.
let testbed = takeEnvironment()

guard let options = ReaderProcessOptions(CommandLine.arguments.dropFirst()) else {
  complain("started by hand; it serves the programs that start it. usage: whorl-reader --reader READER <> SOCKET")
  exit(64)
}
let selection = options.selection

buildEnvironment(for: selection, isTraced: options.isTraced, testbed: testbed)
confineProcess()

let reader: any FingerprintReader =
  switch selection {
  case .fprintd: FprintdReader(at: options.fprintd)
  case .automatic:
    AutomaticReader(fprintd: FprintdReader(at: options.fprintd), direct: LibfprintReader(nature: .physical))
  default: LibfprintReader(nature: selection.nature)
  }
let object = ReaderObject(serving: reader, systemBus: options.systemBus)

do throws(BusError) {
  _ = try BusConnection(
    socket: 0, role: .server, handlers: .init(call: { object.handle($0) }, closed: { releaseAndExit(reader) }))
} catch {
  complain("standard input is no socket")
  exit(64)
}
MainContext.run()
