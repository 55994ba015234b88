import Foundation
import Testing

/// Runs `scripts/build` on a copy of the files that it needs, with a stand-in for `swift` first in its PATH.
@Suite("make build")
struct BuildScriptTests {
  /// Builds the products in a copy of the sources. Returns the arguments of each call of `swift`.
  private func build(_ products: String..., in folder: URL) async throws -> [String] {
    let files = FileManager.default
    let parts = [
      "scripts/build", "scripts/build-pam-module", "Sources/Login", "Sources/Programs/whorl-program-path",
      "Sources/Programs/whorl-fido",
    ]
    for part in parts {
      let copy = folder.appending(path: part)
      try files.createDirectory(at: copy.deletingLastPathComponent(), withIntermediateDirectories: true)
      try files.copyItem(at: Repository.root.appending(path: part), to: copy)
    }
    let bin = folder.appending(path: "bin")
    try files.createDirectory(at: bin, withIntermediateDirectories: true)
    try writeScript(
      "mkdir -p .build/release\necho \"$*\" >>calls", to: bin.appending(path: "swift"))
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    let built = try await run(
      "scripts/build", products, in: folder, environment: ["PATH": "\(bin.path):\(path)"])
    #expect(built.status == 0, "\(built.errors)")
    return try String(contentsOf: folder.appending(path: "calls"), encoding: .utf8).split(separator: "\n")
      .map(String.init)
  }

  // Separate builds for each program would leave processors idle.
  @Test("scripts/build builds all programs in Swift with one build of Swift's package manager")
  func oneBuild() async throws {
    try await withTemporaryFolder { folder in
      let calls = try await build(in: folder)
      #expect(calls.count == 1)
      #expect(calls.first?.contains(" --target InstalledPrograms ") == true, "\(calls)")
      // Two builds of the same sources have the same bytes.
      #expect(calls.first?.contains(" -fno-pch-timestamp ") == true, "\(calls)")
    }
  }

  @Test("scripts/build builds the products that are named")
  func namedProducts() async throws {
    try await withTemporaryFolder { folder in
      let calls = try await build("whorl-bench", "whorl", in: folder)
      #expect(calls.count == 2)
      #expect(calls.first?.contains(" --product whorl-bench ") == true, "\(calls)")
      #expect(calls.last?.contains(" --product whorl ") == true, "\(calls)")
    }
  }

  // It has debugging information, a macro, and code from C.
  @Test("scripts/build gives the same program in two folders and with two TMPDIRs, and leaves out what nobody calls")
  func sameInTwoFolders() async throws {
    try await withTemporaryFolder { folder in
      var programs: [Data] = []
      for name in ["one", "another/folder"] {
        let tree = folder.appending(path: name)
        for (path, text) in [
          (
            "Package.swift",
            """
            // swift-tools-version: 6.0
            import PackageDescription
            let package = Package(
              name: "door", targets: [.executableTarget(name: "door", dependencies: ["CLock"]), .target(name: "CLock")])
            """
          ),
          (
            "Sources/door/main.swift",
            """
            import CLock
            actor Door {
              var turns = turn(3)
              func open() async -> Int32 { await turned() + turns }
            }
            func turned(_ isolation: isolated (any Actor)? = #isolation) async -> Int32 {
              print(isolation as Any)
              await Task.yield()
              return turn(4)
            }
            public func neverCalled(_ count: Int) -> [Int] { (0..<count).map { $0 + Int(turn(5)) } }
            print(await Door().open(), #fileID)

            """
          ),
          ("Sources/CLock/include/CLock.h", "int turn(int count);\n"),
          ("Sources/CLock/turn.c", "#include \"CLock.h\"\nint turn(int count) { return count + 1; }\n"),
          ("scripts/build", try Repository.text("scripts/build")),
        ] {
          let file = tree.appending(path: path)
          try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
          try text.write(to: file, atomically: true, encoding: .utf8)
        }
        // Outside the tree, as usual.
        let temporary = folder.appending(path: "temporary/\(name)")
        for made in [tree.appending(path: ".build"), temporary] {
          try FileManager.default.createDirectory(at: made, withIntermediateDirectories: true)
        }
        let built = try await run("env", "TMPDIR=\(temporary.path)", "sh", "scripts/build", "door", in: tree)
        #expect(built.status == 0, "\(built.output)\(built.errors)")
        programs.append(try Data(contentsOf: tree.appending(path: ".build/release/door")))
      }
      let sections = try await run(
        "readelf", "--sections", "--wide", folder.appending(path: "one/.build/release/door").path)
      #expect(sections.output.contains(".debug_info"))
      #expect(!sections.output.contains(".eh_frame"), "the tables of C++ exceptions")
      let symbols = try await run(
        "readelf", "--symbols", "--wide", folder.appending(path: "one/.build/release/door").path)
      #expect(symbols.output.contains("6turned") && !symbols.output.contains("neverCalled"))
      #expect(programs[0] == programs[1])
      #expect(programs[0].range(of: Data(folder.path.utf8)) == nil)
    }
  }

  // It may inspect every process of the machine.
  @Test("scripts/build links only the C library into whorl-program-path")
  func smallProgram() async throws {
    try await withTemporaryFolder { folder in
      _ = try await build(in: folder)
      let program = folder.appending(path: ".build/release/whorl-program-path").path
      let dynamic = try await run("readelf", "--dynamic", "--wide", program).output
      #expect(dynamic.matches(of: /\(NEEDED\).*\[(.*?)\]/).map { String($0.1) } == ["libc.so.6"], "\(dynamic)")
      #expect(dynamic.contains("BIND_NOW"), "\(dynamic)")
      let symbols = try await run("readelf", "--symbols", "--wide", program).output
      #expect(symbols.contains("main") && !symbols.contains("swift"))
    }
  }
}
