internal import Glibc
internal import ReaderBus
internal import SDBus
internal import Synchronization

/// Connects to the message buses that a reader process may use and passes the sockets to it, because the process is
/// confined and cannot connect itself.
final class BusSockets: Sendable {
  /// The maximum number of sockets for one process. It needs one for logind, and one for each connection to fprintd,
  /// which exits after half a minute without clients.
  private static let limit = 1_000

  private let addresses: Set<String>
  private let count = Mutex(0)

  /// - Parameter addresses: the addresses that the process may request.
  init(to addresses: Set<String>) {
    self.addresses = addresses
  }

  /// For ``BusConnection/Handlers/call``.
  func answer(_ call: BusCall) {
    let target = ReaderStarterInterface.target
    guard call.path == target.path, call.interface == target.interface,
      call.member == ReaderStarterInterface.connectToBus
    else { return call.fail("org.freedesktop.DBus.Error.UnknownMethod", "no such member") }
    guard call.signature == ReaderStarterInterface.connectToBusArguments, let address = call.arguments.first?.asString
    else { return call.fail("org.freedesktop.DBus.Error.InvalidArgs", "takes an address") }
    guard addresses.contains(address) else {
      return call.fail("org.freedesktop.DBus.Error.AccessDenied", "not a bus of this process's")
    }
    let isWithinLimit = count.withLock {
      $0 += 1
      return $0 <= Self.limit
    }
    guard isWithinLimit else {
      return call.fail("org.freedesktop.DBus.Error.LimitsExceeded", "asked for too many connections")
    }
    do throws(BusError) {
      call.answer([.descriptor(try .connected(toBus: address))])
    } catch {
      let reason = if case .system(let code) = error { String(cString: strerror(code)) } else { "\(error)" }
      call.fail("org.freedesktop.DBus.Error.NoServer", "no bus at \(address): \(reason)")
    }
  }
}
