package import Foundation
package import FoundationXML

/// The members of an interface, as its introspection XML declares them.
package final class IntrospectionReader: NSObject, XMLParserDelegate {
  /// The paths of the objects.
  package private(set) var nodes: [String] = []
  package private(set) var interfaces: [String] = []
  /// The D-Bus signatures `ARGUMENTS -> RESULTS` of each `method NAME` or `signal NAME`.
  package private(set) var members: [String: String] = [:]
  private var member = ""
  private var ins = ""
  private var outs = ""

  private struct Unreadable: Error {}

  /// Reads the file of an interface in `data/dbus/`.
  package init(of interface: String) throws {
    super.init()
    let parser = XMLParser(data: try Data(contentsOf: Self.file(of: interface)))
    parser.delegate = self
    guard parser.parse() else { throw Unreadable() }
  }

  /// The file of an interface in `data/dbus/`.
  package static func file(of interface: String) -> URL {
    URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../data/dbus/\(interface).xml")
  }

  package func parser(
    _ parser: XMLParser, didStartElement element: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String]
  ) {
    let name = attributes["name"] ?? ""
    switch element {
    case "node": nodes.append(name)
    case "interface": interfaces.append(name)
    case "method", "signal": (member, ins, outs) = ("\(element) \(name)", "", "")
    case "arg" where attributes["direction"] == "out": outs += attributes["type"] ?? ""
    case "arg": ins += attributes["type"] ?? ""
    default: break
    }
  }

  package func parser(
    _ parser: XMLParser, didEndElement element: String, namespaceURI: String?, qualifiedName: String?
  ) {
    if element == "method" || element == "signal" { members[member] = "\(ins) -> \(outs)" }
  }
}
