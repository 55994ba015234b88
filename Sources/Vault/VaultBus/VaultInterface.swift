package import SDBus

// VaultBus: the vault on D-Bus, org.whorl.Vault1, for both sides: `VaultBusClient` is a `VaultConnection` to a vault in another
// process, and `VaultBusServer` and `VaultBusListener` serve any `VaultConnection`. There is no message bus: a connection is
// a socket between the two.
//
// Begin with a call, such as `Calls.unlock` in Calls/PasscodeCalls.swift: what the server does with it, and below it the
// method of the client. `Call` in Wire has the rest of its way. `VaultObject` admits the calls of a
// client and answers them; `VaultWire` is the client's end.
//
// The values in messages are in Values, by subject. Each names its fields once, for both directions, with the coder of
// SDBus (`BusFields`, decision 0182). A secret is never among them, but in a sealed memory file whose descriptor the message
// carries (`BusFile`). What a client sends is refused if it has unknown fields, and what a vault answers may have some
// (decision 0035).

/// The D-Bus interface of the vault, documented in `data/dbus/org.whorl.Vault1.xml`. Its name contains the major
/// version.
package enum VaultInterface {
  package static let target = BusTarget(path: "/org/whorl/Vault", interface: "org.whorl.Vault1")

  /// The minor version: it counts additions that an older peer can ignore.
  package static let minor: UInt32 = 0
  /// The names of additions since version 1.0. A client checks them before it uses an addition that an older vault
  /// would refuse.
  package static let features: [String] = []

  /// Emitted for each event of a context, before the answer of the call that the event belongs to.
  package static let eventSignal = "Event"
  package static let eventSignalArguments = "ayxsa{sv}"

  /// The call that answers an event.
  static let respond = "Respond"

  /// The prefix of the D-Bus name of each ``VaultError``.
  package static let errorPrefix = "org.whorl.Vault1.Error."

  /// The most open calls of a connection. Those that end the wait of another call are not counted.
  package static let callLimit = 64
  /// The most that the arguments of a call may cost (`BusValue.cost`).
  package static let requestLimit = 16 << 20
  /// The most that the results of a call may cost. D-Bus allows 64 MiB in an array.
  package static let answerLimit = 64 << 20
}
