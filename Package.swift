// swift-tools-version: 6.2
import PackageDescription

// Strict checks for all targets, including tests, so that the compiler enforces as many rules as possible.
let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]
// For the targets that a call of the vault or of a reader passes through: asynchronous functions run on their caller's
// executor, so that a call switches threads only where necessary, and not to the cooperative pool.
let onTheWay = strict + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]
let strictC: [CSetting] = [.enableWarning("all"), .enableWarning("extra"), .treatAllWarnings(as: .error)]
// The examples use the language mode that most existing client code uses.
let client: [SwiftSetting] = [.swiftLanguageMode(.v5)]
func example(_ name: String, _ dependencies: [Target.Dependency], _ folder: String) -> Target {
  .executableTarget(name: name, dependencies: dependencies, path: "Examples/\(folder)", swiftSettings: client)
}
func library(
  _ name: String, in folder: String, _ dependencies: [Target.Dependency] = [], _ settings: [SwiftSetting] = strict
) -> Target {
  .target(name: name, dependencies: dependencies, path: "\(folder)/\(name)", swiftSettings: settings)
}
func tests(_ name: String, in folder: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(name: name, dependencies: dependencies, path: "Tests/\(folder)/\(name)")
}
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

// A target depends only on lower layers, those of the table in CONTRIBUTING.md (`DependencyTableTests`).
let package = Package(
  name: "whorl",
  products: [
    .library(name: "Whorl", targets: ["Whorl"]),
    .library(name: "LocalAuthentication", targets: ["LocalAuthentication"]),
    .library(name: "KeychainServices", targets: ["KeychainServices"]),
    .library(name: "Security", targets: ["Security"]),
    .library(name: "WhorlTesting", targets: ["WhorlTesting"]),
  ]
    + [
      "whorl", "whorld", "whorl-reader", "whorl-program-path", "whorl-fido", "whorl-agent", "whorl-finger",
      "whorl-reader-kit",
    ].map { .executable(name: $0, targets: [$0]) },
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    // Layers 0 to 3, of which the first are system libraries, each a module map and shims
    .systemLibrary(
      name: "CFprint", path: "Sources/System/CFprint", pkgConfig: "libfprint-2",
      providers: [.apt(["libfprint-2-dev", "libglib2.0-dev"])]),
    .systemLibrary(
      name: "COpenSSL", path: "Sources/System/COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(
      name: "CSystemd", path: "Sources/System/CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
    .systemLibrary(name: "CLinux", path: "Sources/System/CLinux"),
    .systemLibrary(
      name: "CSQLite", path: "Sources/System/CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(
      name: "CExpat", path: "Sources/System/CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
    .systemLibrary(
      name: "CCBOR", path: "Sources/System/CCBOR", pkgConfig: "libcbor", providers: [.apt(["libcbor-dev"])]),
    .systemLibrary(
      name: "CTSS", path: "Sources/System/CTSS", pkgConfig: "tss2-esys", providers: [.apt(["libtss2-dev"])]),
    .systemLibrary(
      name: "CAdwaita", path: "Sources/System/CAdwaita", pkgConfig: "libadwaita-1",
      providers: [.apt(["libadwaita-1-dev"])]),
    .systemLibrary(
      name: "CSodium", path: "Sources/System/CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
    .systemLibrary(
      name: "CPSL", path: "Sources/System/CPSL", pkgConfig: "libpsl", providers: [.apt(["libpsl-dev", "libidn2-dev"])]),
    .systemLibrary(name: "CPNG", path: "Sources/System/CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
    library("Primitives", in: "Sources/Common", ["CLinux"], onTheWay),
    library("CBOR", in: "Sources/Common", ["CCBOR", "Primitives"]),
    library("SDBus", in: "Sources/Common", ["CSystemd", "Primitives"], onTheWay),
    library("TerminalGuard", in: "Sources/System"),
    .target(
      name: "EmptyICUData", path: "Sources/System/EmptyICUData",
      cSettings: [.define("RELEASE", .when(configuration: .release))]),
    library("Processes", in: "Sources/Common", ["CLinux", "Primitives", "SDBus"], onTheWay),
    library("Keys", in: "Sources/Vault", ["COpenSSL", "Primitives"]),
    library(
      "ReaderBus", in: "Sources/Reader", ["Primitives", "Processes", "SDBus"], onTheWay),
    library("SecretModel", in: "Sources/Vault", ["Primitives"], onTheWay),
    // Layers 4 to 7: the vault. Only Presence makes evidence that a person was there.
    library(
      "VaultStore", in: "Sources/Vault",
      ["CSQLite", "CTSS", "Keys", "Primitives", "Processes", "SecretModel", grdb], onTheWay),
    library(
      "Presence", in: "Sources/Vault",
      ["Keys", "Primitives", "Processes", "SecretModel", "VaultStore", grdb], onTheWay),
    library(
      "VaultSync", in: "Sources/Vault",
      ["Keys", "Primitives", "SecretModel", "VaultStore", grdb], onTheWay),
    library(
      "VaultItems", in: "Sources/Vault",
      ["CBOR", "Keys", "Presence", "Primitives", "SecretModel", "VaultStore", "VaultSync", grdb],
      onTheWay),
    library(
      "Vault", in: "Sources/Vault",
      ["Keys", "Presence", "Primitives", "Processes", "SecretModel", "VaultItems", "VaultStore", "VaultSync", grdb],
      onTheWay),
    // Layer 4
    library(
      "ReaderService", in: "Sources/Reader",
      ["CFprint", "CLinux", "CPNG", "Primitives", "ReaderBus", "SDBus"],
      onTheWay),
    library(
      "ReaderClient", in: "Sources/Reader",
      ["Primitives", "Processes", "ReaderBus", "SDBus"], onTheWay),
    library(
      "VaultBus", in: "Sources/Vault",
      ["Primitives", "Processes", "ReaderBus", "SDBus", "SecretModel"],
      onTheWay),
    // What a client shows and keeps, over any vault
    library(
      "Prompts", in: "Sources/Client",
      ["CLinux", "Primitives", "SecretModel", "TerminalGuard"], onTheWay
    ),
    library(
      "Moving", in: "Sources/Client",
      ["CExpat", "CLinux", "Primitives", "Processes", "Prompts", "SDBus", "SecretModel", "VaultBus"], onTheWay
    ),
    library(
      "VaultHost", in: "Sources/Vault",
      [
        "CLinux", "CSystemd", "Keys", "Presence", "Primitives", "Processes", "ReaderBus", "ReaderClient", "SDBus",
        "SecretModel", "Vault", "VaultItems", "VaultStore", "VaultSync",
      ], onTheWay),
    library(
      "Whorl", in: "Sources/Client",
      ["CLinux", "Primitives", "Processes", "Prompts", "SDBus", "SecretModel", "VaultBus"], onTheWay),
    // Layer 7 and 8: the Apple-shaped API
    library(
      "KeychainServices", in: "Sources/Client",
      ["Keys", "Primitives", "SDBus", "SecretModel", "Whorl"], onTheWay),
    library(
      "LocalAuthentication", in: "Sources/Client",
      ["KeychainServices", "Primitives", "SecretModel", "Whorl"]),
    // The same under the name of Apple's module, which makes `canImport(Security)` true in every target of a build.
    library("Security", in: "Sources/Client", ["KeychainServices"]),
    library(
      "SessionPrompts", in: "Sources/Session",
      ["CSystemd", "Primitives", "Processes", "Prompts", "SDBus", "SecretModel", "Whorl"]),
    // What is set up, and what can be: for the command line and the window.
    library(
      "Settings", in: "Sources/Client",
      [
        "CLinux", "Moving", "Primitives", "Processes", "Prompts", "ReaderBus", "ReaderClient", "SDBus", "SecretModel",
        "Whorl",
      ], onTheWay),
    library(
      "SecretService", in: "Sources/Session",
      ["Keys", "Primitives", "Prompts", "SDBus", "SecretModel", "SessionPrompts", "VaultBus", "Whorl"],
      onTheWay),
    library(
      "SSHAgent", in: "Sources/Session",
      ["CLinux", "Keys", "Primitives", "Prompts", "SDBus", "SecretModel", "SessionPrompts", "Whorl"],
      onTheWay),
    library(
      "Passkeys", in: "Sources/Session",
      ["CBOR", "Keys", "Primitives", "Prompts", "SecretModel", "SessionPrompts", "Whorl"], onTheWay),
    library(
      "BrowserLogins", in: "Sources/Session",
      [
        "CPSL", "CSodium", "Moving", "Primitives", "Prompts", "SecretModel", "SessionPrompts", "Whorl",
      ], onTheWay),
    library(
      "WhorlTesting", in: "Sources/Testing",
      ["Primitives", "Processes", "SecretModel", "VirtualFinger", "Whorl"]),
    // What the programs with commands share
    library(
      "CommandBase", in: "Sources/Programs",
      [
        "CLinux", "Moving", "Primitives", "Processes", "Prompts", "ReaderBus", "ReaderClient", "SecretModel",
        "SessionPrompts", "Settings", "Whorl", argumentParser,
      ]),
    // Layer 9: thin executables
    .executableTarget(
      name: "whorl",
      dependencies: [
        "BrowserLogins", "CLinux", "CommandBase", "Moving", "Primitives", "Processes", "Prompts", "ReaderBus",
        "ReaderClient", "SecretModel", "SessionPrompts", "Settings", "Whorl", argumentParser,
      ],
      path: "Sources/Programs/CommandLine"),
    .executableTarget(
      name: "whorl-reader-kit",
      dependencies: [
        "CommandBase", "Primitives", "Processes", "Prompts", "ReaderClient", "SecretModel", "Settings", "Whorl",
        argumentParser,
      ],
      path: "Sources/Programs/whorl-reader-kit"),
    .executableTarget(
      name: "whorld",
      dependencies: [
        "CLinux", "CSystemd", "EmptyICUData", "Keys", "Presence", "Primitives", "Processes", "SDBus", "SecretModel",
        "Vault", "VaultBus", "VaultHost", "VaultItems", "VaultStore",
      ],
      path: "Sources/Programs/whorld"),
    .executableTarget(
      name: "whorl-reader",
      dependencies: ["CSystemd", "Primitives", "Processes", "ReaderBus", "ReaderService", "SDBus"],
      path: "Sources/Programs/whorl-reader", swiftSettings: onTheWay),
    // One may inspect every process, the other make input devices, so they are small and written in C.
    .executableTarget(name: "whorl-program-path", path: "Sources/Programs/whorl-program-path", cSettings: strictC),
    .executableTarget(
      name: "whorl-fido", path: "Sources/Programs/whorl-fido", cSettings: strictC,
      linkerSettings: [.linkedLibrary("systemd")]),
    // Attacks from within the confinement of the reader process, for tests.
    .executableTarget(
      name: "whorl-intruder", dependencies: ["CLinux", "Primitives", "Processes"],
      path: "Tests/Support/whorl-intruder"),
    // Checks of GLibKit, for tests: the test runner does not link GLib.
    .executableTarget(
      name: "glib-checks", dependencies: ["CFprint", "ReaderService"], path: "Tests/Support/glib-checks"),
    .executableTarget(
      name: "whorl-agent",
      dependencies: [
        "CLinux", "CSystemd", "Passkeys", "Primitives", "Processes", "Prompts", "SDBus", "SecretModel", "SecretService",
        "SessionPrompts", "SSHAgent", "Whorl", argumentParser,
      ],
      path: "Sources/Programs/whorl-agent"),
    // GTK's thread is the main thread, so its code is the main actor's.
    .executableTarget(
      name: "whorl-gtk",
      dependencies: [
        "CAdwaita", "Moving", "Primitives", "Processes", "Prompts", "SecretModel", "Settings", "Whorl", argumentParser,
      ],
      path: "Sources/Programs/whorl-gtk", resources: [.embedInCode("ui")],
      swiftSettings: strict + [.defaultIsolation(MainActor.self)]),
    .executableTarget(
      name: "whorl-finger", dependencies: ["VirtualFinger", "Primitives", argumentParser],
      path: "Sources/Programs/whorl-finger"),
    // Layer 10: the programs in Swift that are installed, to build them together (scripts/build).
    library(
      "InstalledPrograms", in: "Sources/Programs",
      ["whorl", "whorld", "whorl-reader", "whorl-agent", "whorl-finger", "whorl-reader-kit"]),
    .executableTarget(
      name: "whorl-bench",
      dependencies: [
        "CSQLite", "Keys", "Passkeys", "Primitives", "Processes", "ReaderClient", "SDBus", "SecretModel", "Security",
        "SessionPrompts", "VaultBus", "VirtualFinger", "Whorl",
      ],
      path: "Benchmarks/whorl-bench"),
    // The examples, for the tests. `Examples/Package.swift` builds them as a package of their own, as a client does.
    example("bound-secret", ["LocalAuthentication", "KeychainServices"], "BoundSecret"),
    example("biometry-states", ["LocalAuthentication"], "BiometryStates"),
    example("sign-in", ["LocalAuthentication"], "SignIn"),
    example("feature-gate", ["Whorl"], "FeatureGate"),
    example("internet-password", ["LocalAuthentication", "KeychainServices"], "InternetPassword"),
    example("password-helper", ["LocalAuthentication", "KeychainServices"], "PasswordHelper"),
    example("rights", ["LocalAuthentication"], "Rights"),
    // Sample code from published articles, and a program that was written from Apple's documentation, for the tests.
    .executableTarget(
      name: "published-code", dependencies: ["LocalAuthentication", "Security"], path: "Tests/Support/PublishedCode",
      swiftSettings: client),
    .executableTarget(
      name: "documented-code", dependencies: ["LocalAuthentication", "Security"], path: "Tests/Support/DocumentedCode",
      swiftSettings: []),
    // Layer T: fingers for machines without a reader
    library("VirtualFinger", in: "Sources/Testing", ["Primitives", "CPNG"]),
    // and what the tests of several layers share: running programs, searching memory, a vault with a simulated user
    library("ProgramDriver", in: "Tests/Support", ["SDBus", "Primitives", "ReaderClient", "VirtualFinger"]),
    library("Introspection", in: "Tests/Support"),
    library("SoftwareTPM", in: "Tests/Support", ["CLinux", "VaultStore"]),
    // In C, since its functions take the place of the C library's.
    library("DiskWrites", in: "Tests/Support"),
    library("MemorySearch", in: "Tests/Support", ["Primitives"]),
    library(
      "VaultDriver", in: "Tests/Support",
      [
        "Keys", "Presence", "Primitives", "ReaderClient", "SecretModel", "Vault", "VaultItems", "VaultStore",
        "VirtualFinger",
      ]),
    // Tests, a target per layer. None depends on a program, whose objects SwiftPM would link into the test runner. The
    // programs are built with the tests, into the folder of the runner.
    tests("PrimitivesTests", in: "Common", ["Primitives"]),
    tests("SDBusTests", in: "Common", ["MemorySearch", "Primitives", "SDBus"]),
    tests("ProcessesTests", in: "Common", ["CLinux", "Primitives", "Processes", "ProgramDriver"]),
    tests("KeysTests", in: "Vault", ["COpenSSL", "Keys", "MemorySearch", "Primitives"]),
    tests("TPMTests", in: "Vault", ["MemorySearch", "Primitives", "SoftwareTPM", "VaultStore"]),
    tests("AgeFormatTests", in: "Vault", ["Keys", "Primitives", "ProgramDriver", "SecretModel", "VaultSync"]),
    tests(
      "ReaderTests", in: "Reader",
      [
        "Introspection", "Primitives", "Processes", "ProgramDriver", "ReaderBus", "ReaderClient", "SDBus",
        "VirtualFinger",
      ]),
    tests("VirtualFingerTests", in: "Support", ["VirtualFinger", "Primitives", "Processes", "ReaderClient"]),
    tests(
      "VaultTests", in: "Vault",
      [
        "DiskWrites", "Keys", "MemorySearch", "Presence", "Primitives", "ProgramDriver", "ReaderClient", "SecretModel",
        "SoftwareTPM", "Vault", "VaultDriver", "VaultItems", "VaultStore", "VaultSync", "VirtualFinger", grdb,
      ]),
    tests(
      "VaultBusTests", in: "Vault",
      [
        "CLinux", "Introspection", "Presence", "Primitives", "ProgramDriver", "ReaderBus", "ReaderClient", "SDBus",
        "SecretModel", "Vault", "VaultBus", "VaultDriver", "VaultHost", "VaultItems", "VaultStore", "VirtualFinger",
      ]),
    // The service in this process: many users' stores behind a listening socket, and how clients find it.
    tests(
      "VaultHostTests", in: "Vault",
      [
        "Keys", "Moving", "Presence", "Primitives", "Processes", "ProgramDriver", "ReaderBus", "ReaderClient", "SDBus",
        "SecretModel", "Settings", "SoftwareTPM", "Vault", "VaultBus", "VaultDriver", "VaultHost", "VaultItems",
        "VaultStore", "VirtualFinger", "Whorl", grdb,
      ]),
    tests("SystemPolicyTests", in: "Vault", ["VaultHost", "SecretModel", "SDBus", "Processes", "ProgramDriver"]),
    tests(
      "SecurityTests", in: "Client",
      [
        "Keys", "Presence", "Primitives", "Security", "Vault", "VaultDriver", "VaultItems", "VaultStore",
        "VirtualFinger", "Whorl",
      ]),
    .testTarget(
      name: "SecurityClientTests",
      dependencies: [
        "LocalAuthentication", "Presence", "Security", "Vault", "VaultDriver", "VaultItems", "VaultStore", "Whorl",
      ],
      path: "Tests/Client/SecurityClientTests", swiftSettings: [.swiftLanguageMode(.v5)]),
    tests(
      "LocalAuthenticationTests", in: "Client",
      [
        "LocalAuthentication", "Presence", "Primitives", "ReaderClient", "SecretModel", "Security", "Vault",
        "VaultDriver", "VaultItems", "VaultStore", "VirtualFinger", "Whorl",
      ]),
    tests("PromptsTests", in: "Client", ["Primitives", "Prompts", "SecretModel"]),
    // The window as a process, on a display and a bus of its own, read as a screen reader does.
    tests("WindowTests", in: "Programs", ["Primitives", "ProgramDriver", "SDBus", "VirtualFinger"]),
    tests(
      "WhorlTests", in: "Client",
      [
        "Moving", "Primitives", "Processes", "ProgramDriver", "Prompts", "SDBus", "SecretModel", "VaultBus",
        "VaultDriver", "VaultHost", "Whorl",
      ]),
    tests(
      "SSHAgentTests", in: "Session",
      [
        "Keys", "Primitives", "Processes", "ProgramDriver", "Prompts", "SDBus", "SecretModel", "SessionPrompts",
        "SSHAgent", "VaultDriver", "Whorl",
      ]),
    // The Secret Service on a private bus, with secret-tool, Python's clients and a client of its own.
    tests(
      "SecretServiceTests", in: "Session",
      [
        "Keys", "Presence", "Primitives", "ProgramDriver", "SDBus", "SecretModel", "SecretService", "SessionPrompts",
        "Vault", "VaultDriver", "VaultItems", "VaultStore", "Whorl",
      ]),
    tests(
      "WalletsTests", in: "Client",
      [
        "Moving", "Presence", "Primitives", "ProgramDriver", "SDBus", "SecretModel", "Settings", "Vault", "VaultDriver",
        "VaultItems", "VaultStore",
      ]),
    tests(
      "MovingTests", in: "Client",
      ["MemorySearch", "Moving", "Primitives", "ProgramDriver", "SecretModel", "VaultDriver"]),
    tests(
      "SettingsTests", in: "Client",
      ["Primitives", "SecretModel", "Settings", "Whorl"]),
    tests(
      "WhorlTestingTests", in: "Client",
      ["WhorlTesting", "Whorl", "LocalAuthentication", "KeychainServices", "VaultDriver"]),
    // The built programs, run as a user would run them; and checks of the package itself.
    tests(
      "CommandLineTests", in: "Programs",
      [
        "Keys", "Presence", "Primitives", "Processes", "ProgramDriver", "ReaderClient", "SDBus", "SecretModel", "Vault",
        "VaultBus", "VaultDriver", "VaultHost", "VaultItems", "VaultStore", "VirtualFinger",
      ]),
    // The examples and other clients of the libraries, run with a simulated user.
    tests("ExampleTests", in: "Programs", ["Primitives", "ProgramDriver", "VirtualFinger"]),
    // Attacks on the security promises: kills, faults, restores, many clients at once.
    tests(
      "HardeningTests", in: "Programs",
      [
        "Keys", "MemorySearch", "Presence", "Primitives", "ProgramDriver", "ReaderClient", "Vault", "VaultDriver",
        "VaultItems", "VaultStore", "VirtualFinger", grdb,
      ]),
    tests("CBORTests", in: "Common", ["CBOR", "Primitives"]),
    tests(
      "PasskeysTests", in: "Session",
      [
        "CBOR", "Keys", "Passkeys", "Primitives", "SecretModel", "SessionPrompts", "Vault", "VaultDriver", "VaultStore",
        "Whorl",
      ]),
    tests(
      "BrowserLoginsTests", in: "Session",
      [
        "BrowserLogins", "CSodium", "Moving", "ProgramDriver", "Primitives", "SecretModel", "SessionPrompts",
        "VaultDriver", "Whorl", "WhorlTesting",
      ]),
    .testTarget(name: "PackageTests", dependencies: ["ProgramDriver"], path: "Tests/PackageTests"),
  ],
  swiftLanguageModes: [.v6]
)
// Settings that a target does not have itself.
for target in package.targets where target.swiftSettings == nil && target.type != .system {
  target.swiftSettings = strict
}
// Every unsafe expression of these targets is marked.
let marked: Set = ["Primitives", "Prompts", "SecretModel", "Whorl"]
for target in package.targets where marked.contains(target.name) {
  target.swiftSettings?.append(.strictMemorySafety())
}

/// The programs that the tests of a target start. They are not among its dependencies, since SwiftPM would link their
/// objects into the test runner. `scripts/slices.py` reads these lines.
let started: [String: [String]] = [
  "WindowTests": ["whorl", "whorld", "whorl-gtk", "whorl-reader"],
  "CommandLineTests": [
    "whorl", "whorld", "whorl-reader", "whorl-reader-kit", "whorl-agent", "whorl-finger", "whorl-intruder",
  ],
  "BrowserLoginsTests": ["whorl", "whorld", "whorl-reader"],
  "ExampleTests": [
    "whorl", "whorld", "whorl-reader", "whorl-agent", "whorl-finger", "published-code", "documented-code",
    "bound-secret", "biometry-states", "sign-in", "feature-gate", "internet-password", "password-helper", "rights",
  ],
  "HardeningTests": ["whorl", "whorld", "whorl-reader"],
  "PackageTests": [
    "whorl", "whorld", "whorl-reader", "whorl-agent", "whorl-finger", "whorl-reader-kit", "whorl-fido",
    "whorl-program-path", "whorl-gtk",
  ],
  "PasskeysTests": ["whorl-fido", "whorl-reader"],
  "ReaderTests": ["whorl-reader", "whorl-intruder", "glib-checks"],
  "SSHAgentTests": ["whorl", "whorld", "whorl-reader", "whorl-agent"],
  "SecretServiceTests": ["whorl", "whorld", "whorl-reader", "whorl-agent"],
  "VaultDriver": ["whorl-reader"],
  "VaultHostTests": ["whorld", "whorl-intruder", "whorl-program-path"],
  "VirtualFingerTests": ["whorl-finger", "whorl-reader"],
  "WalletsTests": ["whorl", "whorld", "whorl-reader", "whorl-agent"],
  "WhorlTests": ["whorld", "whorl-reader"],
]

// `make check T=TARGET` builds a slice of the package: a test target, what it depends on, and the programs that its tests
// start. Without this variable, which only scripts/check sets, the package is whole.
if let slices = Context.environment["WHORL_SLICE"] {
  var kept: Set<String> = []
  var open = slices.split(separator: " ").map(String.init)
  while let name = open.popLast() {
    guard kept.insert(name).inserted, let target = package.targets.first(where: { $0.name == name }) else { continue }
    open += started[name] ?? []
    for case .byNameItem(let dependency, _) in target.dependencies { open.append(dependency) }
  }
  package.targets.removeAll { !kept.contains($0.name) }
  // The libraries are for other packages.
  package.products.removeAll { !kept.contains($0.name) || $0 is Product.Library }
}
