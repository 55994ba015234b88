internal import SDBus
internal import SecretModel
internal import Whorl

/// The calls of `org.freedesktop.DBus.Properties`, for every object.
struct PropertyCalls {
  let call: CallContext
  let path: ObjectPath

  func answer() async throws(ServiceError) -> [BusValue] {
    switch call.form {
    case "Get(ss)":
      guard let value = try await properties(call.text(0), only: call.text(1))[call.text(1)] else {
        throw .invalidArguments("there is no property \(call.text(1)) here")
      }
      return [.variant(value)]
    case "GetAll(s)": return [.dictionary(try await properties(call.text(0), only: nil))]
    case "Set(ssv)":
      guard let value = call.arguments[2].asVariant else { throw call.unknown }
      try await set(call.text(0), call.text(1), value)
      return []
    default: throw call.unknown
    }
  }

  /// - Parameter only: the one property to compute; nil for all. Avoids listing all items when another property is
  ///   wanted.
  private func properties(_ interface: String, only wanted: String?) async throws(ServiceError) -> [String: BusValue] {
    switch (path, interface) {
    case (.service, ServiceName.service):
      return ["Collections": CallContext.paths(try await call.keeper.collections().map(\.path))]
    case (.collection, ServiceName.collection), (.alias, ServiceName.collection):
      let collection = try await call.collection(at: path)
      var properties: [String: BusValue] = [
        "Label": .string(collection.label), "Created": Self.time(collection.created),
        "Modified": Self.time(collection.modified),
      ]
      if wanted ?? "Locked" == "Locked" {
        let isLocked = await call.keeper.isLocked()
        properties["Locked"] = .boolean(isLocked || call.locks.isLocked(collection: collection.name))
      }
      if wanted ?? "Items" == "Items" {
        var items: [ObjectPath] = []
        try await call.keeper.each([:], in: collection.name) { items.append($0.path) }
        properties["Items"] = CallContext.paths(items)
      }
      return properties
    case (.item(let collection, let name), ServiceName.item):
      let item = try await call.keeper.item(name, in: collection)
      var properties: [String: BusValue] = [
        "Attributes": .texts(item.attributes), "Label": .string(item.label), "Created": Self.time(item.created),
        "Modified": Self.time(item.modified),
      ]
      if wanted ?? "Locked" == "Locked" {
        // An item with a rule is not reported as locked: clients do not even try to read locked items.
        let isLocked = await call.keeper.isLocked()
        properties["Locked"] = .boolean(isLocked || call.locks.isLocked(item))
      }
      return properties
    // Sessions and prompts have no properties.
    default: return [:]
    }
  }

  private func set(_ interface: String, _ name: String, _ value: BusValue) async throws(ServiceError) {
    switch (path, interface, name, value) {
    case (.collection, ServiceName.collection, "Label", .string(let label)),
      (.alias, ServiceName.collection, "Label", .string(let label)):
      var collection = try await call.collection(at: path)
      collection.label = label
      try await call.keeper.keep(collection)
      call.signals.changed(collection.path, ["Label": .string(label)])
    case (.item(let collection, let item), ServiceName.item, "Label", .string(let label)):
      let item = try await call.keeper.item(item, in: collection)
      try await change(item, SecretServiceItem.change(label: label))
      call.signals.changed(item: item, [name: value])
    case (.item(let collection, let item), ServiceName.item, "Attributes", .texts(let attributes)):
      let item = try await call.keeper.item(item, in: collection)
      try await change(item, item.change(attributes: attributes))
      call.signals.changed(item: item, [name: value])
    default: throw .invalidArguments("\(name) cannot be set to this")
    }
  }

  /// Changes an item, after asking the person for the same as reading the item would.
  private func change(_ item: SecretServiceItem, _ change: ItemChange) async throws(ServiceError) {
    guard !call.locks.isLocked(item) else { throw .isLocked }
    let isGated = try await call.gate().isGated(item)
    do throws(VaultError) {
      let context = isGated ? try await call.client.reads.context(for: item) : call.keeper.silentContext()
      try await call.keeper.store.update([item.id], change, using: context)
    } catch {
      throw ServiceError(error)
    }
  }

  /// A time in seconds since 1970, as the API represents it.
  private static func time(_ seconds: Double) -> BusValue { .uint64(UInt64(max(seconds, 0))) }
}
