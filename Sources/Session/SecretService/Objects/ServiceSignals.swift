internal import SDBus
internal import SecretModel

/// Sends the service's signals, and asks the bus for the owners of names.
struct ServiceSignals: Sendable {
  let connection: BusConnection
  let lists: ItemLists

  /// The unique name of a name's owner; nil if it has none.
  func owner(of name: String) async -> String? { (try? await connection.owner(of: name)) ?? nil }

  /// Announces new property values of an object, for programs that cache them.
  func changed(_ object: ObjectPath, _ interface: String, _ values: [String: BusValue]) {
    connection.emit(
      BusTarget(path: object.text, interface: ServiceName.properties), "PropertiesChanged",
      [.string(interface), .dictionary(values), .array(of: "s", [])])
  }

  /// Announces changed properties of a collection: its label, and whether it is locked.
  func changed(_ collection: ObjectPath, _ values: [String: BusValue]) {
    changed(collection)
    changed(collection, ServiceName.collection, values)
  }

  /// Announces that a collection and the items in it are locked or not. As with the list of items, the items of a large
  /// collection are left out.
  func changed(_ collection: SecretServiceFolder, isLocked: Bool, _ locks: Locks) async {
    changed(collection.path, ["Locked": .boolean(isLocked)])
    for item in await lists.items(of: collection.name) ?? [] where isLocked || !locks.isLocked(item) {
      changed(item: item, ["Locked": .boolean(isLocked)])
    }
  }

  /// Announces changed properties of an item.
  func changed(item: SecretServiceItem, _ values: [String: BusValue]) {
    changed(item: item)
    changed(item.path, ServiceName.item, values)
  }

  /// Announces the current list of collections.
  func changed(collections: [SecretServiceFolder]) {
    changed(.service, ServiceName.service, ["Collections": .paths(collections.map(\.path))])
  }

  func created(_ collection: ObjectPath) { ofService("CollectionCreated", collection) }

  func changed(_ collection: ObjectPath) { ofService("CollectionChanged", collection) }

  func deleted(_ collection: ObjectPath) { ofService("CollectionDeleted", collection) }

  func created(item: SecretServiceItem) {
    of(item, "ItemCreated")
    listChanged(in: item.collection)
  }

  func changed(item: SecretServiceItem) { of(item, "ItemChanged") }

  func deleted(item: SecretServiceItem) {
    of(item, "ItemDeleted")
    listChanged(in: item.collection)
  }

  /// Announces the new list of a collection's items, in a moment.
  private func listChanged(in collection: String) {
    lists.changed(in: collection) { items in
      changed(.collection(collection), ServiceName.collection, ["Items": .paths(items.map(\.path))])
    }
  }

  /// Tells the client that showed a prompt how the prompt ended.
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
