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
    + ["whorl", "whorld", "whorl-reader", "whorl-program-path", "whorl-fido", "whorl-agent", "whorl-finger"].map {
      .executable(name: $0, targets: [$0])
    },
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
    library("Primitives", in: "Sources/Common"),
    library("SecureMemory", in: "Sources/Common", ["CLinux"]),
    library("CBOR", in: "Sources/Common", ["CCBOR", "Primitives"]),
    library("KeySchemes", in: "Sources/Common", ["Primitives"]),
    library("GLibKit", in: "Sources/Reader", ["CFprint"]),
    library("SDBus", in: "Sources/Common", ["CSystemd", "Primitives"], onTheWay),
    library("Executors", in: "Sources/Common"),
    library("TerminalGuard", in: "Sources/System"),
    library("Processes", in: "Sources/Common", ["CLinux", "Executors", "SDBus", "SecureMemory"], onTheWay),
    library("Fingerprint", in: "Sources/Common", ["Primitives", "SecureMemory"], onTheWay),
    library("Keys", in: "Sources/Vault", ["COpenSSL", "KeySchemes", "Primitives", "SecureMemory"]),
    library("TPM", in: "Sources/Vault", ["CTSS", "SecureMemory"]),
    library("Recordings", in: "Sources/Reader", ["Primitives"]),
    library("Confinement", in: "Sources/Common", ["CLinux", "Fingerprint", "Primitives"]),
    library(
      "ReaderBus", in: "Sources/Reader", ["Fingerprint", "Primitives", "Processes", "SDBus", "SecureMemory"], onTheWay),
    library("SecretModel", in: "Sources/Vault", ["Primitives", "SecureMemory", "Fingerprint", "KeySchemes"], onTheWay),
    // Layers 4 to 7: the vault. Only Presence makes evidence that a person was there.
    library(
      "VaultStore", in: "Sources/Vault",
      [
        "CSQLite", "Executors", "Fingerprint", "Keys", "Primitives", "Processes", "SecretModel", "SecureMemory", "TPM",
        grdb,
      ], onTheWay),
    library(
      "Presence", in: "Sources/Vault",
      [
        "Executors", "Fingerprint", "Keys", "Primitives", "Processes", "SecretModel", "SecureMemory", "TPM",
        "VaultStore", grdb,
      ], onTheWay),
    library(
      "VaultSync", in: "Sources/Vault",
      ["AgeFormat", "Keys", "KeySchemes", "Primitives", "SecretModel", "SecureMemory", "VaultStore", grdb], onTheWay),
    library(
      "VaultItems", in: "Sources/Vault",
      [
        "CBOR", "Executors", "Fingerprint", "Keys", "KeySchemes", "Presence", "Primitives", "SecretModel",
        "SecureMemory", "VaultStore", "VaultSync", grdb,
      ], onTheWay),
    library(
      "Vault", in: "Sources/Vault",
      [
        "Executors", "Fingerprint", "Keys", "KeySchemes", "Presence", "Primitives", "Processes", "SecretModel",
        "SecureMemory", "TPM", "VaultItems", "VaultStore", "VaultSync", grdb,
      ], onTheWay),
    // Layer 4
    library(
      "ReaderService", in: "Sources/Reader",
      ["CFprint", "CPNG", "Executors", "GLibKit", "Primitives", "SDBus", "SecureMemory", "Fingerprint", "ReaderBus"],
      onTheWay),
    library(
      "ReaderClient", in: "Sources/Reader",
      ["Executors", "Processes", "SDBus", "Fingerprint", "ReaderBus", "Recordings"], onTheWay),
    library(
      "VaultBus", in: "Sources/Vault",
      [
        "Executors", "Fingerprint", "KeySchemes", "Primitives", "Processes", "ReaderBus", "SDBus", "SecretModel",
        "SecureMemory",
      ],
      onTheWay),
    library("AgeFormat", in: "Sources/Vault", ["Keys", "Primitives", "SecretModel", "SecureMemory"]),
    library("SystemPolicy", in: "Sources/Vault", ["Executors", "Processes", "SDBus", "SecretModel"]),
    // What a client shows and keeps, over any vault
    library(
      "Moving", in: "Sources/Client", ["Executors", "KeySchemes", "Primitives", "SecretModel", "SecureMemory"], onTheWay
    ),
    library("SSHKeys", in: "Sources/Client", ["KeySchemes", "SecretModel"], onTheWay),
    library("SecretServiceItems", in: "Sources/Client", ["Primitives", "SecretModel"], onTheWay),
    library(
      "SyncRepository", in: "Sources/Client", ["CLinux", "Executors", "Primitives", "Processes", "SecretModel"],
      onTheWay),
    library("PromptTexts", in: "Sources/Client", ["Fingerprint", "SecretModel"], onTheWay),
    library(
      "TerminalLines", in: "Sources/Client", ["CLinux", "PromptTexts", "SecureMemory", "TerminalGuard"], onTheWay),
    library("SecretList", in: "Sources/Client", ["PromptTexts", "SecretModel", "SecureMemory"], onTheWay),
    library(
      "OtherStores", in: "Sources/Client",
      [
        "CExpat", "CLinux", "Executors", "Moving", "Primitives", "Processes", "PromptTexts", "SDBus", "SecretModel",
        "SecretServiceItems",
        "SecureMemory", "VaultBus",
      ], onTheWay),
    library(
      "VaultHost", in: "Sources/Vault",
      [
        "AgeFormat", "CLinux", "CSystemd", "Executors", "Fingerprint", "Keys", "Presence", "Primitives", "Processes",
        "ReaderBus", "ReaderClient", "SDBus", "SecretModel", "SecureMemory", "SystemPolicy", "TPM", "Vault",
        "VaultItems", "VaultStore",
      ], onTheWay),
    library(
      "Wallets", in: "Sources/Client", ["CLinux", "Primitives", "Processes", "SDBus", "SecretModel", "SecureMemory"],
      onTheWay),
    library("SystemVault", in: "Sources/Vault", ["CLinux", "Processes", "SDBus", "SecretModel", "VaultBus"]),
    library("PrivateVault", in: "Sources/Vault", ["Processes", "SDBus", "SecretModel", "VaultBus"], onTheWay),
    library(
      "Whorl", in: "Sources/Client",
      [
        "Executors", "Fingerprint", "Primitives", "PrivateVault", "PromptTexts", "SDBus", "SecretModel", "SecureMemory",
        "SystemVault", "TerminalLines",
      ], onTheWay),
    // Layer 7 and 8: the Apple-shaped API
    library(
      "KeychainServices", in: "Sources/Client",
      ["SDBus", "Whorl", "SecretModel", "Fingerprint", "Keys", "KeySchemes", "SecureMemory"], onTheWay),
    library(
      "LocalAuthentication", in: "Sources/Client",
      ["Executors", "KeySchemes", "KeychainServices", "Whorl", "SecretModel", "Fingerprint", "SecureMemory"]),
    // The same under the name of Apple's module, which makes `canImport(Security)` true in every target of a build.
    library("Security", in: "Sources/Client", ["KeychainServices"]),
    library(
      "SessionPrompts", in: "Sources/Session",
      [
        "CSystemd", "Executors", "Fingerprint", "Primitives", "Processes", "PromptTexts", "SDBus", "SecretModel",
        "SecureMemory", "TerminalLines", "Whorl",
      ]),
    // What is set up, and what can be: for the command line and the window.
    library(
      "Settings", in: "Sources/Client",
      [
        "CLinux", "Confinement", "Fingerprint", "Moving", "OtherStores", "Primitives", "Processes", "PromptTexts",
        "ReaderBus", "ReaderClient", "SDBus", "SSHKeys", "SecretModel", "SecretServiceItems", "SecureMemory",
        "SyncRepository", "Wallets", "Whorl",
      ], onTheWay),
    library(
      "SecretService", in: "Sources/Session",
      [
        "Executors", "Keys", "Primitives", "PromptTexts", "SDBus", "SecretModel", "SecretServiceItems", "SecureMemory",
        "SessionPrompts", "VaultBus", "Whorl",
      ], onTheWay),
    library(
      "SSHAgent", in: "Sources/Session",
      [
        "CLinux", "Executors", "Keys", "KeySchemes", "Primitives", "PromptTexts", "SDBus", "SecretModel",
        "SecureMemory", "SessionPrompts", "SSHKeys", "Whorl",
      ], onTheWay),
    library(
      "Passkeys", in: "Sources/Session",
      [
        "CBOR", "Executors", "KeySchemes", "Keys", "Primitives", "PromptTexts", "SecretModel", "SecureMemory",
        "SessionPrompts",
        "Whorl",
      ], onTheWay),
    library(
      "BrowserLogins", in: "Sources/Session",
      [
        "CPSL", "CSodium", "Executors", "Moving", "Primitives", "PromptTexts", "SecretList", "SecretModel",
        "SecureMemory", "SessionPrompts", "Whorl",
      ], onTheWay),
    library(
      "WhorlTesting", in: "Sources/Testing",
      ["Fingerprint", "Processes", "SecretModel", "SecureMemory", "VirtualFinger", "Whorl"]),
    // Layer 9: thin executables
    .executableTarget(
      name: "whorl",
      dependencies: [
        "BrowserLogins", "CLinux", "Executors", "Fingerprint", "KeySchemes", "Moving", "OtherStores", "Primitives",
        "Processes", "PromptTexts", "ReaderBus", "ReaderClient", "Recordings", "SecretModel",
        "SecretServiceItems", "SecureMemory", "SessionPrompts", "Settings", "SSHKeys", "SyncRepository",
        "TerminalLines", "Wallets", "Whorl", argumentParser,
      ],
      path: "Sources/Programs/CommandLine"),
    .executableTarget(
      name: "whorld",
      dependencies: [
        "CLinux", "CSystemd", "Confinement", "Executors", "Fingerprint", "Keys", "Presence", "Primitives", "Processes",
        "SDBus", "SecretModel", "SystemPolicy", "Vault", "VaultBus", "VaultHost", "VaultItems", "VaultStore",
      ],
      path: "Sources/Programs/whorld"),
    .executableTarget(
      name: "whorl-reader",
      dependencies: ["ReaderService", "Confinement", "Executors", "ReaderBus", "SDBus", "Fingerprint", "CSystemd"],
      path: "Sources/Programs/whorl-reader", swiftSettings: onTheWay),
    // One may inspect every process, the other make input devices, so they are small and written in C.
    .executableTarget(name: "whorl-program-path", path: "Sources/Programs/whorl-program-path", cSettings: strictC),
    .executableTarget(
      name: "whorl-fido", path: "Sources/Programs/whorl-fido", cSettings: strictC,
      linkerSettings: [.linkedLibrary("systemd")]),
    // Attacks from within the confinement of the reader process, for tests.
    .executableTarget(
      name: "whorl-intruder", dependencies: ["Confinement", "Processes", "Fingerprint", "CLinux"],
      path: "Tests/Support/whorl-intruder"),
    // Checks of GLibKit, for tests: the test runner does not link GLib.
    .executableTarget(name: "glib-checks", dependencies: ["CFprint", "GLibKit"], path: "Tests/Support/glib-checks"),
    .executableTarget(
      name: "whorl-agent",
      dependencies: [
        "CLinux", "CSystemd", "Executors", "Passkeys", "Processes", "PromptTexts", "SDBus", "SecretModel",
        "SecretService", "SessionPrompts", "SSHAgent", "TerminalLines", "Whorl", argumentParser,
      ],
      path: "Sources/Programs/whorl-agent"),
    // GTK's thread is the main thread, so its code is the main actor's.
    .executableTarget(
      name: "whorl-gtk",
      dependencies: [
        "CAdwaita", "Executors", "Fingerprint", "KeySchemes", "Moving", "OtherStores", "Primitives", "Processes",
        "PromptTexts", "SecretList", "SecretModel", "SecureMemory", "Settings", "SSHKeys", "SyncRepository", "Whorl",
        argumentParser,
      ],
      path: "Sources/Programs/whorl-gtk", resources: [.embedInCode("ui")],
      swiftSettings: strict + [.defaultIsolation(MainActor.self)]),
    .executableTarget(
      name: "whorl-finger", dependencies: ["VirtualFinger", "Fingerprint", argumentParser],
      path: "Sources/Programs/whorl-finger"),
    // Layer 10: the programs in Swift that are installed, to build them together (scripts/build).
    library(
      "InstalledPrograms", in: "Sources/Programs", ["whorl", "whorld", "whorl-reader", "whorl-agent", "whorl-finger"]),
    .executableTarget(
      name: "whorl-bench",
      dependencies: [
        "CSQLite", "Executors", "Fingerprint", "Keys", "KeySchemes", "Passkeys", "Processes", "ReaderClient", "SDBus",
        "SecretModel", "SecretServiceItems", "SecureMemory", "Security", "SessionPrompts", "VaultBus", "VirtualFinger",
        "Whorl",
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
    library("VirtualFinger", in: "Sources/Testing", ["Fingerprint", "CPNG"]),
    // and what the tests of several layers share: running programs, searching memory, a vault with a simulated user
    library("ProgramDriver", in: "Tests/Support", ["SDBus", "Fingerprint", "ReaderClient", "VirtualFinger"]),
    library("Introspection", in: "Tests/Support"),
    library("SoftwareTPM", in: "Tests/Support", ["CLinux", "TPM"]),
    // In C, since its functions take the place of the C library's.
    library("DiskWrites", in: "Tests/Support"),
    library("MemorySearch", in: "Tests/Support", ["SecureMemory"]),
    library(
      "VaultDriver", in: "Tests/Support",
      [
        "Executors", "Fingerprint", "Keys", "Presence", "ReaderClient", "SecretModel", "SecureMemory", "Vault",
        "VaultItems", "VaultStore", "VirtualFinger",
      ]),
    // Tests, a target per layer. None depends on a program, whose objects SwiftPM would link into the test runner. The
    // programs are built with the tests, into the folder of the runner.
    tests("PrimitivesTests", in: "Common", ["Primitives"]),
    tests("SecureMemoryTests", in: "Common", ["SecureMemory"]),
    tests("ExecutorsTests", in: "Common", ["Executors"]),
    tests("SDBusTests", in: "Common", ["MemorySearch", "Primitives", "SDBus", "SecureMemory"]),
    tests("RecordingsTests", in: "Reader", ["Recordings"]),
    tests("GLibKitTests", in: "Reader", ["ProgramDriver"]),
    tests("FingerprintTests", in: "Common", ["Fingerprint"]),
    tests("ProcessesTests", in: "Common", ["CLinux", "Processes", "ProgramDriver"]),
    tests("KeysTests", in: "Vault", ["Primitives", "MemorySearch", "Keys", "KeySchemes", "SecureMemory", "COpenSSL"]),
    tests("TPMTests", in: "Vault", ["MemorySearch", "SecureMemory", "SoftwareTPM", "TPM"]),
    tests("AgeFormatTests", in: "Vault", ["AgeFormat", "Keys", "Primitives", "SecretModel", "SecureMemory"]),
    tests(
      "ReaderTests", in: "Reader",
      [
        "Confinement", "Fingerprint", "Introspection", "Processes", "ProgramDriver", "ReaderBus", "ReaderClient",
        "SDBus", "SecureMemory", "VirtualFinger",
      ]),
    tests("VirtualFingerTests", in: "Support", ["VirtualFinger", "Fingerprint", "Processes", "ReaderClient"]),
    tests(
      "VaultTests", in: "Vault",
      [
        "AgeFormat", "DiskWrites", "Fingerprint", "Keys", "KeySchemes", "MemorySearch", "Presence", "Primitives",
        "ProgramDriver", "ReaderClient", "SecretModel", "SecureMemory", "SoftwareTPM", "TPM", "Vault", "VaultDriver",
        "VaultItems", "VaultStore", "VaultSync", "VirtualFinger", grdb,
      ]),
    tests(
      "PrivateVaultTests", in: "Vault",
      ["Fingerprint", "PrivateVault", "Processes", "ProgramDriver", "SDBus", "SecretModel", "SecureMemory"]),
    tests(
      "VaultBusTests", in: "Vault",
      [
        "CLinux", "Fingerprint", "Introspection", "KeySchemes", "Presence", "ProgramDriver", "ReaderBus",
        "ReaderClient", "SDBus", "SecretModel", "SecureMemory", "Vault", "VaultBus", "VaultDriver", "VaultHost",
        "VaultItems", "VaultStore", "VirtualFinger",
      ]),
    // The service in this process: many users' stores behind a listening socket, and how clients find it.
    tests(
      "VaultHostTests", in: "Vault",
      [
        "Confinement", "Executors", "Fingerprint", "Keys", "KeySchemes", "Moving", "Presence", "Primitives",
        "Processes", "ProgramDriver", "ReaderBus", "ReaderClient", "SDBus", "SecretModel", "SecureMemory",
        "SoftwareTPM", "SystemPolicy", "SystemVault", "TPM", "Vault", "VaultBus", "VaultDriver", "VaultHost",
        "VaultItems", "VaultStore", "VirtualFinger", "Wallets", "Whorl", grdb,
      ]),
    tests("SystemPolicyTests", in: "Vault", ["SystemPolicy", "SecretModel", "SDBus", "Processes", "ProgramDriver"]),
    tests(
      "SecurityTests", in: "Client",
      [
        "Fingerprint", "Keys", "KeySchemes", "Presence", "SecureMemory", "Security", "Vault", "VaultDriver",
        "VaultItems", "VaultStore", "VirtualFinger", "Whorl",
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
        "Fingerprint", "KeySchemes", "LocalAuthentication", "Presence", "ReaderClient", "SecretModel", "SecureMemory",
        "Security", "Vault", "VaultDriver", "VaultItems", "VaultStore", "VirtualFinger", "Whorl",
      ]),
    tests("PromptTextsTests", in: "Client", ["Fingerprint", "PromptTexts", "SecretModel"]),
    tests("SecretListTests", in: "Client", ["PromptTexts", "SecretList", "SecretModel", "SecureMemory"]),
    // The window as a process, on a display and a bus of its own, read as a screen reader does.
    tests("WindowTests", in: "Programs", ["Fingerprint", "ProgramDriver", "SDBus", "SecureMemory", "VirtualFinger"]),
    tests("TerminalLinesTests", in: "Client", ["SecureMemory", "TerminalLines"]),
    tests(
      "WhorlTests", in: "Client",
      [
        "Fingerprint", "Moving", "ProgramDriver", "PromptTexts", "SecretModel", "SecureMemory", "VaultBus",
        "VaultDriver", "VaultHost", "Whorl",
      ]),
    tests(
      "SSHAgentTests", in: "Session",
      [
        "Executors", "Keys", "KeySchemes", "Processes", "ProgramDriver", "PromptTexts", "SDBus", "SecretModel",
        "SecureMemory", "SessionPrompts", "SSHAgent", "SSHKeys", "VaultDriver", "Whorl",
      ]),
    // The Secret Service on a private bus, with secret-tool, Python's clients and a client of its own.
    tests(
      "SecretServiceTests", in: "Session",
      [
        "Fingerprint", "Keys", "Presence", "ProgramDriver", "SDBus", "SecretModel", "SecretService",
        "SecretServiceItems", "SecureMemory", "SessionPrompts", "Vault", "VaultDriver", "VaultItems", "VaultStore",
        "Whorl",
      ]),
    tests(
      "WalletsTests", in: "Client",
      [
        "Moving", "OtherStores", "Presence", "ProgramDriver", "SDBus", "SecretModel", "SecureMemory", "Vault",
        "VaultDriver", "VaultItems", "VaultStore", "Wallets",
      ]),
    tests(
      "OtherStoresTests", in: "Client",
      ["MemorySearch", "Moving", "OtherStores", "ProgramDriver", "SecretModel", "SecureMemory", "VaultDriver"]),
    tests(
      "SettingsTests", in: "Client",
      ["SecretModel", "SecretServiceItems", "SecureMemory", "Settings", "Wallets", "Whorl"]),
    tests(
      "WhorlTestingTests", in: "Client",
      ["WhorlTesting", "Whorl", "LocalAuthentication", "KeychainServices", "VaultDriver"]),
    // The built programs, run as a user would run them; and checks of the package itself.
    tests(
      "CommandLineTests", in: "Programs",
      [
        "Confinement", "Executors", "Fingerprint", "Presence", "Primitives", "ProgramDriver", "ReaderClient", "SDBus",
        "SecureMemory", "Vault", "VaultDriver", "VaultItems", "VaultStore", "VirtualFinger",
      ]),
    // The examples and other clients of the libraries, run with a simulated user.
    tests("ExampleTests", in: "Programs", ["Fingerprint", "ProgramDriver", "VirtualFinger"]),
    // Attacks on the security promises: kills, faults, restores, many clients at once.
    tests(
      "HardeningTests", in: "Programs",
      [
        "Executors", "Fingerprint", "Keys", "MemorySearch", "Presence", "ProgramDriver", "ReaderClient", "SecureMemory",
        "Vault", "VaultDriver", "VaultItems", "VaultStore", "VirtualFinger", grdb,
      ]),
    tests("CBORTests", in: "Common", ["CBOR", "Primitives"]),
    tests(
      "PasskeysTests", in: "Session",
      [
        "CBOR", "Fingerprint", "KeySchemes", "Keys", "Passkeys", "Primitives", "SecretModel", "SecureMemory",
        "SessionPrompts", "Vault", "VaultDriver", "VaultStore", "Whorl",
      ]),
    tests(
      "BrowserLoginsTests", in: "Session",
      [
        "BrowserLogins", "CSodium", "Executors", "Moving", "ProgramDriver", "SecretModel", "SecureMemory",
        "SessionPrompts", "Whorl", "WhorlTesting",
      ]),
    tests(
      "SyncRepositoryTests", in: "Client",
      ["Executors", "Processes", "ProgramDriver", "SecretModel", "SecureMemory", "SyncRepository"]),
    .testTarget(name: "PackageTests", dependencies: ["ProgramDriver"], path: "Tests/PackageTests"),
  ],
  swiftLanguageModes: [.v6]
)
// Settings that a target does not have itself.
for target in package.targets where target.swiftSettings == nil && target.type != .system {
  target.swiftSettings = strict
}
// Every unsafe expression of these targets is marked.
let marked: Set = [
  "Executors", "Fingerprint", "KeySchemes", "Primitives", "PrivateVault", "PromptTexts", "SSHKeys", "SecretList",
  "SecretModel", "SecretServiceItems", "SecureMemory", "SystemVault", "TerminalLines", "Whorl",
]
for target in package.targets where marked.contains(target.name) {
  target.swiftSettings?.append(.strictMemorySafety())
}

