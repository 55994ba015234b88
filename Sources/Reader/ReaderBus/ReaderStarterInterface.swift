package import SDBus

/// The D-Bus interface that the starter of a reader process serves to it on the same connection, documented in
/// `data/dbus/org.whorl.ReaderStarter1.xml`.
///
/// A reader process is confined and cannot connect to anything itself.
package enum ReaderStarterInterface {
  package static let target = BusTarget(path: "/org/whorl/ReaderStarter", interface: "org.whorl.ReaderStarter1")

  /// Takes the address of a message bus and returns a socket that is connected to it.
  package static let connectToBus = "ConnectToBus"
  package static let connectToBusArguments = "s"
  package static let connectToBusResults = "h"
}
