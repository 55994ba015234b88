internal import SDBus
internal import SecretModel
internal import SessionPrompts

/// The calls of `org.freedesktop.Secret.Collection`.
struct CollectionCalls {
  private static let labelProperty = "\(ServiceName.item).Label"
  private static let attributesProperty = "\(ServiceName.item).Attributes"
  /// A property of API version 0.1. Some programs still send it instead of the schema attribute.
  private static let typeProperty = "\(ServiceName.item).Type"

  let call: CallContext
  let collection: SecretServiceFolder

  func answer() async throws(ServiceError) -> [BusValue] {
    switch call.form {
    case "Delete()":
      try await call.keeper.delete(collection: collection.name)
      // A new collection may get the same name.
      call.locks.unlock(collection: collection.name)
      call.signals.deleted(collection.path)
      call.signals.changed(collections: try await call.keeper.collections())
      return [.objectPath(ObjectPath.none)]
    case "SearchItems(a{ss})":
      var found: [ObjectPath] = []
      try await call.keeper.found(call.texts(0), in: collection.name) { found.append($0.path) }
      return [.paths(found)]
    case "CreateItem(a{sv}\(SecretStructure.signature)b)": return try await createItem()
    default: throw call.unknown
    }
  }

  private func createItem() async throws(ServiceError) -> [BusValue] {
    guard let structure = SecretStructure(call.arguments[1]) else { throw call.unknown }
    guard !call.locks.isLocked(collection: collection.name) else { throw .isLocked }
    let secret = try call.client.session(structure.session).decode(structure)
    let properties = call.arguments[0].asDictionary ?? [:]
    var attributes = properties[Self.attributesProperty]?.asTexts ?? [:]
    if let type = properties[Self.typeProperty]?.asString, attributes[ServiceName.schema] == nil {
      attributes[ServiceName.schema] = type
    }
    let new = NewSecret(
      label: properties[Self.labelProperty]?.asString ?? "", attributes: attributes,
      contentType: structure.contentType, secret: secret)
    var rules: SecretServiceFolder?
    // Also for a program that was updated since it started: what it stores keeps the rule.
    if let path = call.client.program.path ?? call.client.program.earlierPath {
      rules = try await call.keeper.rules(forProgram: path)
    }
    let (item, isNew) = try await call.keeper.create(
      new, in: collection, replacing: call.arguments[2].asBoolean ?? false, program: rules)
    if isNew {
      call.signals.created(item: item)
    } else {
      call.signals.changed(item: item, ["Label": .string(item.label), "Attributes": .texts(item.attributes)])
    }
    return [.objectPath(item.path.text), .objectPath(ObjectPath.none)]
  }
}
