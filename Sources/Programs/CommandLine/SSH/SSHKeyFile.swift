internal import CLinux
import CommandBase
import Glibc
import Primitives
import Processes
internal import SecretModel
import Settings
import Whorl

/// A file with a private key for SSH. The user's `ssh-add` reads it, in any format, and asks for its passphrase. This
/// program acts as the agent that gets the key.
struct SSHKeyFile {
  /// The environment variables that `ssh-add` needs.
  private static let passed = [
    "HOME", "PATH", "TERM", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS",
    "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES",
  ]
  /// The numbers of the messages (draft-ietf-sshm-ssh-agent).
  private static let (failure, success, identities, noIdentities, add): (UInt8, UInt8, UInt8, UInt8, UInt8) =
    (5, 6, 11, 12, 17)
  /// A key with constraints, such as the provider of a security key.
  private static let addConstrained: UInt8 = 25
  private static let messageLimit = 256 << 10

  private let path: String

  init(_ path: String) { self.path = path }

  /// What `ssh-add` sends to an agent.
  struct Contents {
    var privateKey: SharedSecret
    /// The user's certificate of the key in the file beside it (`NAME-cert.pub`); nil if there is none.
    var certificate: [UInt8]?
    /// Whether there is another certificate in that file, such as a host's.
    var hasOtherCertificate: Bool
  }

  func read(_ session: Session) async throws(Failure) -> Contents {
    let environment = UserEnvironment.entries
    let program = try Self.program(environment)
    let listener = try PrivateListener()
    let (child, entry): (ChildProcess, Unfinished.Entry)
    do throws(ChildStartError) {
      (child, entry) = try Unfinished.ofThisProgram.start { () throws(ChildStartError) in
        try ChildProcess(
          program, arguments: [program.path, "-q", "--", path],
          environment: Self.passed.flatMap { name in environment.filter { $0.hasPrefix("\(name)=") } }
            + ["SSH_AUTH_SOCK=\(listener.path)"],
          standardInput: STDIN_FILENO, keepsTerminal: true, showsDiagnostics: true)
      }
    } catch {
      throw Failure(.unavailable, "\(program.path): \(error.words)", advice: "install OpenSSH's client again")
    }
    Interruption.onSignal { _ = child.end(grace: .zero) }
    let offer = await Task(executorPreference: BackgroundThread()) { Self.offer(from: listener, child) }.value
    _ = await child.end(grace: .seconds(2)).value
    Interruption.onSignal(nil)
    Unfinished.ofThisProgram.forget(entry)
    if offer.isOnDevice {
      throw Failure(
        .usage, "\(path) stands for a key on a security key or a card, which never leaves that", name: "errSecParam",
        advice: "ssh uses it with that device, without Whorl")
    }
    guard let key = offer.key else {
      throw Failure(
        .notFound, "\(path): ssh-add has read no private key", name: "errSecItemNotFound",
        advice: "'ssh-keygen -y -f FILE' says whether it is one")
    }
    guard let certificate = offer.certificate, let publicKey = Self.publicKey(of: key),
      SSHKey.isCertificate(certificate, of: publicKey)
    else { return Contents(privateKey: key, certificate: nil, hasOtherCertificate: offer.certificate != nil) }
    return Contents(privateKey: key, certificate: certificate, hasOtherCertificate: false)
  }

  /// Finds `ssh-add` in `PATH`. Refuses one that anyone but root and the user could have put there.
  private static func program(_ environment: [String]) throws(Failure) -> HelperProgram {
    do throws(HelperProgram.NotFound) {
      return try HelperProgram.first(named: "ssh-add", in: environment)
    } catch {
      throw Failure(.unavailable, error.problem, advice: "install OpenSSH's client")
    }
  }

  /// What `ssh-add` has sent to the agent.
  private struct Offer: Sendable {
    var key: SharedSecret?
    var certificate: [UInt8]?
    /// Whether the key is on a device and not in the file.
    var isOnDevice = false
  }

