import Primitives
import SecretModel
import Testing

@testable import Prompts

@Suite("The text of a prompt")
struct PromptTextTests {
  private func touch(_ name: String, _ nature: ReaderDescription.Nature, alone: Bool = false) -> String {
    PromptText.touch(request(name, nature, alone: alone), keys: nil)
  }

  private func request(
    _ name: String = "Synaptics Sensors", _ nature: ReaderDescription.Nature = .physical, alone: Bool = true,
    _ purpose: TouchRequest.Purpose = .evaluate(reason: "sign in")
  ) -> TouchRequest {
    let reader = ReaderDescription(
      id: "1", name: name,
      identity: ReaderIdentity(driver: "synaptics"),
      scanType: .press, enrollStages: 5, features: [], temperature: .cold, nature: nature)
    return TouchRequest(purpose: purpose, reader: reader, passcodeInstead: true, isOnlyReader: alone)
  }

  @Test("a prompt for a touch names the reader if there are several")
  func name() {
    #expect(touch("Synaptics Sensors", .physical) == "Touch the reader (Synaptics Sensors) to sign in")
    #expect(touch("Synaptics\nSensors", .physical) == "Touch the reader (Synaptics\\u{a}Sensors) to sign in")
    #expect(touch("Synaptics Sensors", .physical, alone: true) == "Touch the fingerprint reader to sign in")
  }

  @Test("a prompt for a touch says if the reader is not a physical one")
  func nature() {
    for alone in [false, true] {
      #expect(touch("Synaptics Sensors", .virtual, alone: alone) == "Touch the reader (virtual reader) to sign in")
      #expect(touch("Synaptics Sensors", .replayed, alone: alone) == "Touch the reader (replayed reader) to sign in")
    }
  }

  @Test("a prompt begins with the program that asks, and its purpose")
  func asker() throws {
    let evolution = PromptAsker(name: "Evolution", details: "/usr/bin/evolution")
    let stranger = PromptAsker(name: PromptAsker.unidentified, details: "process 7, unverified")
    #expect(
      PromptText.touch(request(), for: evolution, keys: "Esc: cancel")
        == "Evolution wants to sign in. Touch the fingerprint reader. (Esc: cancel)")
    #expect(
      PromptText.touch(request(), for: stranger, keys: nil)
        == "A program that cannot be identified wants to sign in. Touch the fingerprint reader.")
    let items = try ["mail/alice", "bank"].map { try ItemName(parsing: $0) }
    #expect(
      PromptText.touch(
        request("x", .physical, .read(items: items, reason: "send it")), for: evolution, keys: nil)
        == "Evolution wants to use “mail/alice”, “bank”, for: send it. Touch the fingerprint reader.")
    #expect(
      PromptText.question(.passcode(attempt: 1), reason: "sign in", for: evolution)
        == "Evolution wants to sign in. Passcode")
    #expect(evolution.wanted(to: "read “Bank”") == "Evolution wanted to read “Bank”; nobody answered.")
  }

  @Test("a text that is shown whole loses nothing, and nothing in it can move, hide or end it")
  func whole() {
    let command = #"sh -c 'echo "$A" <x >y `z` (1) [2] {3}'"#
    #expect(PromptLabel.whole(command) == command)
    #expect(PromptLabel.whole("größe 日本 ж") == "größe 日本 ж")
    #expect(
      PromptLabel.whole("a”b\u{202E}c\nd\u{200B}e\u{301}\u{A0}«")
        == #"a\u{201d}b\u{202e}c\u{a}d\u{200b}e\u{301}\u{a0}\u{ab}"#)
    #expect(PromptLabel.whole("x\u{5D0}\u{627}") == #"x\u{5d0}\u{627}"#)
    let longest = String(repeating: "x", count: PromptLabel.longestWhole)
    #expect(PromptLabel.whole(longest) == longest && PromptLabel.whole(longest + "x") == nil)
  }

  @Test("a prompt that waits for the reader names the program that holds the reader by file, or else by claim")
  func ahead() {
    func ahead(_ label: String?) -> String {
      PromptText.notice(.readerInUse(.program(label, items: [])))
    }
    let rest = "has the reader; this request waits for it."
    #expect(ahead("whorl (/usr/bin/whorl)") == "whorl \(rest)")
    #expect(ahead("mail (org.example.Mail) (/opt/a (b)/my mail)") == "“my mail” \(rest)")
    #expect(ahead("mail (org.example.Mail) (in a sandbox)") == "A program that calls itself “mail” \(rest)")
    #expect(
      ahead("mail (updated or removed: /usr/bin/ssh)") == "A program that calls itself “mail” \(rest)")
    #expect(ahead("mail") == "A program that calls itself “mail” \(rest)")
    #expect(ahead(nil) == "Another program \(rest)")
  }
}
