import Foundation
import Keys
import Primitives
import Testing

/// Keys and signatures made by OpenSSH's own ssh-keygen.
@Suite("SSH's forms of keys and signatures")
struct SSHKeyTests {
  private static let kinds: [(options: String, algorithm: KeyAlgorithm, signature: String)] = [
    ("-t ed25519", .ed25519, "ssh-ed25519"), ("-t ecdsa -b 256", .ec(.p256), "ecdsa-sha2-nistp256"),
    ("-t ecdsa -b 384", .ec(.p384), "ecdsa-sha2-nistp384"), ("-t ecdsa -b 521", .ec(.p521), "ecdsa-sha2-nistp521"),
    ("-t rsa -b 2048", .rsa(bits: 2048), "rsa-sha2-512"),
  ]

  @Test("OpenSSH's public keys are read and written, and its signatures verified", arguments: 0..<kinds.count)
  func openSSH(_ place: Int) throws {
    let kind = Self.kinds[place]
    try SSHKeygen.run(["-q \(kind.options) -N NONE -C test -f key", "-Y sign -n file -f key text"]) { folder in
      let blob = try folder.bytes("key.pub")
      let key = try PublicKey(ssh: blob)
      #expect(key.algorithm == kind.algorithm)
      #expect(try key.ssh == blob)
      let armour = try folder.text("text.sig")
      let lines = armour.split(separator: "\n").filter { !$0.hasPrefix("-----") }
      let signed = Array(try #require(Data(base64Encoded: lines.joined())))
      var reader = SSHReader(Array(signed.dropFirst("SSHSIG".utf8.count)))
      #expect(try reader.number() == 1)
      #expect(try reader.string() == blob)
      let (namespace, reserved, hash) = (try reader.string(), try reader.string(), try reader.text())
      let signature = try reader.string()
      var data = SSHWriter()
      data.append(string: namespace)
      data.append(string: reserved)
      data.append(text: hash)
      data.append(string: try HashFunction.sha512.digest(Array("some text".utf8)))
      let message = Array("SSHSIG".utf8) + data.bytes
      #expect(hash == "sha512")
      #expect(try key.verify(ssh: signature, of: message))
      #expect(try !key.verify(ssh: signature, of: message + [0]))
      for count in 0..<signature.count { #expect(try !key.verify(ssh: Array(signature.prefix(count)), of: message)) }
    }
  }

  @Test("SSH signatures made by Keys are verified by Keys, and never use SHA-1", arguments: 0..<kinds.count)
  func ownSignatures(_ place: Int) throws {
    let kind = Self.kinds[place]
    let key = try PrivateKey.generate(kind.algorithm)
    let scheme = try #require(SSHSignature.scheme(kind.signature, for: kind.algorithm))
    for round in 0..<20 {
      let message = [UInt8](repeating: UInt8(round), count: round)
      let signature = SSHSignature.encoded(try key.sign(message, scheme), kind.signature, of: kind.algorithm)
      #expect(try key.publicKey.verify(ssh: signature, of: message))
      #expect(try !key.publicKey.verify(ssh: signature, of: message + [1]))
    }
    #expect(SSHSignature.scheme("ssh-rsa", for: kind.algorithm) == nil)
    #expect(SSHSignature.scheme("ssh-dss", for: kind.algorithm) == nil)
  }

  @Test(
    "an RSA key of an unsupported size is refused with its size and the supported sizes",
    arguments: [1024, 2049, 4104, 8192])
  func rsaSizes(_ bits: Int) throws {
    // The size is checked before anything else.
    var modulus = [UInt8](repeating: 0x55, count: (bits + 7) / 8)
    modulus[0] = 1 << UInt8((bits - 1) % 8)
    if modulus[0] >= 0x80 { modulus.insert(0, at: 0) }
    let why = "RSA keys have 2048 to 4096 bits here, in whole bytes; this one has \(bits)"
    var writer = SSHWriter()
    writer.append(text: "ssh-rsa")
    for number in [modulus, [3], modulus, [5], [7], [11], []] { writer.append(string: number) }
    let bytes = SecretBytes(copying: writer.bytes.span)
    #expect(throws: KeysError.badParameters(why)) { _ = try PrivateKey(ssh: bytes) }
    #expect(throws: KeysError.badParameters(why)) { _ = try PrivateKey.generate(.rsa(bits: bits)) }
    func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
      let count = [UInt8(content.count >> 8), UInt8(content.count & 0xFF)]
      return [tag] + (content.count < 256 ? [0x81, count[1]] : [0x82] + count) + content
    }
    let external = element(0x30, element(0x02, modulus) + [0x02, 1, 3])
    #expect(throws: KeysError.badParameters(why)) { _ = try PublicKey(external: external, family: .rsa) }
  }

  @Test("an SSH private key of an unsupported kind is refused with its kind")
  func otherKinds() throws {
    let long = String(repeating: "x", count: 64)
    for (name, told) in [
      ("ssh-dss", "of the kind ssh-dss"), (long, "of the kind \(long)"), (long + "x", "of no kind of SSH"),
      ("", "of no kind of SSH"), ("\n", "of no kind of SSH"),
    ] {
      var writer = SSHWriter()
      writer.append(text: name)
      let bytes = SecretBytes(copying: writer.bytes.span)
      #expect(throws: KeysError.badParameters("keys of Ed25519, ECDSA and RSA are taken; this one is \(told)")) {
        _ = try PrivateKey(ssh: bytes)
      }
    }
  }

