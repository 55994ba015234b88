internal import Foundation
internal import Primitives
internal import Testing

@testable internal import Keys

/// Compares with certificates that the `openssl` command makes, and with its description of them.
@Suite(.enabled(if: OpenSSLCommand.exists, "there is no openssl command")) struct CertificateTests {
  private let folder = ScratchFolder()

  /// A self-signed certificate for a new key, with the subject and the extensions of a configuration.
  private func certificate(
    _ subject: String, key: String = "EC -pkeyopt ec_paramgen_curve:P-256", strings: String = "utf8only",
    extensions: String = "basicConstraints=CA:FALSE", options: String = ""
  ) throws -> [UInt8] {
    try folder.write(
      "request.cnf",
      Array(
        """
        [req]
        prompt=no
        utf8=yes
        string_mask=\(strings)
        distinguished_name=subject
        x509_extensions=extensions
        [subject]
        \(subject)
        [extensions]
        \(extensions)

        """.utf8))
    try folder.openssl("genpkey -algorithm \(key) -out key.pem")
    try folder.openssl(
      "req -x509 -new -key key.pem -config request.cnf -days 3650 -outform DER -out it.der \(options)")
    return try folder.read("it.der")
  }

  @Test("an X.509 certificate with an RSA key is read as the openssl command made it")
  func rsa() throws {
    let der = try certificate(
      "CN=Example CA", key: "RSA -pkeyopt rsa_keygen_bits:2048", extensions: "subjectKeyIdentifier=hash",
      options: "-set_serial 0x00f1e2d3")
    let certificate = try #require(Certificate(der: der))
    try folder.openssl("rsa -in key.pem -RSAPublicKey_out -outform DER -out public.der")
    let publicForm = try folder.read("public.der")
    #expect(certificate.der == der)
    #expect(certificate.version == 3)
    #expect(certificate.publicKey?.algorithm == .rsa(bits: 2048))
    #expect(certificate.publicKey?.external == publicForm)
    #expect(certificate.publicKeyHash == certificate.publicKey?.label)
    // The command's subject key identifier is SHA-1 of the same bits (RFC 5280, section 4.2.1.2).
    #expect(certificate.subjectKeyID == certificate.publicKeyHash)
    #expect(certificate.serialNumber == hex("00f1e2d3"))
    #expect(certificate.issuer == certificate.subject)
    #expect(certificate.notAfter - certificate.notBefore == 3650 * 86_400)
    #expect(abs(certificate.notBefore - Int(Date().timeIntervalSince1970)) < 86_400)
  }

  @Test("an X.509 certificate with a key on a curve is read with the key", arguments: Curve.allCases)
  func curve(curve: Curve) throws {
    let der = try certificate("CN=a", key: "EC -pkeyopt ec_paramgen_curve:\(curve.name)")
    let certificate = try #require(Certificate(der: der))
    #expect(certificate.publicKey?.algorithm == .ec(curve))
    #expect(certificate.publicKeyHash == certificate.publicKey?.label)
  }

  @Test(
    "an X.509 certificate with an unsupported key is read, without the key",
    arguments: [
      "ED25519", "RSA -pkeyopt rsa_keygen_bits:1024", "EC -pkeyopt ec_paramgen_curve:secp224r1",
      "EC -pkeyopt ec_paramgen_curve:secp256k1",
    ])
  func unsupportedKey(key: String) throws {
    let certificate = try #require(Certificate(der: try certificate("CN=a", key: key)))
    #expect(certificate.publicKey == nil)
    #expect(certificate.publicKeyHash.count == 20)
    #expect(certificate.summary == "a")
  }

  @Test("an X.509 certificate that names another curve of the key's size gives no key")
  func otherCurve() throws {
    var der = try certificate("CN=a")
    // Replaces prime256v1 by an object identifier of the same length that is not assigned to a curve.
    let named = try #require(der.firstRange(of: hex("06082a8648ce3d030107")))
    der.replaceSubrange(named, with: hex("06082a8648ce3d030102"))
    #expect(Certificate(der: der)?.publicKey == nil)
  }

  @Test(
    "names in an X.509 certificate are read in every encoding of text",
    arguments: [("utf8only", "Grüße ☕"), ("MASK:2048", "Grüße ☕"), ("MASK:4", "Grüße"), ("MASK:2", "Plain words")])
  func encodings(strings: String, name: String) throws {
    let certificate = try #require(Certificate(der: try certificate("CN=\(name)", strings: strings)))
    #expect(certificate.summary == name)
    #expect(certificate.subject.texts(.commonName) == [name])
  }

  @Test(
    "an X.509 certificate's summary is its common name, or else an address, DNS name or other attribute",
    arguments: [
      ("C=DE\nO=Org\nOU=Unit\nCN=Name", "", "Name"),
      ("CN=Name\ndescription=Said of it", "", "Name (Said of it)"),
      ("0.CN=First\n1.CN=Second", "", "Second, First"),
      ("O=Org\nOU=Unit", "subjectAltName=DNS:a.example,email:b@example.org", "b@example.org"),
      ("O=Org\nemailAddress=c@example.org", "", "c@example.org"),
      ("O=Org\nOU=Unit", "subjectAltName=DNS:a.example,DNS:b.example", "a.example"),
      ("C=DE\nO=Org\n0.OU=Outer\n1.OU=Inner", "", "Inner, Outer"),
      ("C=DE\nO=Org", "", "Org"),
      ("C=DE\nL=Berlin", "", "Berlin, DE"),
    ])
  func summary(subject: String, names: String, expected: String) throws {
    let certificate = try #require(
      Certificate(der: try certificate(subject, extensions: "basicConstraints=CA:FALSE\n\(names)")))
    #expect(certificate.summary == expected)
  }

  @Test("an X.509 certificate's email addresses are those of its alternative name, then of its subject")
  func emailAddresses() throws {
    let certificate = try #require(
      Certificate(
        der: try certificate(
          "CN=a\nemailAddress=old@example.org",
          extensions: "subjectAltName=email:one@example.org,DNS:a.example,email:two@example.org,IP:10.0.0.1")))
    #expect(certificate.emailAddresses == ["one@example.org", "two@example.org", "old@example.org"])
    #expect(certificate.dnsNames == ["a.example"])
  }

  @Test("a PrintableString in an X.509 name is normalized, and a UTF8String is not")
  func normalized() throws {
    let printable = try #require(Certificate(der: try certificate("CN=Two  Words", strings: "MASK:2")))
    #expect(printable.subject.normalized == hex("3014 3112 3010 0603550403 1309") + Array("TWO WORDS".utf8))
    #expect(printable.subject.normalizedContent == Array(printable.subject.normalized.dropFirst(2)))
    let utf8 = try #require(Certificate(der: try certificate("CN=Two  Words")))
    #expect(utf8.subject.normalized == hex("3015 3113 3011 0603550403 0c0a") + Array("Two  Words".utf8))
    #expect(DistinguishedName(der: utf8.subject.normalized) == utf8.subject)
    let several = try #require(
      Certificate(der: try certificate("C=DE\nO=an Org\n+CN=a name", strings: "MASK:2")))
    #expect(DistinguishedName(der: several.subject.normalized)?.normalized == several.subject.normalized)
    #expect(several.subject.texts(.commonName) == ["a name"])
  }

  @Test("an X.509 certificate whose subject has no attributes has no summary and an empty name")
  func emptySubject() throws {
    try folder.openssl("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.pem")
    try folder.openssl("req -x509 -new -key key.pem -subj / -outform DER -out it.der")
    let certificate = try #require(Certificate(der: try folder.read("it.der")))
    #expect(certificate.summary == nil)
    #expect(certificate.subject.normalized == [0x30, 0])
    #expect(certificate.subject.normalizedContent.isEmpty)
  }

  @Test("a text with a NUL in an X.509 name, where other programs stop reading, is ignored")
  func embeddedNUL() throws {
    var der = try certificate("CN=good.example.evil.example")
    // It occurs in the issuer's and the subject's name.
    let names = der.ranges(of: Array("example.evil".utf8))
    #expect(names.count == 2)
    for name in names { der[name.lowerBound + 7] = 0 }
    let certificate = try #require(Certificate(der: der))
    #expect(certificate.subject.texts(.commonName).isEmpty)
    #expect(certificate.summary == nil)
  }

  @Test("an X.509 certificate that is truncated, extended, in BER or too long is refused")
  func malformed() throws {
    let der = try certificate("CN=a", extensions: "subjectAltName=email:one@example.org")
    for count in 0..<der.count { #expect(Certificate(der: Array(der.prefix(count))) == nil, "\(count) bytes") }
    #expect(Certificate(der: der + [0]) == nil)
    #expect(Certificate(der: der + der) == nil)
    // The outer length with an unnecessary byte, as BER allows.
    #expect(Certificate(der: [0x30, 0x83, 0] + der[2...]) == nil)
    #expect(Certificate(der: [UInt8](repeating: 0x30, count: Certificate.limit + 1)) == nil)
    let long = try certificate(
      "CN=a", extensions: "1.2.3.4=ASN1:UTF8:" + String(repeating: "x", count: Certificate.limit))
    #expect(long.count > Certificate.limit)
    #expect(Certificate(der: long) == nil)
    #expect(DistinguishedName(der: []) == nil)
    // A name of one attribute, a common name (2.5.4.3).
    func name(_ text: [UInt8]) -> [UInt8] {
      element(0x30, element(0x31, element(0x30, [0x06, 3, 0x55, 4, 3] + element(0x0c, text))))
    }
    #expect(DistinguishedName(der: name(repeated(0x61, 60_000)))?.texts(.commonName).first?.count == 60_000)
    #expect(DistinguishedName(der: name(repeated(0x61, 70_000))) == nil)
    #expect(DistinguishedName(der: [0x30, 0, 0]) == nil)
  }

  @Test("an X.509 certificate with one changed byte is read as exactly those bytes, or refused")
  func changedBytes() throws {
    let der = try certificate(
      "C=DE\nO=Org\nCN=a", strings: "MASK:2", extensions: "subjectAltName=email:one@example.org,DNS:a.example")
    var generator = Seeded(seed: 12)
    for place in der.indices {
      for _ in 0..<4 {
        var changed = der
        changed[place] ^= UInt8.random(in: 1...255, using: &generator)
        guard let certificate = Certificate(der: changed) else { continue }
        #expect(certificate.der == changed)
        // Values that are only computed when an item is stored.
        _ = (certificate.summary, certificate.subject.normalizedContent, certificate.issuer.normalizedContent)
        if let key = certificate.publicKey { #expect(key.label == certificate.publicKeyHash) }
      }
    }
  }
}
