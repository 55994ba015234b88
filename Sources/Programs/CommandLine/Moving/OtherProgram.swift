import ArgumentParser
import Moving
import OtherStores
import Settings
import Whorl

/// The programs that `--from` names.
enum OtherProgram: String, CaseIterable, ExpressibleByArgument {
  case pass, keepassxc, csv, aegis
  case secretService = "secret-service"

  /// The secrets of the program, to be brought in.
  func source(at path: String?, _ session: Session) async throws(ImportError) -> any ImportSource {
    switch self {
    case .pass: try PasswordStore(in: path ?? UserEnvironment.passwordStore, environment: UserEnvironment.entries)
    case .keepassxc: try EntryFile.keepassxc(path ?? EntryFile.standardInput)
    case .csv: try EntryFile.csv(path ?? EntryFile.standardInput)
    case .aegis: try EntryFile.aegis(path ?? EntryFile.standardInput)
    case .secretService: try await SecretServiceStore(onBus: BaseDirectories.sessionBus)
    }
  }
}
