internal import FoundationEssentials
internal import Glibc
package import Primitives
internal import Prompts
internal import SDBus
package import SecretModel

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

/// The XDG base directories of the user who runs the program. Only these paths are taken from the environment.
package enum BaseDirectories {
  /// `$XDG_CONFIG_HOME`, else `~/.config`; nil where the home folder is unknown or its path is not UTF-8.
  package static var configuration: String? { directory("XDG_CONFIG_HOME", below: ".config") }

  /// `$XDG_DATA_HOME`, else `~/.local/share`; nil where the home folder is unknown or its path is not UTF-8.
  package static var data: String? { directory("XDG_DATA_HOME", below: ".local/share") }

  /// `$XDG_STATE_HOME`, else `~/.local/state`; nil where the home folder is unknown or its path is not UTF-8.
  package static var state: String? { directory("XDG_STATE_HOME", below: ".local/state") }

  /// The folders of the machine's configuration in the order of their importance: `$XDG_CONFIG_DIRS`, else `/etc/xdg`.
  package static var machineConfiguration: [String] {
    let given = variable("XDG_CONFIG_DIRS").flatMap { String(validating: $0, as: UTF8.self) } ?? ""
    let folders = given.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
    return folders.isEmpty ? ["/etc/xdg"] : folders
  }

  /// `$XDG_RUNTIME_DIR`, else `/run/user/UID`.
  package static var runtime: String {
    if let value = variable("XDG_RUNTIME_DIR"), value.first == UInt8(ascii: "/"),
      let path = String(validating: value, as: UTF8.self)
    {
      return path
    }
    return "/run/user/\(getuid())"
  }

  /// The address of the message bus of the user's session: `$DBUS_SESSION_BUS_ADDRESS`, else that of the runtime folder.
  package static var sessionBus: String {
    guard let value = variable("DBUS_SESSION_BUS_ADDRESS"), !value.isEmpty,
      let given = String(validating: value, as: UTF8.self)
    else { return BusAddress.of(socketAt: "\(runtime)/bus") }
    return given
  }

  private static func directory(_ name: String, below: String) -> String? {
    // The specification requires that relative paths are ignored.
    if let value = variable(name), value.first == UInt8(ascii: "/") { return String(validating: value, as: UTF8.self) }
    if let home = variable("HOME"), home.first == UInt8(ascii: "/") { return path(home, below) }
    // Returns a static entry that later calls overwrite: copied at once.
    guard let entry = unsafe getpwuid(getuid()), let home = unsafe entry.pointee.pw_dir else { return nil }
    return path(unsafe bytes(home), below)
  }

  /// Nil for a path that is not UTF-8: a repaired one would name another folder.
  private static func path(_ home: [UInt8], _ below: String) -> String? {
    String(validating: home, as: UTF8.self).map { "\($0)/\(below)" }
  }

  /// The value of a variable of the environment.
  private static func variable(_ name: String) -> [UInt8]? {
    // The value belongs to the environment: copied at once.
    unsafe getenv(name).map { unsafe bytes($0) }
  }

  private static func bytes(_ text: UnsafePointer<CChar>) -> [UInt8] {
    unsafe Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
  }
}

/// Paths from the root.
package enum FullPath {
  /// The folder that this program is in; the root where it was removed.
  package static var currentFolder: String {
    // getcwd allocates the result, which is ours to free.
    guard let folder = unsafe getcwd(nil, 0) else { return "/" }
    defer { unsafe free(folder) }
    return unsafe String(cString: folder)
  }

  /// The full path of a path that a person has named, which may be relative to the current folder.
  package static func of(_ path: String) -> String {
    guard !path.isEmpty, !path.hasPrefix("/") else { return path }
    return currentFolder == "/" ? "/\(path)" : "\(currentFolder)/\(path)"
  }
}
