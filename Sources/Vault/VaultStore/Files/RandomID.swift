/// Sixteen random bytes from the kernel, for an id or a nonce, never for a key. libcrypto's generator is not used,
/// since it takes a millisecond to start.
package func randomID() -> [UInt8] {
  var generator = SystemRandomNumberGenerator()
  let halves = (generator.next(), generator.next())
  return withUnsafeBytes(of: halves) { Array($0) }
}
