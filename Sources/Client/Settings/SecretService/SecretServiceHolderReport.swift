internal import Moving
internal import Whorl

/// The program that has the name of the Secret Service.
package struct SecretServiceHolderReport: Encodable {
  /// The path of its executable, or its name.
  package var program: String?
  package var process: Int32?
  /// Whether it is Whorl.
  package var own: Bool

  /// Nil if nobody has the name.
  ///
  /// - Throws: without a bus.
  package static func current() async throws(Failure) -> Self? {
    do throws(ImportError) {
      guard let holder = try await SecretServiceHolder.current(onBus: BaseDirectories.sessionBus) else { return nil }
      return Self(program: holder.program, process: holder.process, own: holder.isOwn)
    } catch {
      throw Failure(error)
    }
  }

  /// Whether Whorl has the name.
  static var isOwn: Bool { get async { (try? await current())?.own == true } }

  /// The owner of the name, started by the bus if there is none.
  ///
  /// - Throws: without a bus.
  package static func running() async throws(Failure) -> Self? { try await start() ? try await current() : nil }

  /// Has the bus start a program for the name if nobody owns it. Returns whether it has an owner then.
  ///
  /// - Parameter orKWallet: whether to start KWallet if the bus can start nothing else.
  /// - Throws: without a bus.
  package static func start(orKWallet: Bool = false) async throws(Failure) -> Bool {
    do throws(ImportError) {
      return try await SecretServiceHolder.start(
        onBus: BaseDirectories.sessionBus, or: orKWallet ? KWalletDaemon.installed.busName : nil)
    } catch {
      throw Failure(error)
    }
  }

  /// Whether the program that has the name, or would be started for it, may hold items.
  ///
  /// - Throws: without a bus.
  package static func mayHoldItems() async throws(Failure) -> Bool {
    do throws(ImportError) {
      return try await SecretServiceHolder.mayHoldItems(onBus: BaseDirectories.sessionBus)
    } catch {
      throw Failure(error)
    }
  }

  private var fileName: String { program.flatMap { $0.split(separator: "/").last }.map(String.init) ?? "" }

  private static let gnomeKeyring = "gnome-keyring-daemon"

  package var isGnomeKeyring: Bool { fileName == Self.gnomeKeyring }

  /// Its common name; nil for an unknown program.
  private var knownName: String? {
    own
      ? "Whorl"
      : [
        Self.gnomeKeyring: "GNOME Keyring", "kwalletd5": "KWallet", "kwalletd6": "KWallet", "ksecretd": "KWallet",
        "keepassxc": "KeePassXC", "oo7-daemon": "oo7",
      ][fileName]
  }

  private var path: String { program ?? process.map { "process \($0)" } ?? "an unknown program" }

  /// Its name.
  package var name: String { knownName ?? path }

  /// Its name and its path.
  package var words: String { own ? name : knownName.map { "\($0) (\(path))" } ?? path }

  /// Advice for a program that Whorl's files cannot prevent from taking the name.
  package var advice: String? {
    switch fileName {
    case "ksecretd":
      "'whorl secret-service enable --kwallet' also has KWallet keep in Whorl what KDE's programs store."
    case "kwalletd5", "kwalletd6":
      "Turn off KWallet's Secret Service, too: apiEnabled=false below [org.freedesktop.secrets] in its kwalletrc."
    case "keepassxc": "Turn off KeePassXC's Secret Service, too: Settings, Secret Service Integration."
    default: nil
    }
  }
}
