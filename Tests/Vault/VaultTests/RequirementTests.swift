import Testing

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

@Suite("What an access control asks for")
struct RequirementTests {
  typealias Flags = AccessControl.Flags

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let flags: Flags
    /// The alternatives: one of them must be satisfied, with all of its factors.
    let alternatives: Set<Set<Requirement.Factor>>
    /// The combinations of keys under which the item's key is wrapped.
    let wrappings: Set<Set<Requirement.Factor>>

    init(
      _ name: String, _ flags: Flags, _ alternatives: Set<Set<Requirement.Factor>>,
      wrapped wrappings: Set<Set<Requirement.Factor>>
    ) {
      (testDescription, self.flags, self.alternatives, self.wrappings) = (name, flags, alternatives, wrappings)
    }
  }

  static let rows: [Row] = [
    Row("nothing", [], [[]], wrapped: [[]]),
    Row("user presence", .userPresence, [[.finger], [.passcodeGate]], wrapped: [[]]),
    Row("any finger", .biometryAny, [[.finger]], wrapped: [[]]),
    Row("the set of then", .biometryCurrentSet, [[.boundFinger]], wrapped: [[.boundFinger]]),
    Row("the passcode", .devicePasscode, [[.passcode]], wrapped: [[.passcode]]),
    Row(
      "any finger or the passcode", [.biometryAny, .or, .devicePasscode], [[.finger], [.passcode]],
      wrapped: [[], [.passcode]]),
    Row(
      "the set of then or the passcode", [.biometryCurrentSet, .or, .devicePasscode], [[.boundFinger], [.passcode]],
      wrapped: [[.boundFinger], [.passcode]]),
    Row(
      "any finger and the passcode", [.biometryAny, .and, .devicePasscode], [[.finger, .passcode]],
      wrapped: [[.passcode]]),
    Row(
      "the set of then and the passcode", [.biometryCurrentSet, .and, .devicePasscode], [[.boundFinger, .passcode]],
      wrapped: [[.boundFinger, .passcode]]),
    Row(
      "two without a word between them", [.biometryAny, .devicePasscode], [[.finger, .passcode]], wrapped: [[.passcode]]
    ),
    Row("any finger or a companion", [.biometryAny, .or, .companion], [[.finger]], wrapped: [[]]),
    Row("the passcode or a companion", [.devicePasscode, .or, .companion], [[.passcode]], wrapped: [[.passcode]]),
    Row("use of a private key", .privateKeyUsage, [[]], wrapped: [[]]),
    Row("an application password", .applicationPassword, [[]], wrapped: [[]]),
    Row("or alone", .or, [[]], wrapped: [[]]),
    Row(
      "the set of then for a private key", [.privateKeyUsage, .biometryCurrentSet], [[.boundFinger]],
      wrapped: [[.boundFinger]]),
  ]

  @Test("an access control has the alternatives and wrapping keys of the test's table", arguments: rows)
  func alternatives(_ row: Row) throws {
    let requirement = Requirement(try AccessControl(row.flags))
    #expect(Set(requirement.alternatives) == row.alternatives)
    #expect(requirement.alternatives.count == row.alternatives.count)
    #expect(Set(requirement.wrappings) == row.wrappings)
    #expect(requirement.wrappings.count == row.wrappings.count)
    #expect(requirement.isOpen == row.alternatives.contains([]))
  }

  @Test("every accepted access control has alternatives that are in the test's table")
  func complete() {
    let bits: [Flags] = [.userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion, .or, .and]
    let known = Set(Self.rows.map { Set($0.alternatives) })
    for mask in 0..<(1 << bits.count) {
      let flags = bits.indices.filter { mask >> $0 & 1 == 1 }.reduce(into: Flags()) { $0.formUnion(bits[$1]) }
      guard let access = try? AccessControl(flags) else { continue }
      #expect(known.contains(Set(Requirement(access).alternatives)), "\(flags)")
    }
  }

  @Test("removing a factor of an access rule keeps the other alternatives, and a rule without any is not open")
  func without() throws {
    let either = Requirement(try AccessControl([.biometryCurrentSet, .or, .devicePasscode]))
    #expect(either.without(.boundFinger).alternatives == [[.passcode]])
    #expect(either.without([[.passcode]]).alternatives == [[.boundFinger]])
    let none = either.without(.boundFinger).without(.passcode)
    #expect(none.alternatives.isEmpty)
    #expect(!none.isOpen, "an item that nothing opens is not one that everybody opens")
  }
}

@Suite("Which factors several items still need together")
struct AuthenticationPlanTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let items: [AccessControl.Flags]
    let needsPasscode: Bool
    let passcodeSuffices: Bool
  }

  static let both: AccessControl.Flags = [.biometryAny, .and, .devicePasscode]
  static let either: AccessControl.Flags = [.biometryAny, .or, .devicePasscode]

  static let rows: [Row] = [
    Row(testDescription: "user presence", items: [.userPresence], needsPasscode: false, passcodeSuffices: true),
    Row(testDescription: "any finger", items: [.biometryAny], needsPasscode: false, passcodeSuffices: false),
    Row(
      testDescription: "the set of then", items: [.biometryCurrentSet], needsPasscode: false, passcodeSuffices: false),
    Row(testDescription: "the passcode", items: [.devicePasscode], needsPasscode: true, passcodeSuffices: true),
    Row(testDescription: "both", items: [both], needsPasscode: true, passcodeSuffices: false),
    Row(testDescription: "either", items: [either], needsPasscode: false, passcodeSuffices: true),
    Row(
      testDescription: "presence for one and a finger for the other", items: [.userPresence, .biometryAny],
      needsPasscode: false, passcodeSuffices: false),
    Row(
      testDescription: "either for one and the passcode for the other", items: [either, .devicePasscode],
      needsPasscode: true, passcodeSuffices: true),
    Row(
      testDescription: "a finger for one and the passcode for the other", items: [.biometryAny, .devicePasscode],
      needsPasscode: true, passcodeSuffices: false),
  ]

  @Test("an authentication plan for several items says if the passcode is needed, and if it is enough", arguments: rows)
  func passcode(_ row: Row) throws {
    let plan = AuthenticationPlan(try row.items.map { Requirement(try AccessControl($0)) })
    #expect(!plan.isSatisfied)
    #expect(plan.needsPasscode == row.needsPasscode)
    #expect(plan.passcodeSuffices == row.passcodeSuffices)
  }

  @Test("an authentication plan without requirements is satisfied, and needs no passcode")
  func nothing() {
    let plan = AuthenticationPlan([])
    #expect(plan.isSatisfied && !plan.needsPasscode)
  }

  @Test("an authentication plan with an item that nothing can open is never satisfied")
  func impossible() throws {
    let none = Requirement(try AccessControl(.biometryCurrentSet)).without(.boundFinger)
    #expect(!AuthenticationPlan([none]).isSatisfied)
    #expect(!AuthenticationPlan([none]).passcodeSuffices)
  }
}
