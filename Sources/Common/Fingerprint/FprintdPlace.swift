/// Where fprintd is: the bus it serves and the folder it keeps its templates in.
package struct FprintdPlace: Sendable, Hashable {
  /// The address of the bus: `unix:path=` and a full path.
  package var bus: String
  /// The folder of templates: `USER/DRIVER/DEVICE/FINGER` below it.
  package var templates: String

  package init(bus: String, templates: String) {
    self.bus = bus
    self.templates = templates
  }

  /// The machine's own: the only one whose readers are physical, and there fprintd has to run as root.
  package static let system = FprintdPlace(
    bus: "unix:path=/run/dbus/system_bus_socket", templates: "/var/lib/fprint")

  /// What ``ReaderError/permissionDenied(_:)`` names where fprintd's files cannot be read.
  package static let unreadableFiles = "fprintd's template files"
  /// What it begins with where polkit, through fprintd, said no.
  package static let refused = "fprintd: "
}

extension ReaderIdentity {
  private static let fprintd = "fprintd: "

  /// A reader as fprintd knows it: by its name alone, since fprintd tells neither driver nor USB ids.
  ///
  /// It is never the identity of the same reader driven directly, for the prints of the two have nothing in common.
  package init(fprintdName name: String) {
    self.init(driver: Self.fprintd + name)
  }

  /// Through what the reader is driven.
  package var adapter: ReaderAdapter { driver.hasPrefix(Self.fprintd) ? .fprintd : .libfprint }
}
