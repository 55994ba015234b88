/// Through what a reader is driven: the two are different readers, with different fingers, though the sensor be one.
package enum ReaderAdapter: String, Sendable, Hashable, CaseIterable {
  /// By fprintd, with the fingers that are enrolled there.
  case fprintd
  /// By libfprint in the reader process.
  case libfprint
}
