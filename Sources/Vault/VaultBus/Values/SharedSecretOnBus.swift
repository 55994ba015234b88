internal import SDBus
package import SecureMemory

/// Secrets in messages of the Secret Service, whose interface has them as arrays of bytes.
extension SharedSecret: WipedBytes {
  package convenience init(copying bytes: UnsafeRawBufferPointer) { self.init(SecretBytes(copying: bytes)) }

  package func lend<Value, Failure>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try bytes.withUnsafeBytes(body)
  }
}
