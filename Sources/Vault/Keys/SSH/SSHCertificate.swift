internal import Primitives

/// A certificate of OpenSSH (PROTOCOL.certkeys): a public key, the names that it is valid for, and an authority's
/// signature over both. A value exists only if that signature is valid.
package struct SSHCertificate: Sendable, Hashable {
  /// The most names in a certificate, as in OpenSSH.
  private static let mostPrincipals = 256
  private static let (userType, hostType): (UInt32, UInt32) = (1, 2)

  /// Whether a time is before, within or after a certificate's validity.
  package enum Validity: Sendable {
    case before, within, after
  }

  package let bytes: [UInt8]
  /// The certified key.
  package let key: PublicKey
  /// The key of the authority.
  package let authority: PublicKey
  /// The authority's name for the certificate (`ssh-keygen -I`), which servers log.
  package let name: String
  /// The names of the host, or of the user. Without any, servers before OpenSSH 10.3 may accept the
  /// certificate for all names, and later ones for none.
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
    self.bytes = bytes
    key = try PublicKey(content.key)
    authority = try PublicKey(content.authority)
    guard try authority.verify(ssh: content.signature, of: content.signed) else {
      throw .badParameters("a certificate that its authority has not signed")
    }
    (name, principals, type) = (content.name, content.principals, content.type)
    (start, end) = (content.start, content.end)
    hasCriticalOptions = content.hasCriticalOptions
  }

  /// Whether it is a certificate for a host, valid at a time and without critical options, none of which are defined
  /// for hosts.
  ///
  /// - Parameter time: in seconds since 1970.
  package func isForHost(at time: UInt64) -> Bool {
    type == Self.hostType && !hasCriticalOptions && validity(at: time) == .within
  }

  /// Whether it is a certificate for a user. The server decides whether it lets the user in, also by the critical options.
  package var isForUser: Bool { type == Self.userType }

  /// - Parameter time: in seconds since 1970.
  package func validity(at time: UInt64) -> Validity { time < start ? .before : time < end ? .within : .after }

  /// The fields of a certificate.
  private struct Content {
    let key: SSHKeyFields
    let type: UInt32
    let name: String
    let principals: [String]
    let start: UInt64
    let end: UInt64
    let hasCriticalOptions: Bool
    let authority: SSHKeyFields
    /// The signed data: everything before the signature.
    let signed: [UInt8]
    let signature: [UInt8]

    init(_ bytes: [UInt8]) throws(SSHFormatError) {
      var reader = SSHReader(bytes)
      key = try SSHKeyFields(&reader)
      guard key.isCertified else { throw SSHFormatError() }
      // The serial number.
      _ = try reader.longNumber()
      type = try reader.number()
      // Only shown to people, so it need not be valid UTF-8.
      name = String(decoding: try reader.string(), as: UTF8.self)
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
