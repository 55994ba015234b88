import Primitives
internal import Prompts
import SecretModel
import Settings

/// One way to the key of a file, for the owner of a key on Curve25519: the recipient stanza X25519 of age's format.
struct AgeFileStanza: Sendable {
  static let kind = "X25519"
  /// The length of the authentication tag.
  private static let tagCount = 16
  private static let boxCount = AgePublicKey.byteCount + EncryptedFile.keyCount + tagCount

  /// An ephemeral public key, and the encrypted key of the file after it.
  let box: [UInt8]

  init(box: [UInt8]) { self.box = box }

  /// Nil for a stanza that age would not have made.
  ///
  /// - Parameter words: what follows the kind.
  init?(_ words: ArraySlice<String>, _ body: SharedSecret) {
    guard words.count == 1, let share = words.first.flatMap({ Base64.bytes(ofUnpadded: $0) }),
      share.count == AgePublicKey.byteCount
    else { return nil }
    box = share + body.bytes.withUnsafeBytes { Array($0) }
    guard box.count == Self.boxCount else { return nil }
  }

  /// As the plugin sends it, for the key of the file with this number.
  func sent(for place: Int) -> AgeStanza {
    let share = Base64.unpaddedText(of: Array(box.prefix(AgePublicKey.byteCount)))
    let body = Array(box.dropFirst(AgePublicKey.byteCount))
    return AgeStanza(
      ["recipient-stanza", "\(place)", Self.kind, share], SharedSecret(SecretBytes(copying: body.span)))
  }
}

extension AgeStanza {
  /// Says to age what has failed, for the person.
  static func error(_ cause: [String], _ failure: Failure) -> AgeStanza {
    AgeStanza(["error"] + cause, text: Visible.text(failure.what + (failure.advice.map { ": \($0)" } ?? "")))
  }

  /// Refuses an identity, by its number.
  static func unknownIdentity(_ place: Int) -> AgeStanza {
    AgeStanza(
      ["error", "identity", "\(place)"],
      text: "this is no identity of Whorl's: 'whorl age identity' prints those that are")
  }
}
