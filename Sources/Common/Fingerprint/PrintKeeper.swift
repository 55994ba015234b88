/// Who keeps the prints of the fingers that are enrolled on a reader.
package enum PrintKeeper: Sendable {
  /// The store of whoever had them enrolled.
  case store
  /// The reader's own chip; a store has copies to know them by.
  case chip
  /// fprintd: this user's, and whichever program had them enrolled.
  case service
}

extension ReaderDescription {
  package var printKeeper: PrintKeeper {
    switch identity.adapter {
    case .fprintd: .service
    case .libfprint: features.contains(.storage) ? .chip : .store
    }
  }
}
