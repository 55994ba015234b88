// The reader process: serves libfprint or fprintd to one peer. That is the program that has started it, at the other
// end of standard input, or for a system unit a program that connects to its socket.

internal import CSystemd
internal import Glibc
internal import Primitives
internal import Processes
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

// Before any other code reads the environment.
let testbed = takeEnvironment()
buildEnvironment(for: selection, isTraced: options.isTraced, testbed: testbed)
if unit == nil { bindToStarter() }
hideMemory()

let starter = StarterConnection()
let sockets: any BusSocketSource = unit == nil ? starter : OwnBusSockets()
func reader(drivenBy adapter: ReaderAdapter) -> any FingerprintReader {
  switch adapter {
  case .fprintd: FprintdReader(at: options.fprintd, through: sockets)
  case .libfprint: LibfprintReader(nature: selection.nature)
  }
}
let reader = selection.adapter.map(reader(drivenBy:)) ?? AutomaticReader(reader(drivenBy:))
// For a unit, the peer handles the system's sleep.
let sleep = unit == nil ? SystemSleep(over: reader, systemBus: options.systemBus, through: sockets) : nil
let idle = unit == nil ? nil : IdleEnd(after: options.idleLimit) { releaseAndExit(reader) }
let observers: [(any ReaderUseObserver)?] = [sleep, idle]
let object = ReaderObject(serving: reader, observers: observers.compactMap { $0 })

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

// No client has connected: systemd starts the unit again for the next one.
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
  complain("descriptor 0 is not a socket")
  exit(64)
}
idle?.begin()
MainContext.run()
