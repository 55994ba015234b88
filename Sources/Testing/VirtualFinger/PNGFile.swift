internal import CPNG

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

/// Why an image file could not be read or written.
package struct ImageFileError: Error, Sendable, Hashable, CustomStringConvertible {
  package let path: String
  /// libpng's message, or one of this library.
  package let reason: String

  package var description: String { "\(path): \(reason)" }
}

extension GrayImage {
  /// Reads a PNG file as grey pixels, and adds white columns until the width is a multiple of 4.
  ///
  /// Some image collections store the grey values in the alpha channel. Such a file is read from its alpha channel.
  package init(png path: String) throws(ImageFileError) {
    var control = png_image()
    control.version = png_uint_32(PNG_IMAGE_VERSION)
    // png_image_begin_read_from_file: on success the control structure owns libpng's state until it is freed or the
    // read is finished. On failure libpng has freed the state already.
    guard png_image_begin_read_from_file(&control, path) != 0 else { throw ImageFileError(path, &control) }
    defer { png_image_free(&control) }
    let width = Int(control.width)
    let height = Int(control.height)
    guard width <= Self.largestSide, height <= Self.largestSide else {
      throw ImageFileError(path: path, reason: "larger than \(Self.largestSide) pixels a side")
    }
    let hasAlpha = control.format & UInt32(PNG_FORMAT_FLAG_ALPHA) != 0
    control.format = UInt32(hasAlpha ? PNG_FORMAT_FLAG_ALPHA : 0)
    var bytes = [UInt8](repeating: 0, count: width * height * (hasAlpha ? 2 : 1))
    // png_image_finish_read: writes exactly height rows into the buffer, and keeps no pointer to it.
    guard png_image_finish_read(&control, nil, &bytes, 0, nil) != 0 else { throw ImageFileError(path, &control) }
    let pixels = hasAlpha ? Self.flattened(bytes) : bytes
    self = GrayImage(width: width, height: height, pixels: pixels).paddedToFour()
  }

  /// The longest side that libfprint's virtual reader accepts.
  private static let largestSide = 5000

  /// Turns pairs of grey and alpha into grey. If the alpha channel is a mask, the grey values are composed over white.
  /// If the alpha channel holds the picture itself, its values are used.
  ///
  /// A mask is opaque or transparent nearly everywhere. An alpha channel with mostly other values holds a picture.
  static func flattened(_ pairs: [UInt8]) -> [UInt8] {
    var gray = [UInt8](repeating: 0, count: pairs.count / 2)
    var shades = 0
    for index in gray.indices where pairs[2 * index + 1] != 0 && pairs[2 * index + 1] != 255 { shades += 1 }
    let isAlphaThePicture = 2 * shades > gray.count
    for index in gray.indices {
      let alpha = Int(pairs[2 * index + 1])
      let overWhite = (Int(pairs[2 * index]) * alpha + 255 * (255 - alpha)) / 255
      gray[index] = isAlphaThePicture ? UInt8(alpha) : UInt8(overWhite)
    }
    return gray
  }

  /// Writes the image as an eight-bit grey PNG file.
  package func write(png path: String) throws(ImageFileError) {
    var control = png_image()
    control.version = png_uint_32(PNG_IMAGE_VERSION)
    control.width = UInt32(width)
    control.height = UInt32(height)
    control.format = 0
    // png_image_write_to_file: reads height rows from the buffer, and frees its state before it returns.
    guard png_image_write_to_file(&control, path, 0, pixels, 0, nil) != 0 else {
      throw ImageFileError(path, &control)
    }
  }
}

extension ImageFileError {
  fileprivate init(_ path: String, _ control: inout png_image) {
    self.path = path
    reason = withUnsafeBytes(of: control.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}
