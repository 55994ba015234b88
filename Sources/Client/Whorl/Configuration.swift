package import Fingerprint
internal import FoundationEssentials
internal import Glibc
internal import Primitives
internal import SDBus
package import SecretModel
internal import TerminalLines

/// The settings in `config.json`. Every value may be absent, and options of the command line take precedence.
package struct Configuration: Sendable, Hashable {
  /// The directory of the store.
  package var store: String?
  package var reader: ReaderSelection?
  /// The constraint new items get.
  package var access: AccessControl.Constraint?
  /// How long to wait for one touch.
  package var timeout: Duration?
  /// The path of `whorl-reader`, if it is not installed in a standard place.
  package var readerProgram: String?
  /// The path of `whorld`, if it is not installed in a standard place.
  package var vaultProgram: String?
  /// Another fprintd than the machine's own, for tests.
  package var fprintd: FprintdPlace?

  package init() {}

  /// Reads the file at `path`; without a path the default file, which may be missing.
  package static func load(from path: String?) throws(ConfigurationError) -> Configuration {
    guard let path else {
      guard let home = BaseDirectories.configuration else { return Configuration() }
      let standard = "\(home)/whorl/config.json"
      // Checked first: most people have no such file, and then no JSON code is loaded.
      guard unsafe Glibc.access(standard, F_OK) == 0 else { return Configuration() }
      return try load(existing: standard)
    }
    return try load(existing: path)
  }

  /// The same, with a `VaultError` for the public API.
  ///
  /// - Throws: `configuration`.
  static func settled(_ path: String?) throws(VaultError) -> Configuration {
    do {
      return try load(from: path)
    } catch {
      throw .configuration("\(error.path): \(error.problem)")
    }
  }

  private static func load(existing path: String) throws(ConfigurationError) -> Configuration {
    let bytes: [UInt8]
    do {
      bytes = try SmallFile.read(path, limit: 64 << 10)
    } catch {
      throw ConfigurationError(path: path, problem: error.problem)
    }
    do {
      return try JSONDecoder().decode(Configuration.self, from: Data(bytes))
    } catch let problem as Problem {
      throw ConfigurationError(path: path, problem: problem.text)
    } catch {
      throw ConfigurationError(path: path, problem: "it is not a JSON object")
    }
  }
}

/// The configuration file cannot be used.
package struct ConfigurationError: Error, Sendable, Hashable {
  package var path: String
  /// What is wrong, worded to follow the path.
  package var problem: String
}

/// Describes one wrong value. Thrown through `Decodable`, whose own errors would name Swift's types.
private struct Problem: Error {
  var text: String
}

extension Configuration: Decodable {
  private enum Key: String, CaseIterable {
    case store, reader, access, timeout, readerProgram, vaultProgram, fprintd
  }

  /// A key of any name, so that unknown keys are noticed.
  private struct AnyKey: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: AnyKey.self)
    let unknown = values.allKeys.map(\.stringValue).filter { Key(rawValue: $0) == nil }.sorted()
    guard unknown.isEmpty else {
      let known = Key.allCases.map(\.rawValue).joined(separator: ", ")
      throw Problem(text: "unknown key \(unknown.joined(separator: ", ")) (known: \(known))")
    }

    func text(_ key: Key, _ wanted: String) throws -> String? {
      let key = AnyKey(stringValue: key.rawValue)
      guard values.contains(key) else { return nil }
      guard let value = try? values.decode(String.self, forKey: key), !value.isEmpty else {
        throw Problem(text: "\(key.stringValue) must be \(wanted)")
      }
      return value
    }

    func path(_ key: Key) throws -> String? {
      // A relative path would depend on the current directory.
      let wanted = "an absolute path"
      guard let value = try text(key, wanted) else { return nil }
      guard value.hasPrefix("/") else { throw Problem(text: "\(key.rawValue) must be \(wanted)") }
      return value
    }

    store = try path(.store)
    readerProgram = try path(.readerProgram)
    vaultProgram = try path(.vaultProgram)
    let readers = ReaderSelection.forms
    reader = try text(.reader, readers).map { value in
      guard let selection = ReaderSelection(value) else { throw Problem(text: "reader must be \(readers)") }
      return selection
    }
    let constraints = AccessControl.Constraint.allCases.map(\.rawValue).joined(separator: ", ")
    access = try text(.access, "one of \(constraints)").map { value in
      guard let constraint = AccessControl.Constraint(rawValue: value) else {
        throw Problem(text: "access must be one of \(constraints)")
      }
      return constraint
    }
    fprintd = try Self.fprintd(in: values)
    let key = AnyKey(stringValue: Key.timeout.rawValue)
    if values.contains(key) {
      guard let seconds = try? values.decode(Double.self, forKey: key), let limit = Duration(timeout: seconds) else {
        throw Problem(text: "timeout must be a number of seconds above 0")
      }
      timeout = limit
    }
  }
}

extension Configuration {
  /// Requires both values: a separate bus makes no sense with the machine's own template files.
  private static func fprintd(in values: KeyedDecodingContainer<AnyKey>) throws -> FprintdPlace? {
    let key = AnyKey(stringValue: Key.fprintd.rawValue)
    guard values.contains(key) else { return nil }
    guard let given = try? values.decode([String: String].self, forKey: key), Set(given.keys) == ["bus", "templates"],
      let bus = given["bus"], BusAddress(bus) != nil, let templates = given["templates"], templates.hasPrefix("/")
    else {
      throw Problem(
        text: "fprintd must be {\"bus\": such as \"unix:path=/run/bus\", \"templates\": an absolute path}")
    }
    return FprintdPlace(bus: bus, templates: templates)
  }
}

extension ReaderSelection {
  /// The forms of a reader's name, for error messages.
  package static let forms =
    "auto, fprintd[:DEVICE], libfprint[:DEVICE], virtual-image:SOCKET, virtual-storage:SOCKET or replay:DIRECTORY"
}

extension Duration {
  /// A time to wait for a touch; nil unless it is above zero and at most a day.
  package init?(timeout seconds: Double) {
    guard seconds > 0, seconds <= 86_400 else { return nil }
    self = .milliseconds(Int64(seconds * 1000))
  }
}