  @Test("an SSH signature of another algorithm or key is invalid")
  func crossed() throws {
    let first = try PrivateKey.generate(.ed25519)
    let second = try PrivateKey.generate(.ec(.p256))
    let signature = SSHSignature.encoded(try first.sign([1], .ed25519), "ssh-ed25519", of: .ed25519)
    #expect(try first.publicKey.verify(ssh: signature, of: [1]))
    #expect(try !second.publicKey.verify(ssh: signature, of: [1]))
    let other = try PrivateKey.generate(.ed25519).publicKey
    #expect(try !other.verify(ssh: signature, of: [1]))
  }

  @Test("an SSH signature that is too long for its key is invalid")
  func longSignatures() throws {
    func expectInvalid(_ content: [UInt8], _ name: String, _ key: PublicKey) throws {
      var writer = SSHWriter()
      writer.append(text: name)
      writer.append(string: content)
      #expect(try !key.verify(ssh: writer.bytes, of: [1]))
    }
    let message: [UInt8] = [1]
    let key = try PrivateKey.generate(.ed25519)
    let signature = try key.sign(message, .ed25519)
    try expectInvalid(signature + [1], "ssh-ed25519", key.publicKey)
    try expectInvalid([1] + signature, "ssh-ed25519", key.publicKey)
    var numbers = SSHWriter()
    for _ in 0..<2 { numbers.append(string: repeated(1, 33)) }
    try expectInvalid(numbers.bytes, "ecdsa-sha2-nistp256", PrivateKey.generate(.ec(.p256)).publicKey)
  }

  @Test("an SSH public key on another curve than it names is refused")
  func otherCurves() throws {
    let point = try PrivateKey.generate(.ec(.p256)).publicKey.external
    func key(_ name: String, _ curve: String) throws -> PublicKey {
      var writer = SSHWriter()
      writer.append(text: name)
      writer.append(text: curve)
      writer.append(string: point)
      return try PublicKey(ssh: writer.bytes)
    }
    #expect(try key("ecdsa-sha2-nistp256", "nistp256").external == point)
    for (name, curve) in [("ecdsa-sha2-nistp256", "nistp384"), ("ecdsa-sha2-nistp384", "nistp256"), ("nistp256", "")] {
      #expect(throws: KeysError.badParameters("not a key on the curve that it names")) { try key(name, curve) }
    }
  }

