import Glibc
import ProgramDriver
import Testing

/// An attack by a user who makes a user and a mount namespace, and mounts a bus of their own over the system's.
@Suite("An fprintd that is forged in a user namespace", .serialized)
struct ForgedFprintdTests {
  private static let forgedBus = """
    mount -t tmpfs none /run
    mkdir /run/dbus
    : > /run/dbus/system_bus_socket
    mount --bind "$1" /run/dbus/system_bus_socket
    """
  /// Replaces procfs by a folder with the real entries that a program reads. Only the entry of its user namespace is
  /// that of the machine, opened before.
  private static let forgedProc = """
    mount -t tmpfs none /mnt
    mkdir /mnt/proc
    mount --rbind /proc /mnt/proc
    : > /mnt/namespace
    mount --bind /proc/self/fd/3 /mnt/namespace
    mount -t tmpfs none /proc
    mkdir -p /proc/self/ns
    for name in auxv cmdline environ exe fd maps stat status task; do ln -s /mnt/proc/self/$name /proc/self/$name; done
    : > /proc/self/ns/user
    mount --bind /mnt/namespace /proc/self/ns/user
    """

  @Test("a reader of an fprintd that is forged in a user namespace does not count as physical")
  func forged() async throws {
    try await PrivateFprintd.with(.storage) { fprintd in
      let result = try await list(of: fprintd, after: Self.forgedBus)
      try #require(result.status == 0, "\(result.diagnostics)")
      #expect(result.text.contains("virtual"))
      #expect(!result.text.contains("physical"), "\(result.text)")
    }
  }

  @Test("a user namespace other than the machine's is detected, also if procfs is forged")
  func forgedProc() async throws {
    let command = [try Programs.path("whorl-intruder"), "namespace"]
    let outside = try await Invocation(program: command[0], arguments: ["namespace"]).run()
    #expect(outside.text == "initial\n")
    for preparation in ["true", Self.forgedProc] {
      let inside = try await inNamespace(command, after: preparation)
      #expect(inside.text == "another\n", "\(inside.diagnostics)")
    }
  }

  private func list(of fprintd: PrivateFprintd, after preparation: String) async throws -> Invocation.Result {
    try await withFolder { folder in
      let command = [
        try Programs.path("whorl"), "reader", "list", "--json", "--reader", "fprintd", "--store", "\(folder)/store",
      ]
      return try await inNamespace(
        [String(fprintd.bus.dropFirst("unix:path=".count))] + command, after: "\(preparation)\nshift")
    }
  }

  /// Runs a script in a user and a mount namespace, with the command as its arguments.
  private func inNamespace(_ command: [String], after preparation: String) async throws -> Invocation.Result {
    let script = """
      exec 3</proc/self/ns/user
      exec unshare --user --map-root-user --mount sh -ec "$PREPARATION" sh "$@"
      """
    return try await Invocation(
      program: "/bin/sh", arguments: ["-ec", script, "sh"] + command,
      environment: ["PREPARATION": "\(preparation)\nexec \"$@\""]
    ).run()
  }
}
