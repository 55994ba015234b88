import Presence
import Primitives
import Synchronization
import Vault
import VaultDriver
import VaultItems
import VaultStore
import VirtualFinger
import Whorl

/// Does the next action on a list each time the reader asks for a finger, and types the secrets that it knows.
final class PersonAtPrompt: AuthenticationPrompt {
  enum Deed: Sendable {
    /// Presses an enrolled finger (of person 1), or a stranger's.
    case press(Finger)
    case pressStranger
    case fallback
    /// Chooses the fallback, and then presses an enrolled finger.
    case fallbackAndPress(Finger)
    case cancel
    case run(@Sendable () async throws -> Void)
  }

  private struct Memory {
    var deeds: [Deed]
    var passcodes: [String]
    var applicationPassword: String?
    var heard: [String] = []
  }

  private let socket: String
  private let memory: Mutex<Memory>

  init(_ machine: Machine, _ deeds: [Deed] = [], passcodes: [String] = [], applicationPassword: String? = nil) {
    socket = machine.image.socket
    memory = Mutex(Memory(deeds: deeds, passcodes: passcodes, applicationPassword: applicationPassword))
  }

  /// What was shown, in order: `touch`, `touch or fallback`, `no match, 2 left`, `matched`, `passcode 1`,
  /// `delay of 60`, and so on.
  var heard: [String] { memory.withLock { $0.heard } }

  func handle(_ event: AuthenticationEvent, in session: PromptSession) async {
    switch event {
    case .touchWanted(let request):
      note(request.passcodeInstead ? "touch or fallback" : "touch")
      let deed = memory.withLock { $0.deeds.isEmpty ? nil : $0.deeds.removeFirst() }
      if let deed { try? await perform(deed, session) }
    case .noMatch(let remaining): note("no match, \(remaining) left")
    case .matched: note("matched")
    case .retry: note("retry")
    case .fingerUnavailable: note("no finger")
    case .secretWanted(let request):
      let known = memory.withLock { memory -> String? in
        switch request {
        case .passcode(let attempt):
          memory.heard.append("passcode \(attempt)")
          return memory.passcodes.isEmpty ? nil : memory.passcodes.removeFirst()
        case .applicationPassword:
          memory.heard.append("application password")
          return memory.applicationPassword
        default: return nil
        }
      }
      if let known { await session.answer(SecretBytes(text: known)) } else { await session.decline() }
    case .notice(.passcodeDelay(let seconds)): note("delay of \(seconds)")
    case .fingerPresent, .enrolmentStage, .notice: break
    }
  }

  private func note(_ line: String) { memory.withLock { $0.heard.append(line) } }

  private func perform(_ deed: Deed, _ session: PromptSession) async throws {
    switch deed {
    case .press(let finger): try await press(person: 1, finger)
    case .pressStranger: try await press(person: 2, .leftRing)
    case .fallback: await session.chooseFallback()
    case .fallbackAndPress(let finger):
      await session.chooseFallback()
      try await press(person: 1, finger)
    case .cancel: await session.cancel()
    case .run(let body): try await body()
    }
  }

  private func press(person: Int, _ finger: Finger) async throws {
    let image = SyntheticFinger(person: person, finger: finger).impression(.random(in: 1...1_000_000))
    try await onOwnThread { [socket] () throws(VirtualReaderError) in
      try VirtualImageReader(socket: socket).press(image)
    }
  }
}
