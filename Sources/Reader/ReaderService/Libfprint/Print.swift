internal import CFprint
internal import Fingerprint
internal import GLibKit

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
}
