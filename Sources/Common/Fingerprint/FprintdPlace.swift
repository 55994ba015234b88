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

  /// The machine's own fprintd. Only its readers are physical, and it must run as root.
  package static let system = FprintdPlace(
    bus: "unix:path=/run/dbus/system_bus_socket", templates: "/var/lib/fprint")
}

extension ReaderAdapter {
  private static let fprintdID = "fprintd:"

  /// The adapter of a reader with this ``ReaderDescription/id``. libfprint's ids begin with the name of a driver, and
  /// no driver is named fprintd.
  package init(ofReader id: String) { self = id.hasPrefix(Self.fprintdID) ? .fprintd : .libfprint }

  /// The id of fprintd's reader with this name.
  package static func readerID(fprintdName name: String) -> String { fprintdID + name }
}

extension ReaderIdentity {
  private static let fprintd = "fprintd: "

  /// The identity of a reader of fprintd: its name alone, since fprintd reports neither driver nor USB ids.
  ///
  /// It differs from the identity of the same reader driven by libfprint, since their prints are different.
  package init(fprintdName name: String) {
    self.init(driver: Self.fprintd + name)
  }

  /// The adapter of the reader.
  package var adapter: ReaderAdapter { driver.hasPrefix(Self.fprintd) ? .fprintd : .libfprint }
}
