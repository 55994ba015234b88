/// The software that drives a reader. The same sensor counts as two readers with different fingers, one for each
/// adapter.
package enum ReaderAdapter: String, Sendable, Hashable, CaseIterable {
  /// fprintd, with the fingers that are enrolled there.
  case fprintd
  /// libfprint in the reader process.
  case libfprint

  /// Whether its fingers are those of the user for all programs: they are enrolled and removed elsewhere, too, and polkit
  /// decides who may enrol one.
  package var sharesFingers: Bool {
    switch self {
    case .fprintd: true
    case .libfprint: false
    }
  }

  /// Whether Whorl's reader process opens the device itself, so that it knows the driver, can record the traffic, and
  /// can have only one program use the reader at a time.
  package var opensDevice: Bool {
    switch self {
    case .fprintd: false
    case .libfprint: true
    }
  }
}

extension ReaderDescription {
  /// ``ReaderAdapter/sharesFingers`` of its adapter.
  package var sharesFingers: Bool { identity.adapter.sharesFingers }

  /// Whether the prints are kept outside of the store, on the reader's chip or by the service that shares them.
  package var keepsPrints: Bool { sharesFingers || features.contains(.storage) }
}
