package import SDBus
package import SecureMemory

/// Secrets in messages of the Secret Service, whose interface has them as arrays of bytes.
extension SharedSecret: WipedBytes {
  package convenience init(copying bytes: UnsafeRawBufferPointer) { self.init(SecretBytes(copying: bytes)) }

  package func lend<Value>(_ body: (UnsafeRawBufferPointer) throws(BusError) -> Value) throws(BusError) -> Value {
    try bytes.withUnsafeBytes(body)
  }
}
