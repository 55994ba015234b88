import Foundation
import Testing

@Suite("The snippet for Debian's Xsession")
struct XsessionTests {
  private static let snippet = Repository.root.appending(path: "data/xsession/80whorl-agent").path

  /// The variable after the snippet has run in a shell with `set -e`, like Xsession.
  ///
  /// - Parameter systemctl: the script of `systemctl`; nil where there is none.
  private func variable(_ systemctl: String?, _ environment: [String: String]) async throws -> String {
    try await withTemporaryFolder { folder in
      if let systemctl { try writeScript(systemctl, to: folder.appending(path: "systemctl")) }
      // The only other program that the snippet runs.
      try FileManager.default.createSymbolicLink(
        at: folder.appending(path: "timeout"), withDestinationURL: URL(fileURLWithPath: "/usr/bin/timeout"))
      let words = environment.merging(["PATH": "\(folder.path):\(folder.path)/none"]) { $1 }.map {
        "\($0.key)=\($0.value)"
      }
      let script = #"set -e; . "$1"; /usr/bin/env | /bin/grep "^SSH_AUTH_SOCK=" || :; echo "and on""#
      let result = try await run("/usr/bin/env", ["-i"] + words + ["/bin/sh", "-c", script, "Xsession", Self.snippet])
      #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
      #expect(result.output.hasSuffix("and on\n"), "the session goes on: \(result.output)")
      return String(result.output.dropLast("and on\n".count))
    }
  }

  private static let active = #"[ "$*" = "--user --quiet is-active whorl-agent.socket" ]"#

  @Test("the Xsession snippet exports the socket of whorl-agent where it listens and no other agent is named")
  func named() async throws {
    #expect(
      try await variable(Self.active, ["XDG_RUNTIME_DIR": "/run/user/7"])
        == "SSH_AUTH_SOCK=/run/user/7/whorl-agent\n")
    #expect(
      try await variable(Self.active, ["XDG_RUNTIME_DIR": "/run/user/7", "SSH_AUTH_SOCK": ""])
        == "SSH_AUTH_SOCK=/run/user/7/whorl-agent\n")
  }

  @Test("the Xsession snippet does nothing if another agent is named, or whorl-agent does not listen")
  func others() async throws {
    let place = ["XDG_RUNTIME_DIR": "/run/user/7"]
    #expect(
      try await variable(Self.active, place.merging(["SSH_AUTH_SOCK": "/other"]) { $1 }) == "SSH_AUTH_SOCK=/other\n")
    #expect(try await variable("echo no >&2; exit 3", place) == "")
    #expect(try await variable(nil, place) == "")
    #expect(try await variable(Self.active, [:]) == "")
  }

}
