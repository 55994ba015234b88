/// Replaces the machine's fprintd by a private one, for programs in a mount namespace of their own. Its readers count
/// as physical there, since the user namespace is the machine's. Needs root.
package struct MachineFprintd: Sendable {
  package let fprintd: PrivateFprintd

  package init(_ fprintd: PrivateFprintd) { self.fprintd = fprintd }

  /// Makes a mount namespace, puts the bus and the template files in their places and runs the program.
  private static let script = """
    mount -t tmpfs none /run && mkdir /run/dbus && : >/run/dbus/system_bus_socket
    mount --bind "$1" /run/dbus/system_bus_socket
    mount -t tmpfs none /var/lib && mkdir /var/lib/fprint
    mount --bind "$2" /var/lib/fprint
    shift 2
    exec "$@"
    """

  /// The program and the words that run another program so.
  package static let program = "/usr/bin/unshare"

  package func words(_ command: [String]) -> [String] {
    let bus = String(fprintd.bus.dropFirst("unix:path=".count))
    return ["--mount", "/bin/sh", "-ec", Self.script, "sh", bus, fprintd.templates] + command
  }

  /// Whether this process may do that.
  package static func isPossible() async throws -> Bool {
    try await Invocation(program: program, arguments: ["--mount", "/bin/mount", "-t", "tmpfs", "none", "/run"]).run()
      .status == 0
  }
}
