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
