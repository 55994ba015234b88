package import Moving
internal import Whorl

/// The programs whose secrets are imported.
package enum OtherProgram: String, CaseIterable, Sendable {
  case pass, keepassxc, csv, json, aegis
  case secretService = "secret-service"

  /// The secrets of the program, to be brought in.
  ///
  /// - Parameter path: of the file or folder; nil for the program's own, or standard input.
  package func source(at path: String?) async throws(ImportError) -> any ImportSource {
    switch self {
    case .pass: try PasswordStore(in: path ?? UserEnvironment.passwordStore, environment: UserEnvironment.entries)
    case .keepassxc: try EntryFile.keepassxc(path ?? EntryFile.standardInput)
    case .csv: try EntryFile.csv(path ?? EntryFile.standardInput)
    case .json: try EntryFile.json(path ?? EntryFile.standardInput)
    case .aegis: try EntryFile.aegis(path ?? EntryFile.standardInput)
    case .secretService: try await SecretServiceStore(onBus: BaseDirectories.sessionBus)
    }
  }
}
