// What libfprint makes of a finger: a print, the prints of one identification, an image.

internal import CFprint
internal import CPNG
internal import Primitives

/// An `FpPrint`. Used only on the main context's thread.
struct Print: Sendable {
  /// Larger than any template: five full-size image prints take some 20 KiB.
  static let largestTemplate = 1 << 20

  let object: GObjectReference

  var pointer: OpaquePointer { OpaquePointer(object.pointer) }

  /// Adds a reference to a print that somebody else owns (transfer none).
  init(retaining print: OpaquePointer) {
    object = GObjectReference(retaining: UnsafeMutableRawPointer(print))
  }

  /// Takes over a print (transfer full).
  init(adopting print: OpaquePointer) {
    object = GObjectReference(adopting: UnsafeMutableRawPointer(print))
  }

  /// An empty print for an enrolment, without user, finger or date: these are sent to the chip of a reader that stores
  /// prints, and would name a person there and in recordings.
  init(blankFor device: Device) {
    // fp_print_new: transfer floating; the reference sinks it.
    self.init(retaining: fp_print_new(device.pointer))
  }

  /// Parses a template made by a device like this one.
  ///
  /// A malformed template can end the process, because libfprint checks with assertions. Obviously wrong ones are
  /// refused first.
  init(parsing template: Template, for device: Device) throws(ReaderError) {
    guard (4...Self.largestTemplate).contains(template.bytes.count), template.bytes.starts(with: "FP3".utf8) else {
      throw .badTemplate
    }
    // fp_print_deserialize: copies the bytes; the result is transfer full.
    let parsed = GLibError.catching { fp_print_deserialize(template.bytes, gsize(template.bytes.count), $0) }
    guard case .success(.some(let print)) = parsed else { throw .badTemplate }
    self.init(adopting: print)
    // A driver may accept another driver's bytes.
    guard fp_print_compatible(pointer, device.pointer) != 0 else { throw .badTemplate }
  }

  func serialized() throws(ReaderError) -> Template {
    var data: UnsafeMutablePointer<guchar>?
    var length: gsize = 0
    // fp_print_serialize: the bytes are transfer full.
    let result = GLibError.catching { fp_print_serialize(pointer, &data, &length, $0) }
    defer { g_free(data) }
    switch result {
    case .success(let done):
      guard done != 0, let data else { throw .device("libfprint did not serialise the print") }
      return Template(bytes: Array(UnsafeBufferPointer(start: data, count: Int(length))))
    case .failure(let error): throw .device(error.message)
    }
  }

  /// Whether two prints hold the same data.
  func isSame(as other: Print) -> Bool {
    fp_print_equal(pointer, other.pointer) != 0
  }

  /// Deletes the print of an enrolment whose result is dropped, even if the task is cancelled.
  func delete(
    from device: Device, isolation: isolated any Actor = #isolation
  ) async -> Result<Void, GLibError> {
    await finished {
      fp_device_delete_print(device.pointer, pointer, nil, $0, $1)
    } finish: { result in
      GLibError.catching { _ = fp_device_delete_print_finish(device.pointer, result, $0) }
    }
  }
}

/// The prints of one identification, in the order in which they are compared.
///
/// `@unchecked Sendable`: filled before the scan and only read after it, on the main context's thread.
final class Gallery: @unchecked Sendable {
  /// For fp_device_identify, which copies it (transfer none).
  let array: UnsafeMutablePointer<GPtrArray>
  private var entries: [(id: EnrolmentID, print: Print)] = []

  init() {
    // g_ptr_array_new: transfer full. The elements are kept alive by `entries`.
    array = g_ptr_array_new()
  }

  deinit {
    g_ptr_array_unref(array)
  }

  func append(_ print: Print, as id: EnrolmentID) {
    g_ptr_array_add(array, print.object.pointer)
    entries.append((id, print))
  }

  /// The outcome of an identification. Nil for a match that is not in the gallery.
  func outcome(for match: Print?) -> ScanOutcome? {
    guard let match else { return .noMatch }
    return entries.first { $0.print.pointer == match.pointer }.map { .match($0.id) }
  }
}

/// Takes the prints from an array (transfer full).
func takePrints(_ array: UnsafeMutablePointer<GPtrArray>) -> [Print] {
  defer { g_ptr_array_unref(array) }
  return (0..<Int(array.pointee.len)).compactMap { index in
    array.pointee.pdata[index].map { Print(retaining: OpaquePointer($0)) }
  }
}

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
