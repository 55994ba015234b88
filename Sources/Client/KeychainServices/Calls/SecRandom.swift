// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

internal import Keys
internal import SecureMemory

/// A source of random numbers. There is only one, which nil means.
public final class SecRandomRef: Sendable {
  private init() {}
}

/// The only source of random numbers.
public let kSecRandomDefault: SecRandomRef? = nil

/// Fills `count` bytes with random bytes that can be used for keys.
///
/// - Returns: 0, or an error after which the bytes must not be used.
@discardableResult
public func SecRandomCopyBytes(_ rnd: SecRandomRef?, _ count: Int, _ bytes: UnsafeMutableRawPointer) -> Int32 {
  guard count >= 0 else { return errSecParam }
  do {
    // The caller lends `count` bytes.
    try Random.key(count).withUnsafeBytes {
      bytes.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(bytes), byteCount: count)
    }
    return errSecSuccess
  } catch {
    return errSecInternalError
  }
}
