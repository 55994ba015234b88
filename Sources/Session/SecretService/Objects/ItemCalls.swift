internal import SDBus
internal import SecretModel
internal import Whorl

/// The calls of `org.freedesktop.Secret.Item`.
struct ItemCalls {
  let call: CallContext
  let collection: String
  let name: String

  func answer() async throws(ServiceError) -> [BusValue] {
    switch call.form {
    case "Delete()":
      let item = try await call.keeper.item(name, in: collection)
      try await call.keeper.delete(item)
      call.signals.deleted(item: item)
      return [.objectPath(ObjectPath.none)]
    case "GetSecret(o)":
      let session = try call.client.session(call.text(0))
      let read = ItemRead(call: call, collection: collection, name: name)
      return [try session.encode(try await read.released(waits: true), session: call.text(0))]
    case "SetSecret(\(SecretStructure.signature))": return try await setSecret()
    default: throw call.unknown
    }
  }

  private func setSecret() async throws(ServiceError) -> [BusValue] {
    guard let structure = SecretStructure(call.arguments[0]) else { throw call.unknown }
    let secret = try call.client.session(structure.session).decode(structure)
    let item = try await call.keeper.item(name, in: collection)
    guard !call.locks.isLocked(item) else { throw .isLocked }
    try await call.keeper.replaceSecret(of: item, with: secret, contentType: structure.contentType)
    call.signals.changed(item: item)
    return []
  }
}
