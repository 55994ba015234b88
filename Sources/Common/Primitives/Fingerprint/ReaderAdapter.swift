/// The software that drives a reader. The same sensor counts as two readers with different fingers, one for each
/// adapter.
///
/// The cases stand in the order in which `--reader auto` prefers them.
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

extension ReaderAdapter {
  /// The adapter of a reader with this ``ReaderDescription/id``. libfprint's ids begin with the name of a driver, and
  /// no driver is named as another adapter.
  package init(ofReader id: String) { self = Self.allCases.first { id.hasPrefix("\($0.rawValue):") } ?? .libfprint }

  /// The id of fprintd's reader with this name.
  package static func readerID(fprintdName name: String) -> String { "\(fprintd.rawValue):\(name)" }
}

extension ReaderIdentity {
  /// The identity of a reader of fprintd: its name alone, since fprintd reports neither driver nor USB ids.
  ///
  /// It differs from the identity of the same reader driven by libfprint, since their prints are different.
  package init(fprintdName name: String) {
    self.init(driver: "\(ReaderAdapter.fprintd.rawValue): \(name)")
  }

  /// The adapter of the reader.
  package var adapter: ReaderAdapter {
    ReaderAdapter.allCases.first { driver.hasPrefix("\($0.rawValue): ") } ?? .libfprint
  }
}

extension ReaderDescription {
  /// ``ReaderAdapter/sharesFingers`` of its adapter.
  package var sharesFingers: Bool { identity.adapter.sharesFingers }

  /// Whether the prints are kept outside of the store, on the reader's chip or by the service that shares them.
  package var keepsPrints: Bool { sharesFingers || features.contains(.storage) }
}