  @Test("an SSH public key with a negative RSA number is refused")
  func negativeNumbers() throws {
    func key(_ n: [UInt8], _ e: [UInt8]) throws -> PublicKey {
      var writer = SSHWriter()
      writer.append(text: "ssh-rsa")
      for number in [e, n] { writer.append(string: number) }
      return try PublicKey(ssh: writer.bytes)
    }
    let n = repeated(0x95, 256)
    #expect(try key([0] + n, [3]).algorithm == .rsa(bits: 2048))
    #expect(throws: KeysError.badParameters("not an RSA public key")) { try key(n, [3]) }
    #expect(throws: KeysError.badParameters("not an RSA public key")) { try key([0] + n, [0x83]) }
  }

  @Test("an SSH private key that is truncated or has parts that do not match is refused")
  func privateKeys() throws {
    func fields(_ seed: [UInt8], _ publicKey: [UInt8], _ told: [UInt8]) -> [UInt8] {
      var writer = SSHWriter()
      writer.append(text: "ssh-ed25519")
      writer.append(string: told)
      writer.append(string: seed + publicKey)
      writer.append(text: "comment")
      return writer.bytes
    }
    let key = try PrivateKey.generate(.ed25519)
    let (seed, publicKey) = (bytes(of: try key.external()), key.publicKey.external)
    let whole = fields(seed, publicKey, publicKey)
    #expect(try PrivateKey(ssh: secret(whole)).publicKey == key.publicKey)
    let other = try PrivateKey.generate(.ed25519).publicKey.external
    for wrong in [fields(seed, other, publicKey), fields(seed, other, other), fields(seed, publicKey, other)] {
      #expect(throws: KeysError.self) { _ = try PrivateKey(ssh: secret(wrong)).publicKey }
    }
    for count in 0..<whole.count {
      #expect(throws: KeysError.self) { _ = try PrivateKey(ssh: secret(Array(whole.prefix(count)))).publicKey }
    }
    #expect(throws: KeysError.self) { _ = try PrivateKey(ssh: secret(whole + [0])).publicKey }
    #expect(throws: KeysError.badParameters("not an Ed25519 private key")) {
      _ = try PrivateKey(ssh: secret(fields([1], [2], publicKey))).publicKey
    }
  }

  /// A private key as programs give it to an agent.
  private func privateKey(_ name: String, _ fields: [[UInt8]]) throws -> PrivateKey {
    var writer = SSHWriter()
    writer.append(text: name)
    for field in fields { writer.append(string: field) }
    writer.append(text: "comment")
    return try PrivateKey(ssh: secret(writer.bytes))
  }

  @Test("an SSH private key on a curve is read, and refused if its point is too long", arguments: Curve.allCases)
  func curvePrivateKeys(_ curve: Curve) throws {
    let key = try PrivateKey.generate(.ec(curve))
    let (name, point) = ("nistp\(curve.bitCount)", key.publicKey.external)
    let scalar = Array(bytes(of: try key.external()).dropFirst(point.count))
    func read(_ point: [UInt8], _ scalar: [UInt8]) throws -> PublicKey {
      try privateKey("ecdsa-sha2-\(name)", [Array(name.utf8), point, scalar]).publicKey
    }
    #expect(try read(point, scalar) == key.publicKey)
    #expect(try read(point, [0] + scalar) == key.publicKey)
    for (point, scalar) in [
      (point + [0], scalar), (Array(point.dropLast()), scalar), (point, repeated(0xff, scalar.count + 1)),
    ] {
      #expect(throws: KeysError.badParameters("not an ECDSA private key")) { try read(point, scalar) }
    }
  }

  @Test("an SSH private key of RSA is read, and refused with a prime of zero or one")
  func rsaPrivateKeys() throws {
    let form = integers(RSAVectors.privateForm)
    func read(p: [UInt8], q: [UInt8]) throws -> PublicKey {
      try privateKey("ssh-rsa", [form[1], form[2], form[3], form[8], p, q].map { [0] + $0 }).publicKey
    }
    #expect(try read(p: form[4], q: form[5]).external == RSAVectors.publicForm)
    for prime: [UInt8] in [[], [1]] {
      #expect(throws: KeysError.badParameters("not an RSA private key")) { try read(p: prime, q: form[5]) }
      #expect(throws: KeysError.badParameters("not an RSA private key")) { try read(p: form[4], q: prime) }
    }
  }
}
