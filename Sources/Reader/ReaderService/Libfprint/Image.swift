internal import CFprint
internal import CPNG
internal import Fingerprint
internal import GLibKit
internal import SecureMemory

/// A captured `FpImage`: upright, with dark ridges on light, and with its minutiae detected. Used only on the main
/// context's thread.
struct Image: Sendable {
  private let object: GObjectReference

  /// Takes over an image (transfer full).
  init(adopting image: OpaquePointer) {
    object = GObjectReference(adopting: UnsafeMutableRawPointer(image))
  }

  private var pointer: OpaquePointer { OpaquePointer(object.pointer) }

  /// - Parameter includingImage: whether the pixels leave this process, as a PNG file.
  func picture(includingImage: Bool) throws(ReaderError) -> FingerPicture {
    let (width, height) = (Int(fp_image_get_width(pointer)), Int(fp_image_get_height(pointer)))
    var length: gsize = 0
    // fp_image_get_data: transfer none; valid as long as the image.
    guard let data = fp_image_get_data(pointer, &length), width > 0, height > 0, Int(length) == width * height else {
      throw .device("libfprint's picture has no pixels")
    }
    // fp_image_get_minutiae: transfer none. NULL if they were not detected, but every image driver detects them.
    guard let minutiae = fp_image_get_minutiae(pointer) else {
      throw .device("libfprint has not looked for minutiae in the picture")
    }
    let pixels = UnsafeBufferPointer(start: data, count: width * height)
    defer { withExtendedLifetime(object) {} }
    // fp_image_get_ppmm: 0 if the driver does not report it.
    let resolution = Int((fp_image_get_ppmm(pointer) * 1_000).rounded())
    return FingerPicture(
      width: width, height: height, resolution: resolution > 0 ? resolution : nil,
      minutiae: Int(minutiae.pointee.len), contrast: Self.contrast(of: pixels),
      file: includingImage ? try Self.file(of: pixels, width, height) : nil)
  }

  /// The difference between the 95th and the 5th percentile of the grey values.
  private static func contrast(of pixels: UnsafeBufferPointer<UInt8>) -> Int {
    var counts = [Int](repeating: 0, count: 256)
    for pixel in pixels { counts[Int(pixel)] += 1 }
    func grey(ofShare share: Int) -> Int {
      var left = pixels.count * share / 20
      return counts.firstIndex { count in
        left -= count
        return left < 0
      } ?? 255
    }
    return grey(ofShare: 19) - grey(ofShare: 1)
  }

  /// Eight-bit grey pixels, row by row from the top, as a PNG file.
  private static func file(
    of pixels: UnsafeBufferPointer<UInt8>, _ width: Int, _ height: Int
  ) throws(ReaderError) -> PictureFile {
    var control = png_image()
    control.version = png_uint_32(PNG_IMAGE_VERSION)
    control.width = UInt32(width)
    control.height = UInt32(height)
    // PNG_FORMAT_GRAY
    control.format = 0
    // png_image_write_to_memory: with a NULL buffer, only computes the size. It reads the borrowed pixels, and frees
    // its own state before it returns.
    var size = png_alloc_size_t()
    guard png_image_write_to_memory(&control, nil, &size, 0, pixels.baseAddress, 0, nil) != 0 else {
      throw .device("the picture could not be encoded")
    }
    var file = SecretBytes(count: Int(size))
    let written = file.withUnsafeMutableBytes {
      png_image_write_to_memory(&control, $0.baseAddress, &size, 0, pixels.baseAddress, 0, nil)
    }
    guard written != 0, file.count == Int(size) else { throw .device("the picture could not be encoded") }
    do throws(SealedFile.Failure) {
      return PictureFile(try SealedFile.make(of: file))
    } catch {
      throw .device("there is no memory for the picture")
    }
  }
}
