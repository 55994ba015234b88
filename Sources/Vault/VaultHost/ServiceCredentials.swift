import Glibc
import Primitives
package import VaultStore

/// The credentials that systemd gives the service (systemd.exec(5), `LoadCredentialEncrypted=`).
package struct ServiceCredentials: Sendable {
  /// The credential that the keys of stores are sealed under; nil if there is none.
  package private(set) var current: Credential?
  /// The previous one; nil if there is none.
  package private(set) var earlier: Credential?

  /// The names of the files, as in `whorld.service`.
  private enum Name {
    static let current = "whorl-key"
    static let earlier = "whorl-key-earlier"
    /// Added for the file of the credential before its decryption.
    static let encrypted = "-encrypted"
  }

  /// Reads the credentials.
  ///
  /// - Parameter folder: the value of `CREDENTIALS_DIRECTORY`; nil if systemd gave no credentials.
  /// - Throws: if a credential cannot protect keys, so that the service does not fall back to a lower tier.
  package init(in folder: String?) throws(ServiceSettingsError) {
    guard let folder else { return }
    current = try Self.read(Name.current, in: folder)
    earlier = try Self.read(Name.earlier, in: folder)
  }

  private static func read(_ name: String, in folder: String) throws(ServiceSettingsError) -> Credential? {
    let path = folder + "/" + name
    guard let descriptor = try open(path) else { return nil }
    defer { close(descriptor) }
    do {
      let secret = try SecretBytes.read(from: descriptor, limit: Credential.lengths.upperBound)
      return try Credential(secret, isSealedByTPM: isSealedByTPM(path + Name.encrypted))
    } catch VaultError.configuration(let problem) {
      throw ServiceSettingsError(path: path, problem: problem)
    } catch {
      throw ServiceSettingsError(path: path, problem: "it cannot be read: \(error)")
    }
  }

  /// Opens a file of this path; nil if there is none. The caller closes it.
  private static func open(_ path: String) throws(ServiceSettingsError) -> Int32? {
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor < 0 else { return descriptor }
    guard errno == ENOENT else { throw ServiceSettingsError(path: path, problem: String(cString: strerror(errno))) }
    return nil
  }

  /// The first characters of encrypted credentials that need a key of the TPM, alone or with the key in
  /// `/var/lib/systemd/credential.secret`: systemd's ids of the four kinds (`CRED_AES256_GCM_BY_…TPM2…`), in Base64.
  private static let startsOfTPM = [
    "DHzAexF2RZGcSwvqCLwg/", "+vfrk0HjQSyhpDb5Wik2L", "k6iUCUh0RJCQyvL8k8q1U", "r0lQqEkTTrGnOEYwT/MMB",
  ]

  /// Whether the credential's encrypted file needs the TPM. False if there is no such file, since a credential from
  /// elsewhere may be unprotected.
  private static func isSealedByTPM(_ path: String) throws(ServiceSettingsError) -> Bool {
    guard let descriptor = try open(path) else { return false }
    defer { close(descriptor) }
    var start = [UInt8](repeating: 0, count: 21)
    // read: writes at most as many bytes as it is told
    guard Glibc.read(descriptor, &start, start.count) == start.count else { return false }
    return startsOfTPM.contains(String(decoding: start, as: UTF8.self))
  }
}
