import Glibc
package import Primitives
package import Processes
package import SecretModel
package import VaultStore

/// The administrator's settings of the service, in `/etc/whorl/whorld.conf` and the files of
/// `/etc/whorl/whorld.conf.d`.
///
/// A line is `name = value`, is empty, or begins with `#`. The files of the folder that end with `.conf` are read after
/// the first one, in the order of their names; a later value replaces an earlier one.
package struct ServiceSettings: Sendable, Hashable {
  /// The readers of all stores, in the words of `--reader`.
  package var reader = ReaderSelection.automatic
  /// The fewest bytes of a new passcode (`passcode-length`); no user can set a shorter one.
  package var shortestPasscode = PasscodeRule.shortestByDefault
  /// Who may enrol fingers (`enrol`).
  package var enrollers = Enrollers.users
  /// The least that opens a store after the service has started (`require-passcode-after-boot`). By default this is the
  /// passcode or, if the user has chosen so, a login. A store that has once required the passcode keeps requiring it.
  package var firstUnlock = FirstUnlock.login

  /// The TPM that holds the keys of the stores (`tpm`).
  package var tpm = ServiceTPM.ofMachine
  /// When keys are sealed under the credential that systemd gives the service (`credential`).
  package var credential = RootStorage.CredentialUse.withoutTPM

  /// The values that `passcode-length` may have.
  private static let passcodeLengths = PasscodeRule.shortestByDefault...64

  /// The default settings.
  package init() {}

  /// Reads the file and the folder beside it. Either may be missing.
  ///
  /// - Parameters:
  ///   - path: a full path.
  ///   - trust: who may have written the files.
  package static func read(
    _ path: String, trusting trust: PathWalk.Trust = .rootAlone
  ) throws(ServiceSettingsError) -> ServiceSettings {
    var settings = ServiceSettings()
    for file in try [path] + dropIns(in: path + ".d") {
      guard access(file, F_OK) == 0 || errno != ENOENT else { continue }
      do throws(PathWalkError) {
        try PathWalk.check(file, trusting: trust)
      } catch {
        throw ServiceSettingsError(path: file, problem: "others than root could have written it")
      }
      try settings.take(try contents(of: file), from: file)
    }
    return settings
  }

  /// Where the keys of stores are kept.
  ///
  /// - Parameters:
  ///   - folder: the folder of the stores.
  ///   - credentials: those of the service.
  package func storage(of folder: String, _ credentials: ServiceCredentials) -> RootStorage {
    tpm.storage(of: folder).with(credentials.current, earlier: credentials.earlier, use: credential)
  }

  private mutating func take(_ text: String, from file: String) throws(ServiceSettingsError) {
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      let line = line.trimmed
      guard !line.isEmpty, line.first != "#" else { continue }
      let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else {
        throw ServiceSettingsError(path: file, problem: "line \(index + 1) is no 'name = value'")
      }
      switch parts[0].trimmed {
      case "reader":
        guard let selection = ReaderSelection(String(parts[1].trimmed)) else {
          throw ServiceSettingsError(path: file, problem: "line \(index + 1) names no reader")
        }
        reader = selection
      case "passcode-length":
        guard let length = Int(parts[1].trimmed), Self.passcodeLengths.contains(length) else {
          throw ServiceSettingsError(
            path: file,
            problem: "line \(index + 1): passcode-length is a number from \(Self.passcodeLengths.lowerBound) to "
              + "\(Self.passcodeLengths.upperBound)")
        }
        shortestPasscode = length
      case "require-passcode-after-boot":
        switch parts[1].trimmed {
        case "yes": firstUnlock = .passcode
        case "no": firstUnlock = .none
        default:
          throw ServiceSettingsError(
            path: file, problem: "line \(index + 1): require-passcode-after-boot is yes or no")
        }
      case "enrol":
        guard let who = Enrollers(rawValue: String(parts[1].trimmed)) else {
          throw ServiceSettingsError(path: file, problem: "line \(index + 1): enrol is users or administrators")
        }
        enrollers = who
      case "tpm":
        guard let place = ServiceTPM(String(parts[1].trimmed)) else {
          throw ServiceSettingsError(
            path: file, problem: "line \(index + 1): tpm is auto, no, the path of a device or swtpm:SOCKET")
        }
        tpm = place
      case "credential":
        guard let use = RootStorage.CredentialUse(rawValue: String(parts[1].trimmed)) else {
          throw ServiceSettingsError(path: file, problem: "line \(index + 1): credential is auto, yes or no")
        }
        credential = use
      case let name:
        throw ServiceSettingsError(
          path: file,
          problem: "line \(index + 1): nothing is called '\(name)' (known: reader, passcode-length, "
            + "require-passcode-after-boot, enrol, tpm, credential)")
      }
    }
  }

  private static func dropIns(in folder: String) throws(ServiceSettingsError) -> [String] {
    guard let names = Folder.names(in: folder) else {
      guard errno == ENOENT else { throw ServiceSettingsError(path: folder, problem: String(cString: strerror(errno))) }
      return []
    }
    return names.filter { $0.hasSuffix(".conf") && !$0.hasPrefix(".") }.map { "\(folder)/\($0)" }
  }

  private static let sizeLimit = 64 << 10

  private static func contents(of file: String) throws(ServiceSettingsError) -> String {
    let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw ServiceSettingsError(path: file, problem: String(cString: strerror(errno)))
    }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    while bytes.count <= sizeLimit {
      let part = [UInt8](unsafeUninitializedCapacity: 4_096) { buffer, count in
        // read: writes at most as many bytes as it is told
        count = max(0, Glibc.read(descriptor, buffer.baseAddress, buffer.count))
      }
      guard !part.isEmpty else { break }
      bytes += part
    }
    guard bytes.count <= sizeLimit, let text = String(validating: bytes, as: UTF8.self) else {
      throw ServiceSettingsError(path: file, problem: "it is no text of at most \(sizeLimit) bytes")
    }
    return text
  }
}

/// Who may enrol the fingers that open a store.
package enum Enrollers: String, Sendable, Hashable {
  /// Each user their own.
  case users
  /// Administrators, whose password polkit asks for.
  case administrators
}

extension Substring {
  /// Without spaces and tabs at both ends.
  fileprivate var trimmed: Substring {
    var rest = self
    while let first = rest.first, first == " " || first == "\t" { rest.removeFirst() }
    while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
    return rest
  }
}
