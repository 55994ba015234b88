internal import Primitives
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
      try check(interface: call.text(0))
      guard let value = try await properties(only: call.text(1))[call.text(1)] else {
        throw .unknownProperty(call.text(1))
      }
      return [.variant(value)]
    case "GetAll(s)":
      // The interfaces that every object has.
      if [ServiceName.properties, ServiceName.introspectable].contains(call.text(0)) { return [.dictionary([:])] }
      try check(interface: call.text(0))
      return [.dictionary(try await properties(only: nil))]
    case "Set(ssv)":
      guard let value = call.arguments[2].asVariant else { throw call.unknown }
      try check(interface: call.text(0))
      try await set(call.text(1), value)
      return []
    default: throw call.unknown
    }
  }

  /// Accepts this object's interface, and an empty name, which means the same.
  private func check(interface: String) throws(ServiceError) {
    let own =
      switch path {
      case .service: ServiceName.service
      case .collection, .alias: ServiceName.collection
      case .item: ServiceName.item
      case .session: ServiceName.session
      case .prompt: ServiceName.prompt
      }
    guard interface == own || interface.isEmpty else { throw .unknownInterface(interface) }
  }

  /// - Parameter only: the one property to compute; nil for all. Avoids listing all items when another property is
  ///   wanted.
  private func properties(only wanted: String?) async throws(ServiceError) -> [String: BusValue] {
    switch path {
    case .service: return ["Collections": .paths(try await call.keeper.recentCollections().map(\.path))]
    case .collection, .alias:
      let collection = try await call.collection(at: path)
      var properties: [String: BusValue] = [
        "Label": .string(collection.label), "Created": Self.time(collection.created),
        "Modified": Self.time(collection.modified),
      ]
      if wanted ?? "Locked" == "Locked" {
        let isLocked = try await call.keeper.isLocked()
        properties["Locked"] = .boolean(isLocked || call.locks.isLocked(collection: collection.name))
      }
      if wanted ?? "Items" == "Items" {
        var items: [ObjectPath] = []
        try await call.keeper.found([:], in: collection.name) { items.append($0.path) }
        properties["Items"] = .paths(items)
      }
      return properties
    case .item(let collection, let name):
      let item = try await call.keeper.item(name, in: collection)
      var properties: [String: BusValue] = [
        "Attributes": .texts(item.attributes), "Label": .string(item.label), "Created": Self.time(item.created),
        "Modified": Self.time(item.modified),
      ]
      if wanted ?? "Locked" == "Locked" {
        // An item with a rule is not reported as locked: clients do not even try to read locked items.
        let isLocked = try await call.keeper.isLocked()
        properties["Locked"] = .boolean(isLocked || call.locks.isLocked(item))
      }
      return properties
    // Sessions and prompts have no properties.
    case .session(let name):
      _ = try call.client.session(ObjectPath.session(name).text)
      return [:]
    case .prompt(let name):
      _ = try call.client.prompt(name)
      return [:]
    }
  }

  private func set(_ name: String, _ value: BusValue) async throws(ServiceError) {
    switch (path, name, value) {
    case (.collection, "Label", .string(let label)), (.alias, "Label", .string(let label)):
      try await call.relabel(try await call.collection(at: path), label)
    case (.item(let collection, let item), "Label", .string(let label)):
      let item = try await call.keeper.item(item, in: collection)
      try await change(item, SecretServiceItem.change(label: label))
      call.signals.changed(item: item, [name: value])
    case (.item(let collection, let item), "Attributes", .texts(let attributes)):
      let item = try await call.keeper.item(item, in: collection)
      try await change(item, item.change(attributes: attributes))
      call.signals.changed(item: item, [name: value])
    case (.collection, "Label", _), (.alias, "Label", _), (.item, "Label", _), (.item, "Attributes", _):
      throw .invalidArguments("\(name) has another type")
    default:
      guard try await properties(only: name)[name] != nil else { throw .unknownProperty(name) }
      throw .readOnly(name)
    }
  }

  /// Changes an item, after asking the person for the same as reading the item would.
  private func change(_ item: SecretServiceItem, _ change: ItemChange) async throws(ServiceError) {
    guard !call.locks.isLocked(item) else { throw .isLocked }
    let isGated = try await call.gate().isGated(item)
    try await call.keeper.settled { () throws(ServiceError) in
      do throws(VaultError) {
        guard isGated else {
          return try await call.keeper.store.update([item.id], change, using: call.keeper.silentContext())
        }
        try await call.touched(item, waits: true) { context, _ throws(VaultError) in
          try await call.keeper.store.update([item.id], change, using: context)
        }
      } catch {
        throw ServiceError(error)
      }
    }
  }

  /// A time in seconds since 1970, as the API represents it.
  private static func time(_ seconds: Double) -> BusValue { .uint64(UInt64(clamping: seconds)) }
}
