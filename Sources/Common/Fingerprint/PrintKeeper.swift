/// Where the prints of fingers enrolled on a reader are kept.
package enum PrintKeeper: Sendable {
  /// In the store of the program that enrolled them.
  case store
  /// On the reader's chip; the store has copies to recognize them.
  case chip
  /// In fprintd, for this user and all programs.
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
