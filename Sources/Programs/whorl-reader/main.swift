// The reader process: libfprint or fprintd, served to one peer: the program that has started it, at the other end of
// standard input, or one that connects to its socket as a unit of the system.

internal import CSystemd
internal import Confinement
internal import Fingerprint
internal import Glibc
internal import ReaderBus
internal import ReaderService
internal import SDBus

guard let options = ReaderProcessOptions(CommandLine.arguments.dropFirst()) else {
  complain("started by hand; it serves the programs that start it. usage: whorl-reader --reader READER <> SOCKET")
  exit(64)
}
let selection = options.selection

let unit = options.unitPeer.map { peer -> UnitSocket in
  if let socket = UnitSocket(servingUser: peer) { return socket }
  complain("systemd has passed no listening socket, or there is no user \(peer)")
  exit(64)
}

// Before anything can look at it.
let testbed = takeEnvironment()
buildEnvironment(for: selection, isTraced: options.isTraced, testbed: testbed)
if unit == nil { bindToStarter() }
hideMemory()

let starter = StarterConnection()
let sockets: any BusSocketSource = unit == nil ? starter : OwnBusSockets()
let reader: any FingerprintReader =
  switch selection {
  case .fprintd: FprintdReader(at: options.fprintd, through: sockets)
  case .automatic:
    AutomaticReader(
      fprintd: FprintdReader(at: options.fprintd, through: sockets), direct: LibfprintReader(nature: .physical))
  default: LibfprintReader(nature: selection.nature)
  }
// The peer of a unit follows the system's sleep for it.
let sleep = unit == nil ? SystemSleep(over: reader, systemBus: options.systemBus, through: sockets) : nil
let idle = unit == nil ? nil : IdleEnd(after: options.idleLimit) { releaseAndExit(reader) }
let object = ReaderObject(serving: reader, sleep: sleep, idle: idle)

// Before the first thread starts and before libfprint is first called. FprintdReader has looked up the name of this
// user by now, which may need a connection to a directory service.
do throws(ConfinementError) {
  try ReaderConfinement(
    for: selection, fprintd: options.fprintd, role: unit == nil ? .child : .unit, testbed: testbed
  ).enter()
} catch {
  complain("cannot be confined: \(error.words)")
  exit(70)
}

// Nobody came: systemd starts the unit anew when somebody does.
guard let socket = unit.map({ $0.accept(within: options.idleLimit) }) ?? 0 else { exit(0) }
do throws(BusError) {
  _ = try BusConnection(
    socket: socket, role: .server,
    handlers: .init(
      call: { call in
        starter.use(call.connection)
        object.handle(call)
      },
      closed: { releaseAndExit(reader) }))
} catch {
  complain("the socket is none")
  exit(64)
}
idle?.begin()
MainContext.run()
