import Primitives
import SecretModel
import Testing
import VaultDriver
import VaultItems

@Suite("Seeds of one-time codes")
struct CodeSeedTests {
  /// The seeds of RFC 6238, appendix B, which repeat "1234567890" up to the length of the digest.
  private static let seeds = [
    "SHA1": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",
    "SHA256": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZA====",
    "SHA512": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZD"
      + "GNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNA=",
  ]

  private func code(_ text: String, at time: UInt64 = 59, allowsBare: Bool = true) throws -> OneTimeCode {
    try CodeSeed(parsing: SecretBytes(text: text), allowsBare: allowsBare).code(at: time)
  }

  @Test(
    "codes of the time are those of RFC 6238",
    arguments: [
      (59, "94287082", "46119246", "90693936"), (1_111_111_109, "07081804", "68084774", "25091201"),
      (1_111_111_111, "14050471", "67062674", "99943326"), (1_234_567_890, "89005924", "91819424", "93441116"),
      (2_000_000_000, "69279037", "90698825", "38618901"), (20_000_000_000, "65353130", "77737706", "47863826"),
    ] as [(UInt64, String, String, String)])
  func time(_ time: UInt64, _ sha1: String, _ sha256: String, _ sha512: String) throws {
    for (algorithm, wanted) in [("SHA1", sha1), ("SHA256", sha256), ("SHA512", sha512)] {
      let seed = try #require(Self.seeds[algorithm])
      let address = "otpauth://totp/a?secret=\(seed)&algorithm=\(algorithm)&digits=8&period=30"
      #expect(try code(address, at: time).digits.bytes.text == wanted)
    }
  }

  @Test("codes of six digits are those of RFC 4226 for each count of the time")
  func counts() throws {
    let seed = try #require(Self.seeds["SHA1"])
    let wanted = [
      "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
    ]
    for (count, wanted) in zip(0..., wanted) {
      let code = try code(seed, at: UInt64(count * 30 + 29))
      #expect(code.digits.bytes.text == wanted)
      #expect(code.secondsLeft == 1)
      #expect(code.period == 30)
    }
    let slow = try code("otpauth://totp/?secret=\(seed)&period=60&digits=7", at: 60)
    #expect((slow.digits.bytes.count, slow.secondsLeft, slow.period) == (7, 60, 60))
  }

  @Test(
    "a seed is read in every form in which sites and programs write it",
    arguments: [
      "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", " gezd gnbv gy3t qojq gezd gnbv gy3t qojq\n",
      "GEZDGNBV-GY3TQOJQ-GEZDGNBV-GY3TQOJQ====",
      "OTPAUTH://TOTP/Site:ann?issuer=Site&SECRET=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",
      "otpauth://totp/?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&image=x#y",
      "otpauth://totp/a%3Ab@c?secret=gezdgnbvgy3tqojqgezdgnbvgy3tqojq%3d%3D&algorithm=sha1&&digits=6&period=30",
      "otpauth://totp?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",
    ])
  func forms(_ text: String) throws { #expect(try code(text).digits.bytes.text == "287082") }

  @Test(
    "what would give other codes than the site's is refused",
    arguments: [
      "otpauth://hotp/a?secret=GEZDGNBV&counter=1", "otpauth://steam/a?secret=GEZDGNBV", "otpauth://totp/a",
      "otpauth://totp/a?issuer=b", "otpauth://totp/a?secret=", "otpauth://totp/a?secret",
      "otpauth://totp/a?secret=GEZDGNB1",
      "otpauth://totp/a?secret=GEZDGNBV&secret=GEZDGNBV", "otpauth://totp/a?secret=GEZDGNBV&algorithm=MD5",
      "otpauth://totp/a?secret=GEZDGNBV&algorithm=", "otpauth://totp/a?secret=GEZDGNBV&digits=5",
      "otpauth://totp/a?secret=GEZDGNBV&digits=10", "otpauth://totp/a?secret=GEZDGNBV&digits=+6",
      "otpauth://totp/a?secret=GEZDGNBV&digits=6&digits=8", "otpauth://totp/a?secret=GEZDGNBV&period=0",
      "otpauth://totp/a?secret=GEZDGNBV&period=3601", "otpauth://totp/a?secret=GEZDGNBV&period=99999999999999999999",
      "otpauth://totp/a?secret=GEZDGNBV&encoder=steam", "otpauth://totp/a?secret=GEZDGNBV%3",
      "otpauth://totp/a?secret=%zz",
      "otpauth://totp/a#?secret=GEZDGNBV", "otpauth-migration://offline?data=GEZDGNBV", "steam://GEZDGNBV", "", " ",
      "A", "ABC",
      "GEZDGNBVGEZDGN", "GEZDGNB=V", "GEZDGNBÜ", "====",
    ])
  func refused(_ text: String) throws {
    #expect {
      _ = try code(text)
    } throws: {
      if case VaultError.invalidRequest(let why)? = $0 as? VaultError { !why.contains("GEZD") } else { false }
    }
  }

  @Test("a seed alone makes a code only where it is known to be one")
  func bare() throws {
    let seed = try #require(Self.seeds["SHA1"])
    #expect(throws: VaultError.self) { try code(seed, allowsBare: false) }
    #expect(try code("otpauth://totp/?secret=\(seed)", allowsBare: false).digits.bytes.text == "287082")
  }

  @Test("random bytes make no code or a code, and end no process")
  func random() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<2_000 {
      let letters = Array("otpauth://totp/?secret=AB27=&%algorithm=SHA1&digits=6&period=30#".utf8)
      let bytes = (0..<Int.random(in: 0...60, using: &generator)).map { _ in
        Bool.random(using: &generator) ? letters.randomElement(using: &generator) ?? 0 : UInt8.random(in: 0...255)
      }
      for text in [bytes, Array("otpauth://totp/?secret=".utf8) + bytes] {
        _ = try? CodeSeed(parsing: SecretBytes(copying: text.span), allowsBare: true).code(at: .max)
      }
    }
  }

  @Test("the answer with a code is read as it was written, and anything else is none")
  func answers() throws {
    let code = try code(try #require(Self.seeds["SHA1"]), at: 31)
    let answer = OneTimeCode(answer: code.answer)
    let read = try #require(answer)
    #expect(read.digits.bytes.text == code.digits.bytes.text)
    #expect((read.secondsLeft, read.period) == (29, 30))
    for wrong in [
      "", "123456", "123456 1", "12345 1 30", "1234567890 1 30", "12345a 1 30", "123456 0 30", "123456 31 30",
      "123456 1 3601", "123456  1 30", "123456 1 30 ", "123456 -1 30",
    ] {
      let answer = OneTimeCode(answer: SecretBytes(text: wrong))
      #expect(answer == nil, "\(wrong)")
    }
  }
}
