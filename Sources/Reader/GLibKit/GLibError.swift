package import CFprint

/// A `GError`, copied out of C.
package struct GLibError: Error, Sendable {
  /// The error domain. It defines what ``code`` means.
  package let domain: GQuark
  /// The code within the domain.
  package let code: Int32
  /// GLib's message, for display.
  package let message: String

  /// Copies an error that the caller keeps (transfer none).
  package init(copying error: UnsafePointer<GError>) {
    domain = error.pointee.domain
    code = error.pointee.code
    message = error.pointee.message.map { String(cString: $0) } ?? ""
  }

  /// Calls a function that takes a `GError **`. If that returns an error, the error is copied, freed (transfer full)
  /// and returned as the failure.
  package static func catching<T>(
    _ body: (UnsafeMutablePointer<UnsafeMutablePointer<GError>?>) -> T
  ) -> Result<T, GLibError> {
    var error: UnsafeMutablePointer<GError>?
    let value = body(&error)
    guard let error else { return .success(value) }
    defer { g_error_free(error) }
    return .failure(GLibError(copying: error))
  }
}