/// The programs that the tests of a target start. They are not among its dependencies, since SwiftPM would link their
/// objects into the test runner. `scripts/slices.py` reads these lines.
let started: [String: [String]] = [
  "WindowTests": ["whorl", "whorld", "whorl-gtk", "whorl-reader"],
  "CommandLineTests": ["whorl", "whorld", "whorl-reader", "whorl-agent", "whorl-finger", "whorl-intruder"],
  "BrowserLoginsTests": ["whorl", "whorld", "whorl-reader"],
  "ExampleTests": [
    "whorl", "whorld", "whorl-reader", "whorl-agent", "whorl-finger", "published-code", "documented-code",
    "bound-secret", "biometry-states", "sign-in", "feature-gate", "internet-password", "password-helper", "rights",
  ],
  "GLibKitTests": ["glib-checks"],
  "HardeningTests": ["whorl", "whorld", "whorl-reader"],
  "PackageTests": [
    "whorl", "whorld", "whorl-reader", "whorl-agent", "whorl-finger", "whorl-fido", "whorl-program-path", "whorl-gtk",
  ],
  "PasskeysTests": ["whorl-fido", "whorl-reader"],
  "PrivateVaultTests": ["whorld", "whorl-reader"],
  "ReaderTests": ["whorl-reader", "whorl-intruder"],
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
if let slice = Context.environment["WHORL_SLICE"] {
  var kept: Set<String> = []
  var open = [slice]
  while let name = open.popLast() {
    guard kept.insert(name).inserted, let target = package.targets.first(where: { $0.name == name }) else { continue }
    open += started[name] ?? []
    for case .byNameItem(let dependency, _) in target.dependencies { open.append(dependency) }
  }
  package.targets.removeAll { !kept.contains($0.name) }
  // The libraries are for other packages.
  package.products.removeAll { !kept.contains($0.name) || $0 is Product.Library }
}
