import Foundation
import Testing
import Whorl

@testable import Settings

@Suite("A finger at sudo, in the dialogs that ask for an administrator, and at the lock screen")
struct FingerStepTests {
  private static let common = "auth [success=1 default=ignore] pam_unix.so nullok\n"
  private static let byCommand = "-auth sufficient pam_whorl.so verify services=sudo\n@include common-auth\n"

  /// The step for sudo, on a machine with this PAM file.
  private func finding(
    _ sudo: String?, hasFinger: Bool = true, isAdministrator: Bool = true, canChange: Bool = true,
    hasModule: Bool = true
  ) throws -> Finding? {
    try finding(
      .sudo, sudo.map { ["sudo": $0] } ?? [:], hasFinger: hasFinger, isAdministrator: isAdministrator,
      canChange: canChange, hasModule: hasModule)
  }

  private func finding(
    _ step: SetupStep, _ files: [String: String], hasFinger: Bool = true, isAdministrator: Bool = true,
    canChange: Bool = true, hasModule: Bool = true
  ) throws -> Finding? {
    let folder = FileManager.default.temporaryDirectory.appending(path: "whorl-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data(Self.common.utf8).write(to: folder.appending(path: "common-auth"))
    for (name, text) in files { try Data(text.utf8).write(to: folder.appending(path: name)) }
    let stacks = LoginStacks(folders: [folder.path], moduleIsInstalled: hasModule)
    return try #require(FingerStep.all.first { $0.step == step }).finding(
      in: stacks, hasFinger: hasFinger, isAdministrator: isAdministrator, canChange: canChange)
  }

  @Test("setup offers a finger at sudo to an administrator with a finger, says what it changes, and asks for a yes")
  func offered() throws {
    let found = try #require(try finding("@include common-auth\n"))
    #expect(found.state == .open && found.undo == ["whorl", "login", "disable", "sudo"])
    let offer = try #require(found.offers.first)
    #expect(found.offers.count == 1 && offer.command == ["whorl", "login", "enable", "sudo"])
    #expect(!offer.isYesByDefault && offer.question.contains("/etc/pam.d/sudo for everybody who uses this computer"))
    #expect(try finding("@include common-auth\n", hasFinger: false)?.state == .later)
  }

  @Test("setup offers no finger at sudo where it could not be turned on, or only somebody else could")
  func notOffered() throws {
    #expect(try finding(nil) == nil)
    #expect(try finding("@include common-auth\n", isAdministrator: false) == nil)
    #expect(try finding("@include common-auth\n", canChange: false) == nil)
    #expect(try finding("@include common-auth\n", hasModule: false) == nil)
    #expect(try finding("auth sufficient pam_fprintd.so\n@include common-auth\n")?.state == .note)
  }

  @Test("setup takes the finger at sudo back where its own command has turned it on, and for an administrator alone")
  func undone() throws {
    let own = try #require(try finding(Self.byCommand))
    #expect(own.isSetUp && own.undo == ["whorl", "login", "disable", "sudo"])
    let others = try #require(try finding(Self.byCommand, isAdministrator: false))
    #expect(others.isSetUp && others.undo == nil && others.wayBack == "whorl login disable sudo")
    let byHand = try #require(
      try finding("auth sufficient pam_whorl.so verify serial services=sudo\n@include common-auth\n"))
    #expect(byHand.isSetUp && byHand.wayBack == nil)
    #expect(UndoPlan([others, byHand], unfinished: [], for: NamedStore()).steps.isEmpty)
  }

  @Test("setup offers a finger at lock screens that run as their user, and takes it back when all of them have it")
  func screen() throws {
    let plasma = "auth required pam_fprintd.so\n"
    let plasmaByCommand = "auth [success=ok default=bad] pam_whorl.so verify serial services=kde-fingerprint\n"
    let password = "@include common-auth\n"
    #expect(try finding(.screen, ["sudo": password]) == nil, "no such lock screen")
    for files in [
      ["kde-fingerprint": plasma, "kde": password], ["swaylock": password], ["kde": password],
      ["kde-fingerprint": plasmaByCommand, "swaylock": password],
    ] {
      let found = try #require(try finding(.screen, files))
      #expect(found.state == .open && found.offers.first?.command == ["whorl", "login", "enable", "screen"])
      #expect(found.offers.first?.isYesByDefault == false)
    }
    let swaylock = "-auth sufficient pam_whorl.so verify services=swaylock\n\(password)"
    for files in [["kde-fingerprint": plasmaByCommand, "kde": password], ["swaylock": swaylock]] {
      let found = try #require(try finding(.screen, files))
      #expect(found.state == .good && found.undo == ["whorl", "login", "disable", "screen"])
    }
    let byHand = try #require(
      try finding(.screen, ["kde-fingerprint": "auth required pam_whorl.so verify serial services=kde-fingerprint\n"]))
    #expect(byHand.state == .good && byHand.undo == nil)
    let fprintd = try finding(.screen, ["swaylock": "auth sufficient pam_fprintd.so\n\(password)"])
    #expect(fprintd?.state == .note)
    let both = ["kde-fingerprint": plasma + plasmaByCommand]
    #expect(try finding(.screen, both)?.state == .faulty)
  }

  @Test("setup names what is wrong with a finger at sudo, as where fprintd asks for one as well")
  func faulty() throws {
    let found = try #require(
      try finding("-auth sufficient pam_whorl.so verify services=sudo\nauth sufficient pam_fprintd.so\n"))
    #expect(found.state == .faulty && found.advice?.contains("remove one of them") == true)
  }
}
