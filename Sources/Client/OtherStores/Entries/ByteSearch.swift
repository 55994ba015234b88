internal import Glibc

// Searches in bytes that may be secret: no part of them is copied.

extension UnsafeRawBufferPointer {
  /// Whether this text is in it.
  func contains(_ text: String) -> Bool { place(of: text) != nil }

  /// Where this text begins first. Takes time in proportion to the length of both.
  func place(of text: String) -> Int? {
    var text = text
    return text.withUTF8 { part in
      guard let first = part.first, let wanted = part.baseAddress, let base = baseAddress else { return nil }
      var start = 0
      while start + part.count <= count {
        // Both borrow the bytes for the call; the part is no longer than what follows the place that was found.
        guard let found = memchr(base + start, Int32(first), count - part.count + 1 - start) else { return nil }
        let place = UnsafeRawPointer(found) - base
        if memcmp(found, wanted, part.count) == 0 { return place }
        start = place + 1
      }
      return nil
    }
  }
}
