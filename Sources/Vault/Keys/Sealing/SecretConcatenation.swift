package import Primitives

/// Several secrets in one block of locked memory, in the format of ``CanonicalEncoding``: other parts, or the same
/// parts in another order, never give the same bytes.
package struct SecretConcatenation: ~Copyable {
  private(set) var bytes = SecretBytes(count: 0)

  package init() {}

  package var isEmpty: Bool { bytes.isEmpty }

  package mutating func append(tag: UInt8, _ part: borrowing SecretBytes) {
    let header = CanonicalEncoding.header(tag, count: part.count)
    let start = bytes.count
    bytes.resize(to: start + header.count + part.count)
    part.withUnsafeBytes { part in
      bytes.withUnsafeMutableBytes {
        let target = UnsafeMutableRawBufferPointer(rebasing: $0[start...])
        target.copyBytes(from: header)
        UnsafeMutableRawBufferPointer(rebasing: target[header.count...]).copyMemory(from: part)
      }
    }
  }
}
