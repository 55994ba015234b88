internal import Testing

/// Test vectors as their authors published them.
enum PublishedVectors {
  struct GCM: Sendable, CustomTestStringConvertible {
    let number: Int
    let key, nonce, plaintext, aad, ciphertext, tag: String
    var testDescription: String { "test case \(number)" }
  }

  private static let longKey = "feffe9928665731c6d6a8f9467308308 feffe9928665731c6d6a8f9467308308"
  private static let longText =
    "d9313225f88406e5a55909c5aff5269a 86a7a9531534f7da2e4c303d8a318a72"
    + "1c3c0c95956809532fcf0e2449a6b525 b16aedf5aa0de657ba637b39"
  private static let longCiphertext =
    "522dc1f099567d07f47f37a32a84427d 643a8cdcbfe5c0c97598a2bd2555d1aa"
    + "8cb08e48590dbb3da7b08b1056828838 c5f61e6393ba7a0abcc9f662"

  /// McGrew and Viega, The Galois/Counter Mode of Operation, appendix B: the vectors with 256-bit keys and 96-bit
  /// nonces.
  static let gcm = [
    GCM(
      number: 13, key: String(repeating: "0", count: 64), nonce: String(repeating: "0", count: 24), plaintext: "",
      aad: "", ciphertext: "", tag: "530f8afbc74536b9a963b4f1c4cb738b"),
    GCM(
      number: 14, key: String(repeating: "0", count: 64), nonce: String(repeating: "0", count: 24),
      plaintext: String(repeating: "0", count: 32), aad: "", ciphertext: "cea7403d4d606b6e074ec5d3baf39d18",
      tag: "d0d1c8a799996bf0265b98b5d48ab919"),
    GCM(
      number: 15, key: longKey, nonce: "cafebabefacedbaddecaf888", plaintext: longText + "1aafd255", aad: "",
      ciphertext: longCiphertext + "898015ad", tag: "b094dac5d93471bdec1a502270e3cc6c"),
    GCM(
      number: 16, key: longKey, nonce: "cafebabefacedbaddecaf888", plaintext: longText,
      aad: "feedfacedeadbeeffeedfacedeadbeefabaddad2", ciphertext: longCiphertext,
      tag: "76fc6ece0f4e1768cddf8853bb2d551b"),
  ]

  struct HKDF: Sendable {
    let key, salt, info: [UInt8]
    let output: String
  }

  /// RFC 5869, appendix A: the vectors with SHA-256.
  static let hkdf = [
    HKDF(
      key: repeated(0x0b, 22), salt: Array(0x00...0x0c), info: Array(0xf0...0xf9),
      output: "3cb25f25faacd57a90434f64d0362f2a 2d2d0a90cf1a5a4c5db02d56ecc4c5bf 34007208d5b887185865"),
    HKDF(
      key: Array(0x00...0x4f), salt: Array(0x60...0xaf), info: Array(0xb0...0xff),
      output: "b11e398dc80327a1c8e7f78c596a4934 4f012eda2d4efad8a050cc4c19afa97c 59045a99cac7827271cb41c65e590e09"
        + "da3275600c2f09b8367793a9aca3db71 cc30c58179ec3e87c14c01d5c1f3434f 1d87"),
    HKDF(
      key: repeated(0x0b, 22), salt: [], info: [],
      output: "8da4e775a563c18f715f802a063c5a31 b8a11f5c5ee1879ec3454e5f3c738d2d 9d201395faa4b61a96c8"),
  ]

  struct Cost: Sendable {
    let passcode, salt: String
    let n: UInt64
    let r, p: UInt32
    let output: String
  }

  /// RFC 7914, section 12: all vectors but the one that needs a gibibyte.
  struct Rounds: Sendable {
    let password: String
    let salt: String
    let rounds: Int
    let output: String
  }

  static let pbkdf2 = [
    Rounds(
      password: "password", salt: "salt", rounds: 1,
      output: "867f70cf1ade02cff3752599a3a53dc4af34c7a669815ae5d513554e1c8cf252"
        + "c02d470a285a0501bad999bfe943c08f050235d7d68b1da55e63f73b60a57fce"),
    Rounds(
      password: "password", salt: "salt", rounds: 2,
      output: "e1d9c16aa681708a45f5c7c4e215ceb66e011a2e9f0040713f18aefdb866d53c"
        + "f76cab2868a39b9f7840edce4fef5a82be67335c77a6068e04112754f27ccf4e"),
    Rounds(
      password: "password", salt: "salt", rounds: 4096,
      output: "d197b1b33db0143e018b12f3d1d1479e6cdebdcc97c5c0f87f6902e072f457b5"
        + "143f30602641b3d55cd335988cb36b84376060ecd532e039b742a239434af2d5"),
  ]

  static let scrypt = [
    Cost(
      passcode: "", salt: "", n: 16, r: 1, p: 1,
      output: "77d6576238657b203b19ca42c18a0497 f16b4844e3074ae8dfdffa3fede21442"
        + "fcd0069ded0948f8326a753a0fc81f17 e8d3e0fb2e0d3628cf35e20c38d18906"),
    Cost(
      passcode: "password", salt: "NaCl", n: 1024, r: 8, p: 16,
      output: "fdbabe1c9d3472007856e7190d01e9fe 7c6ad7cbc8237830e77376634b373162"
        + "2eaf30d92e22a3886ff109279d9830da c727afb94a83ee6d8360cbdfa2cc0640"),
    Cost(
      passcode: "pleaseletmein", salt: "SodiumChloride", n: 16384, r: 8, p: 1,
      output: "7023bdcb3afd7348461c06cd81fd38eb fda8fbba904f8e3ea9b543f6545da1f2"
        + "d5432955613f0fcf62d49705242a9af9 e61e85dc0d651e40dfcf017b45575887"),
  ]

  struct Code: Sendable {
    let key, text: [UInt8]
    let output: String
  }

  /// RFC 4231, section 4: all vectors but the truncated one.
  static let hmac = [
    Code(
      key: repeated(0x0b, 20), text: Array("Hi There".utf8),
      output: "b0344c61d8db38535ca8afceaf0bf12b 881dc200c9833da726e9376c2e32cff7"),
    Code(
      key: Array("Jefe".utf8), text: Array("what do ya want for nothing?".utf8),
      output: "5bdcc146bf60754e6a042426089575c7 5a003f089d2739839dec58b964ec3843"),
    Code(
      key: repeated(0xaa, 20), text: repeated(0xdd, 50),
      output: "773ea91e36800e46854db8ebd09181a7 2959098b3ef8c122d9635514ced565fe"),
    Code(
      key: Array(0x01...0x19), text: repeated(0xcd, 50),
      output: "82558a389a443c0ea4cc819899f2083a 85f0faa3e578f8077a2e3ff46729665b"),
    Code(
      key: repeated(0xaa, 131), text: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
      output: "60e431591ee0b67f0d8a26aacbf5b77f 8e0bc6213728c5140546040f0ee37f54"),
    Code(
      key: repeated(0xaa, 131),
      text: Array(
        ("This is a test using a larger than block-size key and a larger than block-size data. "
          + "The key needs to be hashed before being used by the HMAC algorithm.").utf8),
      output: "9b09ffa71b942fcb27635fbcd5b0e944 bfdc63644f0713938a7f51535c3a35e2"),
  ]
}
