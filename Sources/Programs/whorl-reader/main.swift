// The reader process: libfprint or fprintd, served to the one peer at the other end of standard input.

internal import CSystemd
internal import Confinement
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
bindToStarter()

let starter = StarterConnection()
let reader: any FingerprintReader =
  switch selection {
  case .fprintd: FprintdReader(at: options.fprintd, through: starter)
  case .automatic:
    AutomaticReader(
      fprintd: FprintdReader(at: options.fprintd, through: starter), direct: LibfprintReader(nature: .physical))
  default: LibfprintReader(nature: selection.nature)
  }
let object = ReaderObject(serving: reader, to: starter, systemBus: options.systemBus)

// Before the first thread starts and before libfprint is first called. FprintdReader has looked up the name of this
// user by now, which may need a connection to a directory service.
do throws(ConfinementError) {
  try ReaderConfinement(for: selection, fprintd: options.fprintd, testbed: testbed).enter()
} catch {
  complain("cannot be confined: \(error.words)")
  exit(70)
}

do throws(BusError) {
  _ = try BusConnection(
    socket: 0, role: .server, handlers: .init(call: { object.handle($0) }, closed: { releaseAndExit(reader) }))
} catch {
  complain("standard input is no socket")
  exit(64)
}
MainContext.run()
