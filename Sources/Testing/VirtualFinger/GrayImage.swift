/// Eight-bit grey pixels, row by row from the top; 0 is black.
package struct GrayImage: Sendable, Hashable {
  /// The width in pixels. libfprint's virtual reader needs a multiple of 4.
  package let width: Int
  /// The height in pixels.
  package let height: Int
  /// The pixels, `width * height` bytes.
  package let pixels: [UInt8]

  package init(width: Int, height: Int, pixels: [UInt8]) {
    precondition(width > 0 && height > 0 && pixels.count == width * height)
    self.width = width
    self.height = height
    self.pixels = pixels
  }

  /// The same image with white columns added on the right until the width is a multiple of 4.
  func paddedToFour() -> GrayImage {
    let padding = (4 - width % 4) % 4
    guard padding > 0 else { return self }
    var padded: [UInt8] = []
    padded.reserveCapacity((width + padding) * height)
    for row in 0..<height {
      padded += pixels[row * width..<(row + 1) * width]
      padded += repeatElement(255, count: padding)
    }
    return GrayImage(width: width + padding, height: height, pixels: padded)
  }
}
