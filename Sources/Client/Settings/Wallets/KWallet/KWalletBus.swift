internal import SDBus

/// Asks KWallet's daemon for its state over a message bus. No secret is sent: any program of the user may own the bus
/// name.
struct KWalletBus {
  /// Such as `unix:path=/run/user/1000/bus`.
  let address: String
  let daemon: KWalletDaemon
  /// How long one answer may take.
  var limit = Duration.seconds(5)

  /// Whether the bus takes connections.
  var listens: Bool { (try? BusConnection(busAddress: address, handlers: .init()))?.close() != nil }

  /// Whether the wallet is open; nil if no daemon runs. Does not start one.
  ///
  /// A daemon that was started with a key tries it before it answers.
  func isOpen() async throws(WalletError) -> Bool? {
    do throws(BusError) {
      let connection = try BusConnection(busAddress: address, handlers: .init())
      defer { connection.close() }
      guard try await connection.owner(of: daemon.busName) != nil else { return nil }
      let target = BusTarget(destination: daemon.busName, path: daemon.path, interface: daemon.interface)
      switch try await connection.call(target, daemon.member, daemon.arguments, within: limit) {
      case [daemon.whenOpen]: return true
      case [daemon.whenClosed]: return false
      default: throw .malformed
      }
    } catch .system(let code) {
      throw .noAnswer("\(daemon.name) at \(address): \(BusError.system(code).words)")
    } catch {
      throw .noAnswer("\(daemon.name) at \(address): \(error.words)")
    }
  }
}
