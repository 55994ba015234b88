/// The software that drives a reader. The same sensor counts as two readers with different fingers, one for each
/// adapter.
package enum ReaderAdapter: String, Sendable, Hashable, CaseIterable {
  /// fprintd, with the fingers that are enrolled there.
  case fprintd
  /// libfprint in the reader process.
  case libfprint
}
