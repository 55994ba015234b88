import ArgumentParser
import CommandBase
import FoundationEssentials
internal import Primitives
internal import Prompts
internal import SecretModel
import Settings

struct SSHCertificate: Command {
  static let configuration = CommandConfiguration(
    commandName: "certificate",
    abstract: "Keep a certificate with a key for SSH.",
    discussion: """
      The file is what ssh-keygen -s or your authority has made of the key's public half. whorl-agent lists the certificate \
      beside its key, so that ssh tries it at every server. It takes the place of an earlier one, and asks for what the key \
      requires, such as a touch.

      'ssh -o CertificateFile=FILE' needs no certificate to be kept.

      Examples:
        whorl ssh public work > work.pub
        whorl ssh certificate work work-cert.pub
        whorl ssh certificate work --remove
      """)

  static let spoken = "ssh certificate"

  /// The longest file of a certificate, in bytes.
  private static let longest = 64 << 10

  @OptionGroup var options: GlobalOptions

  @Argument(help: ArgumentHelp("The name of the key, or its id.", valueName: "name"), completion: .sshKeyNames)
  var name: String

  @Argument(help: ArgumentHelp("The file with the certificate.", valueName: "file"), completion: .file())
  var file: String?

  @Flag(help: "Remove the certificate that is kept.")
  var remove = false

  func validate() throws {
    guard (file == nil) == remove else { throw ValidationError("name the file of a certificate, or --remove.") }
  }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let key = try await StoredKeys<SSHKey>(in: session.openStore()).named([name])[0]
    let certificate: [UInt8]? = if let file { try Self.certificate(in: file, of: key) } else { nil }
    // The item may hold bytes that do not count as a certificate of the key, so they are always removed.
    guard remove || certificate != key.certificate else { return }
    let change = SSHKey.change(certificate: certificate)
    let name = Visible.text(key.name)
    _ = try await session.asking(
      session.answers(),
      reason: certificate == nil
        ? "remove the certificate of the SSH key \(name)" : "keep a certificate of the SSH key \(name)"
    ) { try await $0.update(.ids([key.id]), change, secret: nil, $1) }
  }

  private static func certificate(in file: String, of key: SSHKey) throws(Failure) -> [UInt8] {
    let bytes: [UInt8]
    do throws(SmallFile.Failure) {
      bytes = try SmallFile.read(file, limit: longest)
    } catch {
      throw Failure(.notFound, "\(file): \(error.problem)", advice: "name the file of the certificate")
    }
    // The kind, the certificate and a comment, as for a public key.
    let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard words.count >= 2, let certificate = Data(base64Encoded: String(words[1])).map({ Array($0) }),
      SSHKey.isCertificate(certificate, of: key.publicKey)
    else {
      throw Failure(
        .damaged, "\(file): not a user's certificate of the SSH key \(Visible.text(key.name))",
        advice: "'ssh-keygen -L -f FILE' shows what it is")
    }
    return certificate
  }
}