  /// Answers `ssh-add` as an agent without keys, until it ends. Blocks.
  private static func offer(from listener: PrivateListener, _ child: ChildProcess) -> Offer {
    var offer = Offer()
    guard let socket = listener.accept(while: { !child.hasEnded }) else { return offer }
    defer { close(socket) }
    while let message = message(from: socket) {
      let type = message.bytes.withUnsafeBytes { $0[0] }
      var answer = SSHWriter()
      switch type {
      case add where offer.key == nil && !isCertificate(message):
        offer.key = message.bytes.withUnsafeBytes {
          SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[1...])))
        }
        answer.append(string: [success])
      case add where offer.key != nil && isCertificate(message):
        offer.certificate = certificate(in: message)
        answer.append(string: [success])
      case identities: answer.append(string: [noIdentities, 0, 0, 0, 0])
      case addConstrained where name(in: message).hasPrefix("sk-"):
        offer.isOnDevice = true
        answer.append(string: [failure])
      default: answer.append(string: [failure])
      }
      guard answer.bytes.withUnsafeBytes({ write(socket, $0.baseAddress, $0.count) }) == answer.bytes.count else {
        break
      }
    }
    return offer
  }

  private static func message(from socket: Int32) -> SharedSecret? {
    guard let header = try? SharedSecret(SecretBytes.read(from: socket, upTo: 4)), header.bytes.count == 4 else {
      return nil
    }
    let count = header.bytes.withUnsafeBytes { $0.reduce(0) { $0 << 8 | Int($1) } }
    guard (1...messageLimit).contains(count),
      let message = try? SharedSecret(SecretBytes.read(from: socket, upTo: count)),
      message.bytes.count == count
    else { return nil }
    return message
  }

  /// The name of the kind of key. A certificate comes after its key, with the same private key once more.
  private static func name(in message: SharedSecret) -> String {
    message.bytes.withUnsafeBytes { bytes in
      SSHFormat.string(in: bytes, at: 1).map { String(decoding: bytes[$0], as: UTF8.self) } ?? "-cert-"
    }
  }

  private static func isCertificate(_ message: SharedSecret) -> Bool { name(in: message).contains("-cert-") }

  /// The public key in SSH's form, from the fields of a private key as agents get it. Nil for other kinds of keys.
  private static func publicKey(of privateKey: SharedSecret) -> [UInt8]? {
    privateKey.bytes.withUnsafeBytes { bytes in
      var fields: [[UInt8]] = []
      var next = 0
      // The kind, and at most two fields of the public key; the fields after them are secret.
      while fields.count < 3, let field = SSHFormat.string(in: bytes, at: next) {
        let isPublic =
          switch (fields.first.map { String(decoding: $0, as: UTF8.self) }, fields.count) {
          case (nil, _), ("ssh-ed25519", 1), ("ssh-rsa", 1...2): true
          case (let kind?, 1...2): kind.hasPrefix("ecdsa-sha2-")
          default: false
          }
        guard isPublic else { break }
        fields.append(Array(bytes[field]))
        next = field.upperBound
      }
      // An agent gets the modulus of an RSA key first, and a public key has the exponent first.
      if fields.count == 3, fields[0] == Array("ssh-rsa".utf8) { fields.swapAt(1, 2) }
      guard fields.count > 1 else { return nil }
      var writer = SSHWriter()
      for field in fields { writer.append(string: field) }
      return writer.bytes
    }
  }

  /// The certificate, which follows its name.
  private static func certificate(in message: SharedSecret) -> [UInt8]? {
    message.bytes.withUnsafeBytes { bytes in
      guard let name = SSHFormat.string(in: bytes, at: 1),
        let certificate = SSHFormat.string(in: bytes, at: name.upperBound)
      else { return nil }
      return Array(bytes[certificate])
    }
  }
}

/// A socket in a folder that only this user can enter, removed with this object.
private final class PrivateListener: Sendable {
  let path: String
  private let folder: String
  private let entry: Unfinished.Entry
  private let descriptor: Int32

  init() throws(Failure) {
    func failure(_ what: String) -> Failure {
      .onFile(what, errno)
    }
    (folder, entry) = try Unfinished.ofThisProgram.make { () throws(Failure) in
      var template = Array("\(BaseDirectories.runtime)/whorl-ssh-XXXXXX".utf8CString)
      if mkdtemp(&template) == nil {
        template = Array("/tmp/whorl-ssh-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw failure("no folder for a socket") }
      }
      return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    } undo: { folder in
      unlink("\(folder)/agent")
      rmdir(folder)
    }
    path = "\(folder)/agent"
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
      throw Failure(
        .inputOutput, "\(path): the path of a socket has at most 107 bytes",
        advice: "set XDG_RUNTIME_DIR to a shorter one")
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let bound = withUnsafePointer(to: &address) {
      // bind: reads the address during the call
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard bound == 0, listen(descriptor, 1) == 0 else { throw failure(path) }
  }

  deinit {
    close(descriptor)
    unlink(path)
    rmdir(folder)
    Unfinished.ofThisProgram.forget(entry)
  }

  /// The first connection; nil if none comes while the condition holds.
  func accept(while condition: () -> Bool) -> Int32? {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while condition() {
      // Borrows the entry for the call.
      guard poll(&entry, 1, 100) > 0 else { continue }
      let socket = Glibc.accept(descriptor, nil, nil)
      if socket >= 0 { return socket }
    }
    return nil
  }
}
