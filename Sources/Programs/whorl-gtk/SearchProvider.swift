internal import CAdwaita
internal import Prompts
internal import SecretModel
internal import Settings
internal import Whorl

/// The items of the store in the searches of the desktop, GNOME's overview and Plasma's KRunner: their names, which `whorl ls`
/// lists, too, and nothing else. The window shows the one that is chosen, and there its secret needs what it always needs.
final class SearchProvider {
  enum Choice {
    case item(ItemID)
    /// All that a search finds.
    case search(String)
  }

  /// The most results of a search. The overview shows about five.
  private static let limit = 20
  /// The fewest letters for which KRunner gets results. It asks for all that is typed there, such as calculations.
  private static let fewestLetters = 2
  private static let path = "/org/whorl/Whorl/SearchProvider"
  /// GNOME's interface, with the names of its arguments in the documentation of GNOME Shell.
  private static let gnome = """
    <node><interface name="org.gnome.Shell.SearchProvider2">
      <method name="GetInitialResultSet">
        <arg type="as" name="terms" direction="in"/><arg type="as" name="results" direction="out"/>
      </method>
      <method name="GetSubsearchResultSet">
        <arg type="as" name="previous_results" direction="in"/><arg type="as" name="terms" direction="in"/>
        <arg type="as" name="results" direction="out"/>
      </method>
      <method name="GetResultMetas">
        <arg type="as" name="identifiers" direction="in"/><arg type="aa{sv}" name="metas" direction="out"/>
      </method>
      <method name="ActivateResult">
        <arg type="s" name="identifier" direction="in"/><arg type="as" name="terms" direction="in"/>
        <arg type="u" name="timestamp" direction="in"/>
      </method>
      <method name="LaunchSearch">
        <arg type="as" name="terms" direction="in"/><arg type="u" name="timestamp" direction="in"/>
      </method>
    </interface></node>
    """
  /// KRunner's interface, with the names of its arguments in KRunner's `org.kde.krunner1.xml`.
  private static let krunner = """
    <node><interface name="org.kde.krunner1">
      <method name="Actions">
        <arg type="a(sss)" name="matches" direction="out"/>
      </method>
      <method name="Match">
        <arg type="s" name="query" direction="in"/><arg type="a(sssida{sv})" name="matches" direction="out"/>
      </method>
      <method name="Run">
        <arg type="s" name="matchId" direction="in"/><arg type="s" name="actionId" direction="in"/>
      </method>
      <method name="Teardown"/>
    </interface></node>
    """

  private let place: ShownStore.Place
  private let application: Widget
  private let chosen: (Choice) -> Void
  private var store: SecretStore?
  private var list = SecretList()

  /// - Parameter chosen: shows what the person has chosen.
  init(_ place: ShownStore.Place, of application: Widget, chosen: @escaping (Choice) -> Void) {
    (self.place, self.application, self.chosen) = (place, application, chosen)
    for interface in [Self.gnome, Self.krunner] {
      BusObject.export(Self.path, interface) { [self] in handle($0) }
    }
  }

  private func handle(_ call: BusObject.Call) {
    // The program does not end before it has answered.
    g_application_hold(application.typed())
    MainLoop.begin {
      switch call.method {
      case "GetInitialResultSet":
        await read()
        call.answer(Variant(ids(matching: call.texts(0))))
      case "GetSubsearchResultSet":
        if store == nil { await read() }
        call.answer(Variant(ids(matching: call.texts(1))))
      case "GetResultMetas":
        if store == nil { await read() }
        call.answer(Variant(descriptions(of: call.texts(0))))
      case "Match":
        await read()
        call.answer(Variant(of: "(sssida{sv})", matches(of: call.text(0))))
      case "Actions":
        call.answer(Variant(of: "(sss)", []))
      case "Teardown":
        // A search of KRunner is over. The next one reads anew.
        (store, list) = (nil, SecretList())
        call.answer()
      case "ActivateResult", "Run":
        if let id = ItemID(spoken: call.text(0)) { chosen(.item(id)) }
        call.answer()
      default:
        chosen(.search(Self.text(call.texts(0))))
        call.answer()
      }
      g_application_release(application.typed())
    }
  }

  /// Reads the names anew. Without a store, or without the service, nothing is found; the window says why.
  private func read() async {
    let (place, known) = (place, store)
    do throws(VaultError) {
      (store, list) = try await VaultWork.run { () async throws(VaultError) in
        let store =
          if let known { known } else {
            try SecretStore.open(at: place.directory, reader: place.reader, configuration: place.configuration)
          }
        return (store, SecretList(try await store.items(.everything)))
      }
    } catch {
      (store, list) = (nil, SecretList())
    }
  }

  private func found(_ text: String) -> [SecretEntry] { list.readable(matching: text, limit: Self.limit) }

  // MARK: As GNOME has it

  private func ids(matching terms: [String]) -> [String] { found(Self.text(terms)).map(\.id.spoken) }

  private func descriptions(of ids: [String]) -> [[String: String]] {
    ids.prefix(Self.limit).compactMap { id in
      list.entries.first { $0.id.spoken == id }.map {
        ["id": id, "name": $0.title, "gicon": PageName($0.kind).icon]
      }
    }
  }

  private static func text(_ terms: [String]) -> String { terms.joined(separator: " ") }

  // MARK: As KRunner has it

  private func matches(of query: String) -> [Variant] {
    guard query.count(where: { !$0.isWhitespace }) >= Self.fewestLetters else { return [] }
    return found(query).map { entry in
      // 30: something that may be meant, behind what is called exactly so. All are as relevant.
      Variant(
        tuple: Variant(entry.id.spoken), Variant(entry.title), Variant(PageName(entry.kind).icon), Variant(Int32(30)),
        Variant(0.5), Variant([:]))
    }
  }
}
