internal import SDBus
internal import Whorl

/// The signals of the service, and what it asks the bus.
struct ServiceSignals: Sendable {
  let connection: BusConnection

  /// The unique name of a name's owner; nil where there is none.
  func owner(of name: String) async -> String? { (try? await connection.owner(of: name)) ?? nil }

  func created(_ collection: ObjectPath) { ofService("CollectionCreated", collection) }

  func changed(_ collection: ObjectPath) { ofService("CollectionChanged", collection) }

  func deleted(_ collection: ObjectPath) { ofService("CollectionDeleted", collection) }

  func created(item: SecretServiceItem) { of(item, "ItemCreated") }

  func changed(item: SecretServiceItem) { of(item, "ItemChanged") }

  func deleted(item: SecretServiceItem) { of(item, "ItemDeleted") }

  /// Tells the client that has shown a prompt of its end.
  func completed(_ prompt: ServicePrompt, of client: String, dismissed: Bool, _ result: BusValue) {
    let path = ObjectPath.prompt(prompt.name).text
    connection.emit(
      BusTarget(destination: client, path: path, interface: ServiceName.prompt), "Completed",
      [.boolean(dismissed), .variant(result)])
  }

  private func ofService(_ member: String, _ collection: ObjectPath) {
    connection.emit(
      BusTarget(path: ObjectPath.service.text, interface: ServiceName.service), member, [.objectPath(collection.text)])
  }

  private func of(_ item: SecretServiceItem, _ member: String) {
    connection.emit(
      BusTarget(path: ObjectPath.collection(item.collection).text, interface: ServiceName.collection), member,
      [.objectPath(item.path.text)])
  }
}
