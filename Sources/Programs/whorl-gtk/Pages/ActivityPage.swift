internal import CAdwaita
internal import Primitives
internal import Prompts
internal import SecretModel
internal import Whorl

/// What programs have asked for: the log of the store, the newest first, with a filter.
final class ActivityPage: WindowPage {
  private let interface = Interface(PackageResources.activity_ui)
  private let store: ShownStore
  private var activity = ActivityList()
  private var shown: [ActivityEntry] = []
  private var rows: RowList?
  private var isLoading = false

  init(of store: ShownStore, goBack: @escaping () -> Void) {
    self.store = store
    interface["back-to-pages"].on("clicked") { goBack() }
    interface["filter"].setSpokenName(Text.of("Filter"))
    interface["filter"].on("search-changed") { [weak self] in
      self?.update()
      self?.rows?.scrollToStart()
    }
    rows = RowList(
      in: interface["list"], named: Text.of("Activity"),
      fill: { [weak self] position, row in self?.fill(row, position) },
      activate: { [weak self] position in self?.explain(position) })
  }

  var root: Widget { interface["page"] }

  func setNarrow(_ isNarrow: Bool) { interface["back-to-pages"].isVisible = isNarrow }

  func refresh() {
    guard !isLoading else { return }
    isLoading = true
    MainLoop.begin {
      do throws(VaultError) {
        let log = try await store.call { service throws(VaultError) in try await service.log(AuditSearch()) }
        activity = ActivityList(log, of: store.list.entries.map(\.item))
        update()
      } catch {
        let sentence = error.sentence
        interface["problem"].set("description", sentence)
        interface["states"].show("problem")
      }
      isLoading = false
    }
  }

  private func update() {
    shown = activity.entries(matching: interface["filter"].text)
    interface["states"].show(
      !shown.isEmpty ? "entries" : interface["filter"].text.isEmpty ? "empty" : "none-found")
    rows?.show(count: shown.count)
  }

  private func fill(_ row: Interface, _ position: Int) {
    guard shown.indices.contains(position) else { return }
    let entry = shown[position]
    row["icon"].set("icon-name", entry.isDone ? "object-select-symbolic" : "action-unavailable-symbolic")
    row["title"].set("label", entry.title)
    row["subtitle"].set("label", entry.summary)
    row["mark"].isVisible = false
  }

  private func explain(_ position: Int) {
    guard shown.indices.contains(position) else { return }
    let entry = shown[position]
    let advice = Text.of(
      "Was this not you? End that program, and change your passcode. A program's name is what it calls itself.")
    Question.tell(entry.title, "\(entry.summary)\n\n\(advice)", over: store.window)
  }
}
