import Glibc
import ProgramDriver

/// A real sshd with a key of its own, which `ssh` starts as its proxy command, so that it needs no port.
struct SSHServer {
  let name: String
  private let configuration: String
  private let knownHosts: String
  /// The line of this server in a file of known hosts.
  let knownHost: String
  /// The line of the authority that has certified its key, for all hosts; nil where it has no certificate.
  let authority: String?

  static var user: String {
    // The entry belongs to libc and is valid until the next call.
    getpwuid(getuid()).flatMap { $0.pointee.pw_name }.map { String(cString: $0) } ?? ""
  }

  /// - Parameters:
  ///   - authorized: the lines of `authorized_keys`.
  ///   - certificate: options of ssh-keygen that make a certificate of the server's key; nil for none.
  init(_ name: String, in folder: String, authorized: String, certificate: [String]? = nil) async throws {
    self.name = name
    let path = "\(folder)/\(name)"
    try await Invocation(program: "/usr/bin/ssh-keygen", arguments: ["-q", "-t", "ed25519", "-N", "", "-f", path]).run()
      .mustSucceed()
    let key = String(decoding: try readFile("\(path).pub"), as: UTF8.self)
    knownHost = "\(name) \(key.split(separator: " ").prefix(2).joined(separator: " "))\n"
    knownHosts = "\(path).known"
    var lines = [
      "HostKey \(path)", "AuthorizedKeysFile \(path).authorized", "StrictModes no", "UsePAM no", "PermitRootLogin yes",
      "PidFile none", "PrintMotd no", "PrintLastLog no", "UseDNS no", "PasswordAuthentication no",
      "KbdInteractiveAuthentication no",
    ]
    if let certificate {
      let signer = try await TestAuthority(at: "\(path).authority")
      try await signer.certify(path, ["-h"] + certificate)
      lines.append("HostCertificate \(path)-cert.pub")
      authority = signer.line("*")
    } else {
      authority = nil
    }
    try writeFile(knownHosts, Array((knownHost + (authority ?? "")).utf8))
    try writeFile("\(path).authorized", Array(authorized.utf8))
    configuration = "\(path).conf"
    try writeFile(configuration, Array(lines.map { "\($0)\n" }.joined().utf8))
    // sshd run by root needs this folder, which Debian makes when the service starts.
    if geteuid() == 0 { mkdir("/run/sshd", 0o755) }
  }

  /// The arguments of `ssh` for a command on this server.
  func arguments(_ command: String, _ options: [String] = []) -> [String] {
    [
      "-F", "none", "-o", "UserKnownHostsFile=\(knownHosts)", "-o", "GlobalKnownHostsFile=/dev/null", "-o",
      "StrictHostKeyChecking=yes", "-o", "BatchMode=yes", "-o", "PreferredAuthentications=publickey", "-o",
      "ProxyCommand=/usr/sbin/sshd -i -f \(configuration)",
    ] + (authority == nil ? [] : ["-o", "HostKeyAlgorithms=ssh-ed25519-cert-v01@openssh.com"]) + options + [
      "\(Self.user)@\(name)", command,
    ]
  }

  /// The shell command line for a command on this server.
  func shellCommand(_ command: String) -> String {
    "/usr/bin/ssh " + arguments(command).map { "'\($0)'" }.joined(separator: " ")
  }
}
