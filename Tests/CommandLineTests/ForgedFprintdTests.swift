import Glibc
import ProgramDriver
import Testing

/// What a user can do who makes a user and a mount namespace: mount a bus of their own where the system's is.
@Suite("An fprintd that is forged in a namespace", .serialized)
struct ForgedFprintdTests {
  private static let forgedBus = """
    mount -t tmpfs none /run
    mkdir /run/dbus
    : > /run/dbus/system_bus_socket
    mount --bind "$1" /run/dbus/system_bus_socket
    """
  /// The link of the initial user namespace, which was opened before, in the place where a process finds its own.
  private static let forgedProc = """
    mount -t tmpfs none /mnt
    : > /mnt/namespace
    mount --bind /proc/self/fd/3 /mnt/namespace
    mount -t tmpfs none /proc
    mkdir -p /proc/self/ns
    : > /proc/self/ns/user
    mount --bind /mnt/namespace /proc/self/ns/user
    """

  @Test("is no physical reader, although its bus and its root look like the machine's")
  func forged() async throws {
    try await PrivateFprintd.with(.storage) { fprintd in
      let result = try await list(of: fprintd, after: Self.forgedBus)
      try #require(result.status == 0, "\(result.diagnostics)")
      #expect(result.text.contains(#""nature" : "virtual""#) || result.text.contains(#""nature":"virtual""#))
      #expect(!result.text.contains("physical"), "\(result.text)")
    }
  }

  @Test("nor where the way to ask for the namespace is forged, too")
  func forgedProc() async throws {
    try await PrivateFprintd.with(.storage) { fprintd in
      let result = try await list(of: fprintd, after: "\(Self.forgedBus)\n\(Self.forgedProc)")
      // Without a procfs the reader process cannot be started at all.
      #expect(!result.text.contains("physical"), "\(result.text)")
    }
  }

  private func list(of fprintd: PrivateFprintd, after preparation: String) async throws -> Invocation.Result {
    let script =
      "exec 3</proc/self/ns/user\nexec unshare --user --map-root-user --mount sh -ec \"$PREPARATION\" sh \"$@\""
    return try await withFolder { folder in
      try await Invocation(
        program: "/bin/sh",
        arguments: [
          "-ec", script, "sh", String(fprintd.bus.dropFirst("unix:path=".count)), try Programs.path("whorl"), "reader",
          "list", "--json", "--reader", "fprintd", "--store", "\(folder)/store",
        ],
        environment: ["PREPARATION": "\(preparation)\nshift\nexec \"$@\""]
      ).run()
    }
  }
}
