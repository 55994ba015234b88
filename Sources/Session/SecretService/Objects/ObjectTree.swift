internal import SDBus
internal import SecretModel

/// The objects of the service as a tree, from the root of all paths, for programs that list them (`busctl tree`, D-Spy). A
/// client sees its own sessions and prompts alone.
struct ObjectTree {
  /// The most items that the description of a collection names. One with more names none.
  private static let itemLimit = 10_000

  let call: CallContext

  /// The description of the object at a path.
  ///
  /// - Throws: `noSuchObject`.
  func xml(ofPath path: String) async throws(ServiceError) -> String {
    let (node, children) = try await node(at: path)
    return Introspection.xml(of: node, children: children)
  }

  private func node(at path: String) async throws(ServiceError) -> (IntrospectedObject, children: [String]) {
    switch path {
    // `whorl` asks for this one, also where the vault does not answer.
    case ServiceName.ownPath: return (.own, [])
    case ServiceName.portalPath: return (.portal, [])
    case ObjectPath.service.text:
      let (sessions, prompts) = call.client.objects
      return (
        .object(.service),
        ["aliases", "collection"] + (prompts.isEmpty ? [] : ["prompt"]) + (sessions.isEmpty ? [] : ["session"])
      )
    case ObjectPath.folder(.aliases): return (.folder, try await call.keeper.aliases())
    case ObjectPath.folder(.collection): return (.folder, try await call.keeper.collections().map(\.name))
    case ObjectPath.folder(.session): return (.folder, call.client.objects.sessions)
    case ObjectPath.folder(.prompt): return (.folder, call.client.objects.prompts)
    default: break
    }
    if let object = ObjectPath(path) { return (.object(object), try await children(of: object)) }
    // The parts of the paths above.
    let start = path == "/" ? path : "\(path)/"
    let below = [ObjectPath.service.text, ServiceName.portalPath, ServiceName.ownPath].filter { $0.hasPrefix(start) }
    let next = Set(below.compactMap { $0.dropFirst(start.count).split(separator: "/").first.map(String.init) })
    guard !next.isEmpty else { throw .noSuchObject }
    return (.folder, next.sorted())
  }

  /// - Throws: `noSuchObject` where the object is not there.
  private func children(of object: ObjectPath) async throws(ServiceError) -> [String] {
    switch object {
    case .service: break
    case .collection(let name):
      _ = try await call.collection(at: object)
      return (try await call.keeper.items(in: name, atMost: Self.itemLimit) ?? []).map(\.name)
    case .alias: _ = try await call.collection(at: object)
    case .item(let collection, let name): _ = try await call.keeper.item(name, in: collection)
    case .session(let name):
      guard call.client.objects.sessions.contains(name) else { throw .noSuchObject }
    case .prompt(let name): _ = try call.client.prompt(name)
    }
    return []
  }
}
