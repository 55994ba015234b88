internal import KeySchemes

/// A certificate of OpenSSH (PROTOCOL.certkeys): a public key, the names that it is valid for, and an authority's
/// signature over both. A value exists only where that signature is right.
package struct SSHCertificate: Sendable {
  /// The most names in a certificate, as in OpenSSH.
  private static let mostPrincipals = 256
  /// The type of a certificate for a host. That for a user is 1.
  private static let hostType: UInt32 = 2

  /// The certified key.
  package let key: PublicKey
  /// The key of the authority.
  package let authority: PublicKey
  /// The names of the host, or of the user. Without any, OpenSSH takes the certificate as one for all names.
  package let principals: [String]

  private let type: UInt32
  private let hasCriticalOptions: Bool
  /// In seconds since 1970.
  private let start: UInt64
  /// The first second in which the certificate is no longer valid.
  private let end: UInt64

  /// Reads a certificate. Throws ``KeysError/badParameters(_:)`` for everything else: for one that its authority has not
  /// signed or has signed with SHA-1, for keys that are not supported, and for an authority that is certified itself.
  package init(_ bytes: [UInt8]) throws(KeysError) {
    let content: Content
    do throws(SSHFormatError) {
      content = try Content(bytes)
    } catch {
      throw .badParameters("not a certificate of OpenSSH")
    }
    key = try PublicKey(content.key)
    authority = try PublicKey(content.authority)
    guard try authority.verify(ssh: content.signature, of: content.signed) else {
      throw .badParameters("a certificate that its authority has not signed")
    }
    (principals, type, start, end) = (content.principals, content.type, content.start, content.end)
    hasCriticalOptions = content.hasCriticalOptions
  }

  /// Whether it is a certificate for a host, valid at a time and without conditions: no critical option is defined for
  /// hosts, so that every one of them is unknown.
  ///
  /// - Parameter time: in seconds since 1970.
  package func isForHost(at time: UInt64) -> Bool {
    type == Self.hostType && !hasCriticalOptions && start <= time && time < end
  }

  /// The fields of a certificate.
  private struct Content {
    let key: SSHKeyFields
    let type: UInt32
    let principals: [String]
    let start: UInt64
    let end: UInt64
    let hasCriticalOptions: Bool
    let authority: SSHKeyFields
    /// What the authority has signed: everything before its signature.
    let signed: [UInt8]
    let signature: [UInt8]

    init(_ bytes: [UInt8]) throws(SSHFormatError) {
      var reader = SSHReader(bytes)
      key = try SSHKeyFields(&reader)
      guard key.isCertified else { throw SSHFormatError() }
      // The serial number.
      _ = try reader.longNumber()
      type = try reader.number()
      // The key id, which is for logs.
      _ = try reader.string()
      principals = try Self.principals(try reader.string())
      (start, end) = (try reader.longNumber(), try reader.longNumber())
      hasCriticalOptions = try !reader.string().isEmpty
      // The extensions, which may be ignored, and a reserved field.
      _ = (try reader.string(), try reader.string())
      var authority = SSHReader(try reader.string())
      self.authority = try SSHKeyFields(&authority)
      guard !self.authority.isCertified else { throw SSHFormatError() }
      try authority.end()
      signed = reader.passed
      signature = try reader.string()
      try reader.end()
    }

    private static func principals(_ bytes: [UInt8]) throws(SSHFormatError) -> [String] {
      var reader = SSHReader(bytes)
      var principals: [String] = []
      while !reader.isAtEnd {
        guard principals.count < mostPrincipals else { throw SSHFormatError() }
        principals.append(try reader.text())
      }
      return principals
    }
  }
}
