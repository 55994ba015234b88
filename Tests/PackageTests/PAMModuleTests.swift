import Foundation
import Testing

@Suite("The PAM module")
struct PAMModuleTests {
  @Test("the PAM module keeps no password that is longer than the memory page for it, as a login may pass one")
  func longPassword() async throws {
    try await withTemporaryFolder { folder in
      let program = folder.appending(path: "kept-password").path
      // As scripts/build-pam-module chooses the compiler.
      let script = #"cc=${CC:-cc}; command -v "$cc" >/dev/null 2>&1 || cc=clang; exec "$cc" "$@""#
      let built = try await run(
        "sh", "-c", script, "sh", "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-Werror", "-o", program,
        "Tests/Login/kept-password.c", "Sources/Login/pam_whorl/password.c")
      #expect(built.status == 0, "\(built.errors)")
      let ran = try await run(program)
      #expect(ran.status == 0, "\(ran.errors)")
    }
  }
}
