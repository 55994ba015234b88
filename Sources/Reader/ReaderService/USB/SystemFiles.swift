internal import Glibc

/// The text of a small file in sysfs or procfs, without the newline at its end and without control characters (a device
/// chooses its own serial number). Nil if it cannot be read or is empty.
func smallFile(_ path: String, limit: Int = 4096) -> String? {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return nil }
  defer { close(descriptor) }
  let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
    count = max(0, read(descriptor, buffer.baseAddress, limit))
  }
  let text = String(
    String.UnicodeScalarView(String(decoding: bytes, as: UTF8.self).unicodeScalars.filter { $0.value >= 32 }))
  return text.isEmpty ? nil : text
}

/// The target of a symbolic link. Nil if it is not one or cannot be read.
func symbolicLink(_ path: String) -> String? {
  let capacity = Int(PATH_MAX)
  let bytes = [CChar](unsafeUninitializedCapacity: capacity) { buffer, count in
    count = max(0, buffer.baseAddress.map { readlink(path, $0, capacity) } ?? 0)
  }
  return bytes.isEmpty ? nil : String(decoding: bytes.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// The lines of a text file of at most 1 MiB; nil when it cannot be read.
func textLines(of path: String) -> [Substring]? {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return nil }
  defer { close(descriptor) }
  let capacity = 1 << 20
  let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
    while count < capacity {
      let length = read(descriptor, buffer.baseAddress.map { $0 + count }, capacity - count)
      guard length > 0 else { return }
      count += length
    }
  }
  return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
}
