internal import Glibc

/// Gives the user of this process another login password, in a mount namespace: mounts a file of the test over the
/// shadow file that the real `unix_chkpwd` reads.
package struct LoginAccount {
  /// The hashes of crypt(3) of the passwords that tests use.
  private static let hashes = [
    "open sesame, please":
      "$6$rounds=1000$whorltests$mpJValOFTiHRneC8pdcr76WnzrhbEMgXPYoRcUwOZuIIHf0tX1pW7XeAeYJZfIyKGbFE/Bu/l1HSgot7NV2MR/",
    TestStore.passcode:
      "$6$rounds=1000$whorltests$T1Xrnk9F.p7oq5wuYn5g6Toljs3lArxAGjBoGhVVbkWawuoZ4Ooh1L/YCumA498hTvJsA7yjc3Kht2bWonlWH1",
    weakPassword:
      "$6$rounds=1000$whorltests$f3s6RaD4sTHyoDgVc.O9PppHa3u8lea6oMIzoiovTe9HTOA6Uzj8cNFNW68cygevZMNq5s4iZOhOOy7mXyhzK0",
  ]
  package static let password = "open sesame, please"
  /// One that is easy to find by trying.
  package static let weakPassword = "sunshine7"

  /// Needs root: the mounted files must belong to root.
  package static func isPossible() async throws -> Bool {
    guard getuid() == 0, access("/usr/sbin/unix_chkpwd", X_OK) == 0 else { return false }
    return try await Sandboxed.isPossible()
  }

  /// The files that are mounted over the machine's: shadow, and passwd.
  private let folder: String

  /// - Parameter isHere: whether the password is in the machine's own files rather than a directory service.
  package init(_ password: String, isHere: Bool = true, in folder: String) throws {
    self.folder = folder
    guard let hash = Self.hashes[password] else { throw SystemFailure("a hash of the password", ENOENT) }
    try writeFile("\(folder)/shadow", Array("root:\(hash):19000:0:99999:7:::\n".utf8))
    chmod("\(folder)/shadow", 0o600)
    try writeFile("\(folder)/passwd", Array("root:\(isHere ? "x" : "*"):0:0:root:/root:/bin/sh\n".utf8))
    chmod("\(folder)/passwd", 0o644)
  }

  /// Makes the machine of ``words(_:with:)`` one whose logins are reported to Whorl.
  package func reportLogins() throws {
    guard mkdirPrivate("\(folder)/security") else { throw SystemFailure("security") }
    try writeFile("\(folder)/security/pam_whorl.so", [])
    let stack = "auth required pam_unix.so\nsession required pam_systemd.so\nsession optional pam_whorl.so\n"
    try writeFile("\(folder)/pam-login", Array(stack.utf8))
  }

  /// The words after `unshare` that run `whorl` there with a service that this process serves.
  ///
  /// - Parameter service: the folder of the service's socket.
  package func words(_ arguments: [String], with service: String) throws -> [String] {
    // Uses a copy of /etc, to make the service's marker file in it. Stays in the initial user namespace, since clients
    // look for the marker only there.
    let script = #"""
      if [ ! -e "$0/etc" ]; then cp -a /etc "$0/etc" && mkdir -p "$0/etc/whorl" && : >"$0/etc/whorl/system"; fi &&
      if [ -e "$0/security" ]; then
        cp "$0/pam-login" "$0/etc/pam.d/login"
        for place in /usr/lib/*/security; do mount --bind "$0/security" "$place"; done
      fi &&
      mount --bind "$0/etc" /etc && mount --bind "$0/shadow" /etc/shadow && mount --bind "$0/passwd" /etc/passwd &&
      mount -t tmpfs none /run && mkdir /run/whorl && mount --bind "$1" /run/whorl && shift && exec "$@"
      """#
    return ["-m", "/bin/sh", "-c", script, folder, service, try Programs.path("whorl")] + arguments
  }

  /// The words after `unshare` that run `whorl` there.
  package func words(_ arguments: [String]) throws -> [String] {
    let script =
      #"mount --bind "$0/shadow" /etc/shadow && mount --bind "$0/passwd" /etc/passwd && exec "$@""#
    return ["-rm", "/bin/sh", "-c", script, folder, try Programs.path("whorl")] + arguments
  }

  /// Runs `whorl` there.
  ///
  /// - Parameter descriptors: the contents of descriptors 3, 4 and so on. A `|` ends a line.
  package func whorl(
    _ arguments: [String], _ descriptors: [String] = [], environment: [String: String] = [:]
  ) async throws -> Invocation.Result {
    try await Invocation(
      program: "/usr/bin/unshare", arguments: words(arguments),
      descriptors: descriptors.map {
        $0.split(separator: "|", omittingEmptySubsequences: false).map { $0 + "\n" }.joined()
      }, environment: environment
    ).run()
  }
}
