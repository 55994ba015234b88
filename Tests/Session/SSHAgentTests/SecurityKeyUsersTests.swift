import Glibc
import ProgramDriver
import SessionPrompts
import Testing

@Suite("The program that uses the security key")
struct SecurityKeyUsersTests {
  /// A folder with the kernel's description of a security key, and the key.
  private func withKey(of user: uid_t = getuid(), _ body: (String) throws -> Void) async throws {
    try await withFolder { folder in
      for made in ["", "/hidraw0", "/hidraw0/device", "/hidraw3", "/hidraw3/device"] { mkdir(folder + made, 0o755) }
      try writeFile("\(folder)/hidraw0/device/uevent", Array("HID_NAME=A keyboard\nHID_UNIQ=\n".utf8))
      try writeFile("\(folder)/hidraw3/device/uevent", Array("HID_NAME=Whorl passkeys\nHID_UNIQ=whorl-\(user)\n".utf8))
      mkdir("\(folder)/dev", 0o755)
      for name in ["hidraw0", "hidraw3"] { try writeFile("\(folder)/dev/\(name)", []) }
      try body(folder)
    }
  }

  private func only(_ folder: String) -> ClientProgram? {
    SecurityKeyUsers.only(devices: folder, nodes: "\(folder)/dev")
  }

  /// Runs `body` while a program has a device open.
  private func with(_ program: String, using device: String, _ body: () throws -> Void) throws {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 7, device, O_RDWR, 0)
    var words: [UnsafeMutablePointer<CChar>?] = [strdup(program), strdup("60"), nil]
    defer { for word in words { free(word) } }
    var child: pid_t = 0
    try #require(posix_spawn(&child, program, &actions, nil, &words, environ) == 0)
    defer {
      kill(child, SIGKILL)
      waitpid(child, nil, 0)
    }
    try body()
  }

  @Test("the program that uses the security key is known if only one has it open, in however many processes")
  func one() async throws {
    try await withKey { folder in
      #expect(only(folder) == nil)
      try with("/usr/bin/sleep", using: "\(folder)/dev/hidraw3") {
        #expect(only(folder)?.path?.hasSuffix("/sleep") == true)
        try with("/usr/bin/sleep", using: "\(folder)/dev/hidraw3") {
          #expect(only(folder)?.path?.hasSuffix("/sleep") == true)
        }
      }
      #expect(only(folder) == nil)
    }
  }

  @Test("the program that uses the security key is unknown if two have it open, or if only another device is open")
  func others() async throws {
    try await withKey { folder in
      try with("/usr/bin/sleep", using: "\(folder)/dev/hidraw0") {
        #expect(only(folder) == nil)
        try with("/usr/bin/sleep", using: "\(folder)/dev/hidraw3") {
          #expect(only(folder) != nil)
          let other = "\(folder)/other"
          try writeFile(other, try readFile("/usr/bin/sleep"))
          chmod(other, 0o755)
          try with(other, using: "\(folder)/dev/hidraw3") { #expect(only(folder) == nil) }
        }
      }
    }
    try await withKey(of: getuid() + 1) { folder in
      try with("/usr/bin/sleep", using: "\(folder)/dev/hidraw3") { #expect(only(folder) == nil) }
    }
  }
}
