import Primitives
import SecretModel
import Synchronization
import Testing
import Whorl

@testable import Settings

/// A person, or a script, who types these words, and a program that notes what it tells them.
private final class Typing: ChangeDialogue {
  struct NoStore: SettingsContext {
    let configuration = Configuration()
    let named = NamedStore()
    func openStore() async throws(Failure) -> SecretStore { throw Failure(.storeNotFound("")) }
    func connect(to place: StorePlace) async throws(Failure) -> any VaultConnection {
      throw Failure(.storeNotFound(""))
    }
    func close() async {}
    func atInterruption(_ action: (@Sendable () -> Void)?) {}
  }

  let context: any SettingsContext = NoStore()
  let isScripted: Bool
  private let words: Mutex<[String]>
  private let heard = Mutex<[ChangeProgress]>([])

  init(_ words: [String], isScripted: Bool = false) {
    self.words = Mutex(words)
    self.isScripted = isScripted
  }

  var told: [String] { heard.withLock { $0.map(\.words) } }

  func tell(_ progress: ChangeProgress) { heard.withLock { $0.append(progress) } }
  func confirm(_ question: String, assent: String) async throws(Failure) { throw .cancelled }
  func asking<Answer: Sendable>(
    _ manner: ChangeAsking, _ request: AskingRequest<Answer, any Error>
  ) async throws(Failure) -> Answer { throw .cancelled }
  func openIfWaiting(to purpose: String) async throws(Failure) {}
  func passcode() async throws(Failure) -> SharedSecret { throw .cancelled }

  var canAskForPasswords: Bool { words.withLock { !$0.isEmpty } }
  func password(_ what: String, isOptional: Bool) async throws(Failure) -> SharedSecret {
    let word = words.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    guard let word else { throw .usage("no more lines") }
    return SharedSecret(SecretBytes(copying: Array(word.utf8).span))
  }
  func newPassword(_ what: String) async throws(Failure) -> SharedSecret { try await password(what, isOptional: false) }

  let canOpenCopies = false
  func secret(in copy: SealedCopy) async throws(Failure) -> SharedSecret { throw .cancelled }
  func trial(of copy: SealedCopy, knowing passcode: SharedSecret?) async throws(Failure) -> SharedSecret? { nil }
}

@Suite("What a person changes, and how it asks and tells")
struct ChangeTests {
  private func isRight(_ word: SharedSecret) -> Bool? {
    word.bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } == "right" ? true : nil
  }

  @Test("a person may type a wrong password again, is told so, and is refused at the third")
  func passwordsOfPersons() async throws {
    let person = Typing(["wrong", "right"])
    #expect(try await person.proven("password of KWallet") { self.isRight($0) })
    #expect(person.told == ["That is not the password of KWallet. Type it again."])
    let forgetful = Typing(["one", "two", "three", "right"])
    let failure = await #expect(throws: Failure.self) {
      _ = try await forgetful.proven("password of KWallet") { self.isRight($0) }
    }
    #expect(failure?.status == .refused && failure?.what == "that is not the password of KWallet")
    #expect(forgetful.told.count == 2)
  }

  @Test("a script gives a password once, and an empty one is no password of a wallet")
  func passwordsOfScripts() async throws {
    let script = Typing(["wrong", "right"], isScripted: true)
    await #expect(throws: Failure.self) { _ = try await script.proven("password of KWallet") { self.isRight($0) } }
    #expect(script.told.isEmpty)
    let empty = Typing(["", "right"], isScripted: true)
    let failure = await #expect(throws: Failure.self) { _ = try await empty.newPasswordOfWallet("password") }
    #expect(failure?.what == "the password may not be empty")
    let person = Typing(["", "right"])
    #expect(try await person.newPasswordOfWallet("password").bytes.count == 5)
    #expect(person.told == ["It may not be empty. Type it again."])
  }

  @Test("a keyring with a password of its own is left closed after three wrong answers, or with nothing typed")
  func passwordsOfKeyrings() async {
    #expect(await Typing(["word"]).passwordOfKeyring("Work", wrong: 2)?.bytes.count == 4)
    #expect(await Typing(["word"]).passwordOfKeyring("Work", wrong: 3) == nil)
    #expect(await Typing([""]).passwordOfKeyring("Work", wrong: 0) == nil)
    #expect(await Typing(["word"], isScripted: true).passwordOfKeyring("Work", wrong: 1) == nil)
  }

  @Test("a failure that a change survives is told with its advice")
  func survivedFailure() {
    let progress = ChangeProgress.failed(Failure(.unavailable, "it ended", advice: "begin again"))
    #expect(progress.kind == .problem && progress.words == "it ended: begin again")
    #expect(progress.failure?.status == .unavailable)
  }

  @Test("what is given back says what is left, and is whole only when nothing is")
  func givenBack() {
    var report = SecretServiceReturnReport(dryRun: false)
    #expect(report.isWhole && report.progress.isEmpty)
    #expect(report.progressOfFiles.map(\.words) == ["There is no file of Whorl's to remove."])
    report.removed = ["/home/a/file"]
    #expect(report.progressOfFiles.map(\.words) == ["Removed /home/a/file"])
    #expect(
      report.progress.map(\.words) == ["Programs have stored nothing in Whorl that would have to be copied back."])
  }

  @Test("a program's rule changes what it stores from now on, and the same rule again changes nothing")
  func ruleOfProgram() {
    let program = SecretServiceFolder(.program, "/usr/bin/mail")
    let gate = SecretServiceRuleChange(.program(program), to: .presence, .brief)
    #expect(gate.changedFolder?.name == "/usr/bin/mail" && gate.items.isEmpty)
    #expect(gate.progress(isDone: false).map(\.words).first?.hasPrefix("What /usr/bin/mail stores from now on") == true)
    var ruled = program
    (ruled.access, ruled.grant) = (.presence, .brief)
    let again = SecretServiceRuleChange(.program(ruled), to: .presence, .brief)
    #expect(again.isEmpty && again.progress(isDone: true).map(\.words) == ["Nothing to change."])
    let ungate = SecretServiceRuleChange(.program(ruled), to: nil, .brief)
    #expect(
      ungate.progress(isDone: true).map(\.words) == [
        "What /usr/bin/mail stores from now on gets the rule of its collection."
      ])
  }
}
