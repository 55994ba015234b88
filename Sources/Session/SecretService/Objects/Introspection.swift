/// What is at a path, as far as its description goes.
enum IntrospectedObject {
  /// A path that only leads to others.
  case folder
  /// The object by which `whorl` recognizes this service.
  case own
  case portal
  case object(ObjectPath)
}

/// The interfaces of each object as XML, for clients that ask before they call.
enum Introspection {
  /// The description of an object.
  ///
  /// - Parameters:
  ///   - object: what it is, which says its interfaces.
  ///   - children: the last parts of the paths of the objects below it.
  static func xml(of object: IntrospectedObject, children: [String]) -> String {
    let own =
      switch object {
      case .folder: ""
      case .own: interface(ServiceName.own, [])
      case .portal: portal + properties
      case .object(let object): interfaces(of: object) + properties
      }
    let nodes = children.map { "<node name=\"\($0)\"/>" }.joined()
    return """
      <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN" \
      "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
      <node>\(own)\(introspectable)\(nodes)</node>

      """
  }

  private static func interfaces(of object: ObjectPath) -> String {
    switch object {
    case .service: service
    case .collection, .alias: collection
    case .item: item
    case .session: interface(ServiceName.session, [method("Close")])
    case .prompt:
      interface(
        ServiceName.prompt,
        [
          method("Prompt", ["in s window-id"]), method("Dismiss"),
          signal("Completed", ["b dismissed", "v result"]),
        ])
    }
  }

  private static let portal = interface(
    ServiceName.portal,
    [
      method(
        "RetrieveSecret",
        ["in o handle", "in s app_id", "in h fd", "in a{sv} options", "out u response", "out a{sv} results"]),
      property("version", "u"),
    ])

  private static let service = interface(
    ServiceName.service,
    [
      method("OpenSession", ["in s algorithm", "in v input", "out v output", "out o result"]),
      method("CreateCollection", ["in a{sv} properties", "in s alias", "out o collection", "out o prompt"]),
      method("SearchItems", ["in a{ss} attributes", "out ao unlocked", "out ao locked"]),
      method("Unlock", ["in ao objects", "out ao unlocked", "out o prompt"]),
      method("Lock", ["in ao objects", "out ao locked", "out o prompt"]),
      method("GetSecrets", ["in ao items", "in o session", "out a{o(oayays)} secrets"]),
      method("ReadAlias", ["in s name", "out o collection"]),
      method("SetAlias", ["in s name", "in o collection"]), signal("CollectionCreated", ["o collection"]),
      signal("CollectionDeleted", ["o collection"]), signal("CollectionChanged", ["o collection"]),
      property("Collections", "ao"),
    ])

  private static let collection = interface(
    ServiceName.collection,
    [
      method("Delete", ["out o prompt"]), method("SearchItems", ["in a{ss} attributes", "out ao results"]),
      method(
        "CreateItem", ["in a{sv} properties", "in (oayays) secret", "in b replace", "out o item", "out o prompt"]),
      signal("ItemCreated", ["o item"]), signal("ItemDeleted", ["o item"]), signal("ItemChanged", ["o item"]),
      property("Items", "ao"), property("Label", "s", "readwrite"), property("Locked", "b"),
      property("Created", "t"), property("Modified", "t"),
    ])

  private static let item = interface(
    ServiceName.item,
    [
      method("Delete", ["out o prompt"]), method("GetSecret", ["in o session", "out (oayays) secret"]),
      method("SetSecret", ["in (oayays) secret"]), property("Locked", "b"),
      property("Attributes", "a{ss}", "readwrite"), property("Label", "s", "readwrite"), property("Created", "t"),
      property("Modified", "t"),
    ])

  private static let properties = interface(
    ServiceName.properties,
    [
      method("Get", ["in s interface", "in s name", "out v value"]),
      method("GetAll", ["in s interface", "out a{sv} properties"]),
      method("Set", ["in s interface", "in s name", "in v value"]),
      signal("PropertiesChanged", ["s interface", "a{sv} changed", "as invalidated"]),
    ])

  private static let introspectable = interface(
    ServiceName.introspectable, [method("Introspect", ["out s xml_data"])])

  private static func interface(_ name: String, _ members: [String]) -> String {
    "<interface name=\"\(name)\">\(members.joined())</interface>"
  }

  /// - Parameter arguments: each as direction, type and name, with spaces between.
  private static func method(_ name: String, _ arguments: [String] = []) -> String {
    let list = arguments.map { argument in
      let words = argument.split(separator: " ")
      return "<arg direction=\"\(words[0])\" type=\"\(words[1])\" name=\"\(words[2])\"/>"
    }
    return "<method name=\"\(name)\">\(list.joined())</method>"
  }

  /// - Parameter arguments: each as type and name, with a space between.
  private static func signal(_ name: String, _ arguments: [String]) -> String {
    let list = arguments.map { argument in
      let words = argument.split(separator: " ")
      return "<arg type=\"\(words[0])\" name=\"\(words[1])\"/>"
    }
    return "<signal name=\"\(name)\">\(list.joined())</signal>"
  }

  private static func property(_ name: String, _ type: String, _ access: String = "read") -> String {
    "<property name=\"\(name)\" type=\"\(type)\" access=\"\(access)\"/>"
  }
}
