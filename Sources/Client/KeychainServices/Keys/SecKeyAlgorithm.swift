public import Foundation

/// An algorithm for signatures, encryption or key exchange. Names and values are Apple's.
public struct SecKeyAlgorithm: RawRepresentable, Sendable, Hashable {
  let name: String

  /// Apple's `algid:…`.
  public var rawValue: CFString { name as NSString }

  /// An algorithm by its name.
  public init(rawValue: CFString) { name = rawValue as String }

  /// An algorithm by its name.
  public init(_ rawValue: CFString) { self.init(rawValue: rawValue) }

  init(name: String) { self.name = name }
}

/// An operation with a key.
public enum SecKeyOperationType: Int, Sendable, Hashable {
  /// 0: a signature is made.
  case sign = 0
  /// 1: a signature is verified.
  case verify = 1
  /// 2: bytes are encrypted.
  case encrypt = 2
  /// 3: bytes are decrypted.
  case decrypt = 3
  /// 4: a secret is agreed on.
  case keyExchange = 4
}

/// The names of the parameters of a key exchange.
public struct SecKeyKeyExchangeParameter: RawRepresentable, Sendable, Hashable {
  private let name: String

  /// The key in the dictionary of parameters.
  public var rawValue: CFString { name as NSString }

  /// A parameter by its name.
  public init(rawValue: CFString) { name = rawValue as String }

  private init(name: String) { self.name = name }

  /// `requestedSize`: the number of bytes to derive.
  public static let requestedSize = Self(name: "requestedSize")
  /// `sharedInfo`: the shared info of the key derivation, data.
  public static let sharedInfo = Self(name: "sharedInfo")
}
