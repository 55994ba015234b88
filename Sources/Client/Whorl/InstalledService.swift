// The one way to the service of this machine.

internal import CLinux
internal import Glibc
package import Processes
internal import SDBus
package import SecretModel
internal import VaultBus

/// Finds the system service of this machine and connects to it. Its paths are fixed: neither the environment nor a
/// configuration changes them.
package struct InstalledService: Sendable {
  /// The file that marks the service as installed.
  private let marker: String
  /// The folder of the socket.
  private let folder: String
  private let trust: PathWalk.Trust

  package static let ofThisMachine = InstalledService(
    marker: "/etc/whorl/system", folder: "/run/whorl", trust: .rootAlone)

  /// - Parameters:
  ///   - marker: the path of the marker; tests use other paths and trust their own user.
  package init(marker: String, folder: String, trust: PathWalk.Trust) {
    self.marker = marker
    self.folder = folder
    self.trust = trust
  }

  private var socket: String { folder + "/bus" }

  /// Whether the service is installed: whether root has made the marker file.
  ///
  /// - Throws: `serviceUnavailable` where a user other than root could have made the marker, or it cannot be looked
  ///   for. A client must not fall back to a private vault then, since that is not a security boundary.
  package var isInstalled: Bool {
    get throws(VaultError) {
      guard unsafe access(marker, F_OK) == 0 || errno != ENOENT else { return false }
      do throws(PathWalkError) {
        try PathWalk.check(marker, trusting: trust)
        return true
      } catch {
        throw .serviceUnavailable("cannot find out whether the service is installed: \(error.words(for: marker))")
      }
    }
  }

  /// Connects to the service, which systemd starts if it is not running.
  ///
  /// - Throws: `serviceStopped`, `serviceUnavailable`, `busy`.
  package func connect() throws(VaultError) -> any VaultConnection {
    guard BusLoop.shared.isInThisProcess else { throw .forkedProcess }
    // A user who can make files in the folder could listen in place of the service.
    do throws(PathWalkError) {
      try PathWalk.check(folder, trusting: trust)
    } catch {
      guard case .missing(let code) = error else {
        throw .serviceUnavailable("the service is installed and cannot be trusted: \(error.words(for: folder))")
      }
      throw .serviceStopped(unsafe "\(folder): \(String(cString: strerror(code)))")
    }
    let connected: BusDescriptor
    do throws(BusError) {
      connected = try .connected(toBus: BusAddress.of(socketAt: socket))
    } catch .system(EAGAIN) {
      throw .busy("too many programs wait for the service")
    } catch {
      let reason = if case .system(let code) = error { unsafe String(cString: strerror(code)) } else { "\(error)" }
      throw .serviceStopped("\(socket): \(reason)")
    }
    // systemd listens for the service.
    let listener = whorl_socket_peer_user(connected.rawValue)
    guard listener == 0 || trust == .rootAndEffectiveUser && listener == geteuid() else {
      throw .serviceUnavailable("user \(listener) listens at \(socket) in the place of root")
    }
    let socket = fcntl(connected.rawValue, F_DUPFD_CLOEXEC, 3)
    guard socket >= 0 else { throw .serviceUnavailable("no descriptor is left for the service") }
    return try VaultBusClient(socket: socket, vaultEnd: { "'systemctl status whorld' tells more" })
  }
}

extension PathWalkError {
  fileprivate func words(for path: String) -> String {
    switch self {
    case .missing(let code): unsafe "\(path): \(String(cString: strerror(code)))"
    case .untrusted(let component, .owner(let user)): "user \(user) owns \(component), which has to be root's"
    case .untrusted(let component, .writableByAnybody), .untrusted(let component, .writableByGroup):
      "others than root can write to \(component)"
    }
  }
}
