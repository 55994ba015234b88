import Foundation
import Keys
import Primitives
import Testing

@Suite("Certificates of OpenSSH")
struct SSHCertificateTests {
  private static let kinds = ["ed25519", "ecdsa -b 256", "ecdsa -b 384", "ecdsa -b 521", "rsa -b 2048"]
  private static let now = UInt64(Date.now.timeIntervalSince1970)

  /// Has ssh-keygen make a certificate.
  private func made(
    _ options: String, key: String = "ed25519", authority: String = "ed25519"
  ) throws -> (certificate: [UInt8], key: [UInt8], authority: [UInt8]) {
    let commands = [
      "-q -t \(authority) -N NONE -f authority", "-q -t \(key) -N NONE -f key",
      "-q -s authority -I id \(options) key.pub",
    ]
    return try SSHKeygen.run(commands) {
      (try $0.bytes("key-cert.pub"), try $0.bytes("key.pub"), try $0.bytes("authority.pub"))
    }
  }

  @Test("OpenSSH's certificates are read for all kinds of keys", arguments: kinds)
  func keys(_ kind: String) throws {
    try check(key: kind, authority: "ed25519")
  }

  @Test("OpenSSH's certificates are verified for all kinds of authorities", arguments: kinds)
  func authorities(_ kind: String) throws {
    try check(key: "ed25519", authority: kind)
  }

  private func check(key: String, authority: String) throws {
    let made = try made("-h -n host.test,other.test -V -1m:+1h", key: key, authority: authority)
    let certificate = try SSHCertificate(made.certificate)
    #expect(try certificate.key.ssh == made.key)
    #expect(try certificate.authority.ssh == made.authority)
    #expect(certificate.principals == ["host.test", "other.test"])
    #expect(certificate.isForHost(at: Self.now))
    #expect(try PublicKey(ssh: made.certificate).ssh == made.key)
    #expect(throws: KeysError.self) { try SSHCertificate(made.key) }
  }

  @Test("an OpenSSH certificate for a user is not for a host")
  func users() throws {
    let certificate = try SSHCertificate(try made("-n alice").certificate)
    #expect(certificate.principals == ["alice"])
    #expect(!certificate.isForHost(at: Self.now))
  }

  @Test("an OpenSSH certificate is valid from its start until just before its end")
  func validity() throws {
    let certificate = try SSHCertificate(try made("-h -n host.test -V 20300101000000Z:20300102000000Z").certificate)
    let start: UInt64 = 1_893_456_000
    let times: [UInt64] = [0, start - 1, start, start + 86_399, start + 86_400, .max]
    #expect(times.map { certificate.isForHost(at: $0) } == [false, false, true, true, false, false])
    let always = try SSHCertificate(try made("-h -n host.test").certificate)
    #expect(always.isForHost(at: 0) && always.isForHost(at: .max - 1))
  }

  @Test("an OpenSSH certificate that is changed, truncated or extended is invalid")
  func tampered() throws {
    let whole = try made("-h -n host.test").certificate
    for place in whole.indices {
      var bytes = whole
      bytes[place] ^= 1
      #expect(throws: KeysError.self, "byte \(place)") { try SSHCertificate(bytes) }
      #expect(throws: KeysError.self) { try SSHCertificate(Array(whole.prefix(place))) }
    }
    #expect(throws: KeysError.self) { try SSHCertificate(whole + [0]) }
  }

  @Test("an OpenSSH certificate that an authority signed with SHA-1 is invalid")
  func sha1() throws {
    let authority = "rsa -b 2048"
    for (algorithm, isRead) in [("ssh-rsa", false), ("rsa-sha2-256", true), ("rsa-sha2-512", true)] {
      let bytes = try made("-h -n host.test -t \(algorithm)", authority: authority).certificate
      #expect(((try? SSHCertificate(bytes)) != nil) == isRead, "\(algorithm)")
    }
  }

  /// A certificate with fields that ssh-keygen does not write.
  ///
  /// - Parameters:
  ///   - isNamed: whether it begins as a certificate, or as a key.
  ///   - authority: what it names as the authority's key, made from the key that signs.
  private func own(
    isNamed: Bool = true, type: UInt32 = 2, principals: [String] = ["host.test"], critical: [UInt8] = [],
    authority: (PublicKey) throws -> [UInt8] = { try $0.ssh }
  ) throws -> [UInt8] {
    let signer = try PrivateKey.generate(.ed25519)
    var names = SSHWriter()
    for principal in principals { names.append(text: principal) }
    var writer = beginning(try PrivateKey.generate(.ed25519).publicKey, isNamed: isNamed)
    for number: UInt32 in [0, 0, type] { writer.append(number: number) }
    writer.append(text: "id")
    writer.append(string: names.bytes)
    for number: UInt32 in [0, 0, .max, .max] { writer.append(number: number) }
    writer.append(string: critical)
    writer.append(string: [])
    writer.append(string: [])
    writer.append(string: try authority(signer.publicKey))
    let signature = try signer.sign(writer.bytes, .ed25519)
    writer.append(string: SSHSignature.encoded(signature, "ssh-ed25519", of: .ed25519))
    return writer.bytes
  }

  /// The beginning of a key's certificate, up to the key.
  private func beginning(_ key: PublicKey, isNamed: Bool = true) -> SSHWriter {
    var writer = SSHWriter()
    writer.append(text: isNamed ? "ssh-ed25519-cert-v01@openssh.com" : "ssh-ed25519")
    if isNamed { writer.append(string: [1, 2, 3]) }
    writer.append(string: key.external)
    return writer
  }

  @Test("an OpenSSH certificate with conditions or of an unknown type is not for a host")
  func conditions() throws {
    #expect(try SSHCertificate(own()).isForHost(at: Self.now))
    #expect(try !SSHCertificate(own(critical: [0, 0, 0, 1, 65, 0, 0, 0, 0])).isForHost(at: Self.now))
    #expect(try !SSHCertificate(own(critical: [0])).isForHost(at: Self.now))
    for type: UInt32 in [0, 1, 3] { #expect(try !SSHCertificate(own(type: type)).isForHost(at: Self.now)) }
  }

  @Test("a key with the fields of an OpenSSH certificate is not read as one, even if an authority signed it")
  func notNamed() throws {
    #expect(throws: KeysError.self) { try SSHCertificate(own(isNamed: false)) }
  }

  @Test("an OpenSSH certificate is invalid if its authority is a certified key, or not the key that signed")
  func chained() throws {
    #expect(throws: KeysError.self) { try SSHCertificate(own { beginning($0).bytes }) }
    let stranger = try PrivateKey.generate(.ed25519).publicKey.ssh
    #expect(throws: KeysError.self) { try SSHCertificate(own { _ in stranger }) }
    #expect(throws: KeysError.self) { try SSHCertificate(own { try $0.ssh + [0] }) }
  }

  @Test("an OpenSSH certificate has at most 256 names, and may have none")
  func principals() throws {
    #expect(try SSHCertificate(own(principals: [])).principals.isEmpty)
    let many = (0..<257).map { "host\($0).test" }
    #expect(try SSHCertificate(own(principals: Array(many.prefix(256)))).principals.count == 256)
    #expect(throws: KeysError.self) { try SSHCertificate(own(principals: many)) }
  }
}
