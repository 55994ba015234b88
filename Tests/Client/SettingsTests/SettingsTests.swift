import Foundation
import SecretModel
import Testing
import Whorl

@testable import Settings

/// A program whose person has named a store in a folder, in which there is none.
private struct Elsewhere: SettingsContext {
  let configuration = Configuration()
  let named: NamedStore

  func openStore() async throws(Failure) -> SecretStore { throw Failure(.storeNotFound(named.directory ?? "")) }
  func connect(to place: StorePlace) async throws(Failure) -> any VaultConnection {
    throw Failure(.storeNotFound(named.directory ?? ""))
  }
  func close() async {}
  func atInterruption(_ action: (@Sendable () -> Void)?) {}
}

@Suite("What is set up, and what can be")
struct SettingsTests {
  @Test("what needs another thing is taken back before it, and what goes with the store is left out")
  func undoOrder() {
    let found = SetupStep.allCases.map { Finding.done($0, "on", undo: ["take-back", $0.rawValue]) }
    let steps = UndoPlan(found, unfinished: [], for: NamedStore()).steps.map(\.step)
    #expect(
      steps == [.sync, .gpg, .git, .ssh, .passkeys, .screen, .polkit, .sudo, .keyring, .secrets, .kwallet, .login])
  }

  @Test("what only an administrator takes back, or what is not set up, is in no plan")
  func undoOfOthers() {
    let found: [Finding] = [
      .done(.git, "on", undoneByAdministrator: ["remove"]), .open(.ssh, "off", undo: ["remove"]),
      .later(.login, "later"),
    ]
    #expect(UndoPlan(found, unfinished: [], for: NamedStore()).steps.isEmpty)
  }

  @Test("passwords that an earlier run could not copy back are copied before the store may go, from the same store")
  func unfinishedUndo() {
    let named = NamedStore(directory: "/srv/my store")
    let steps = UndoPlan([.note(.secrets, "off")], unfinished: [.secrets, .git], for: named).steps
    #expect(steps.map(\.step) == [.secrets])
    #expect(steps.first?.command == ["whorl", "secret-service", "disable", "--store", "/srv/my store"])
    #expect(steps.first?.finding.wayBack == "whorl secret-service disable --store '/srv/my store'")
  }

  @Test("a step that is set up and does not work counts as set up, and has advice and its undo")
  func faulty() {
    let found = Finding.faulty(.ssh, "two keys, but no agent", "start one", undo: ["whorl", "ssh", "disable"])
    #expect(found.isSetUp && found.state == .faulty && found.step == .ssh)
    #expect(found.advice == "start one" && found.wayBack == "whorl ssh disable")
  }

  @Test("the command of a finding is the first one that its advice has between quotes")
  func commandOfAdvice() {
    func command(_ advice: String?) -> String? { Finding.warning("ssh", "off", advice).commandOfAdvice }
    #expect(command("'whorl ssh enable' changes that") == "whorl ssh enable")
    #expect(command("name 'store', or try 'sudo modprobe uhid'; 'whorl doctor' tells more") == "sudo modprobe uhid")
    #expect(command("log in with it once") == nil && command("it is 'off'") == nil && command(nil) == nil)
  }

  @Test("a check of a store that is not there says how to make one, and opens nothing")
  func missingStore() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "whorl-\(UUID().uuidString)").path
    var findings: [Finding] = []
    let store = await Checkup(Elsewhere(named: NamedStore(directory: folder))).openStore(&findings)
    #expect(store == nil && findings.map(\.subject) == ["service", "store"])
    let found = try #require(findings.last)
    #expect(found.state == .faulty && found.words == "none in \(folder)" && found.advice == "'whorl init' makes one")
  }

  @Test("a problem of sync is told before a lesser one, and a store that does not share has none")
  func syncChecks() {
    func check(_ change: (inout SyncStatus) -> Void) -> Finding? {
      var status = SyncStatus()
      status.standing = .member
      change(&status)
      return SyncSurvey(status).check
    }
    #expect(SyncSurvey(SyncStatus()).check == nil)
    #expect(check { _ in }?.state == .good)
    #expect(check { $0.pending = 2 }?.words == "2 records not published yet")
    #expect(check { $0.lost = 1 }?.failure?.status == .damaged)
    let two = "there are two different lists of your computers"
    #expect(check { ($0.lost, $0.isForked, $0.isLocked) = (1, true, true) }?.failure?.what == two)
    // Nothing can be put back before that is confirmed.
    #expect(check { ($0.lost, $0.isLocked) = (1, true) }?.words == "the list of your computers has changed")
    #expect(check { $0.standing = .outdated }?.state == .failed)
    #expect(check { $0.standing = .asking }?.state == .faulty)
  }

  @Test("a word in a unit or in a service file of the bus is read back as it was written")
  func quotedWords() {
    for word in ["/srv/my store", "100%", "a$b", "say \"x\"", "it's", "-x", "--store"] {
      #expect(UnitWord.words(of: "run \(UnitWord.quoted(word))") == ["run", word])
      #expect(BusWord.words(of: "run \(BusWord.quoted(word))") == ["run", word])
    }
  }

  @Test("a file of the person's is neither replaced nor removed; Whorl's own is both")
  func markedFiles() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "whorl-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let file = MarkedFile("\(folder)/a/b.conf", of: .ssh, ["[Service]"])
    #expect(file.state == .missing)
    #expect(try [file].write() == [file.path])
    #expect(file.state == .current)
    #expect(MarkedFile(file.path, of: .ssh, ["[Unit]"]).state == .outdated)
    #expect(try file.remove())
    try "theirs\n".write(toFile: file.path, atomically: true, encoding: .utf8)
    #expect(file.state == .foreign)
    #expect(throws: Failure.self) { try file.write() }
    #expect(try !file.remove())
    #expect(try String(contentsOfFile: file.path, encoding: .utf8) == "theirs\n")
  }

  @Test("GNOME Keyring keeps its other components without its Secret Service")
  func keyringCommand() {
    #expect(
      SecretServiceFiles.withoutSecrets("/usr/bin/gnome-keyring-daemon --components=\"pkcs11,secrets\" --foreground")
        == "/usr/bin/gnome-keyring-daemon --components=\"pkcs11\" --foreground")
    #expect(SecretServiceFiles.withoutSecrets("gnome-keyring-daemon --components=pkcs11") == nil)
  }
}
