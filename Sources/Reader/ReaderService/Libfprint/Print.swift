internal import CFprint
internal import Fingerprint
internal import GLibKit

/// An `FpPrint`. It is used on the main context's thread alone.
struct Print: Sendable {
  /// Larger than any template: five full-size image prints take some 20 KiB.
  static let largestTemplate = 1 << 20

  let object: GObjectReference

  var pointer: OpaquePointer { OpaquePointer(object.pointer) }

  /// Keeps a print that is somebody else's (transfer none).
  init(retaining print: OpaquePointer) {
    object = GObjectReference(retaining: UnsafeMutableRawPointer(print))
  }

  /// Takes over a print (transfer full).
  init(adopting print: OpaquePointer) {
    object = GObjectReference(adopting: UnsafeMutableRawPointer(print))
  }

  /// An empty print to enrol into, without user, finger or date: recordings of match-on-chip readers hold the exact
  /// bytes that are sent to the chip, and nothing that names a person is anybody's business there.
  init(blankFor device: Device) {
    // fp_print_new: transfer floating; the reference sinks it.
    self.init(retaining: fp_print_new(device.pointer))
  }

  /// Parses a template made by a device like this one.
  ///
  /// A malformed template can end the process (libfprint asserts, on three bytes already); what is cheap to see is
  /// refused before that.
  init(parsing template: Template, for device: Device) throws(ReaderError) {
    guard (4...Self.largestTemplate).contains(template.bytes.count), template.bytes.starts(with: "FP3".utf8) else {
      throw .badTemplate
    }
    // fp_print_deserialize: copies the bytes; the result is transfer full.
    let parsed = GLibError.catching { fp_print_deserialize(template.bytes, gsize(template.bytes.count), $0) }
    guard case .success(.some(let print)) = parsed else { throw .badTemplate }
    self.init(adopting: print)
    // A driver may take another driver's bytes for its own.
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
}
