internal import CFprint
internal import Fingerprint
internal import GLibKit

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
