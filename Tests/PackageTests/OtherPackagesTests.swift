import Foundation
import Testing

@Suite("Dependencies on TLS and HTTP packages beside Whorl")
struct OtherPackagesTests {
  // The first build takes minutes. Its results are kept in .build for the next run.
  @Test(
    "TLS and HTTP packages build in one program with Whorl's libraries, and read the same certificate",
    .enabled(if: ProcessInfo.processInfo.environment["WHORL_CAMPAIGN"] != nil, "takes minutes: make campaign"))
  func together() async throws {
    let place = ["--package-path", "Tests/Support/OtherPackages", "--scratch-path", ".build/other-packages"]
    let resolved = try await run("swift", ["package"] + place + ["resolve"])
    guard resolved.status == 0 else {
      print("skipped: the other packages cannot be fetched here:\n\(resolved.errors)")
      return
    }
    let ran = try await run("swift", ["run"] + place)
    #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
    #expect(ran.output.hasSuffix("other packages: built and run beside Whorl\n"))
  }
}
