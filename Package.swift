// swift-tools-version: 6.2
import PackageDescription

// Strict checks for all targets, including tests, so that the compiler enforces as many rules as possible.
let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]
// For the targets that a call of the vault passes through: asynchronous functions run on their caller's executor, so
// that a call switches threads only where necessary.
let onTheWay = strict + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]

// The examples use the language mode that most existing client code uses.
let client: [SwiftSetting] = [.swiftLanguageMode(.v5)]
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

// The layers are those of the table in CONTRIBUTING.md: a target depends only on lower layers. `DependencyTableTests`
// checks this file against the table.
let package = Package(
  name: "whorl",
  products: [
    .library(name: "Whorl", targets: ["Whorl"]),
    .library(name: "LocalAuthentication", targets: ["LocalAuthentication"]),
    .library(name: "KeychainServices", targets: ["KeychainServices"]),
    .library(name: "Security", targets: ["Security"]),
    .library(name: "WhorlTesting", targets: ["WhorlTesting"]),
  ]
    + ["whorl", "whorld", "whorl-reader", "whorl-program-path", "whorl-agent", "whorl-finger"].map {
      .executable(name: $0, targets: [$0])
    },
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    // Layer 0: system libraries, each a module map and shims
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
      name: "CTSS", path: "Sources/System/CTSS", pkgConfig: "tss2-esys", providers: [.apt(["libtss2-dev"])]),
    .systemLibrary(name: "CPNG", path: "Sources/System/CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
    // Basic functions that the standard library lacks; has no dependencies
    .target(name: "Primitives", path: "Sources/Common/Primitives", swiftSettings: strict),
    // Layer 1
    .target(name: "SecureMemory", dependencies: ["CLinux"], path: "Sources/Common/SecureMemory", swiftSettings: strict),
    .target(name: "KeySchemes", path: "Sources/Common/KeySchemes", swiftSettings: strict),
    .target(name: "GLibKit", dependencies: ["CFprint"], path: "Sources/Reader/GLibKit", swiftSettings: strict),
    .target(
      name: "SDBus", dependencies: ["CSystemd", "Primitives"], path: "Sources/Common/SDBus", swiftSettings: strict),
    .target(name: "Executors", path: "Sources/Common/Executors", swiftSettings: strict),
    .target(name: "TerminalGuard", path: "Sources/System/TerminalGuard"),
    // Layer 2
    .target(
      name: "Processes", dependencies: ["CLinux", "Executors", "SDBus", "SecureMemory"],
      path: "Sources/Common/Processes", swiftSettings: strict),
    .target(
      name: "Fingerprint", dependencies: ["Primitives", "SecureMemory"], path: "Sources/Common/Fingerprint",
      swiftSettings: strict),
    .target(
      name: "Keys", dependencies: ["COpenSSL", "KeySchemes", "SecureMemory"], path: "Sources/Vault/Keys",
      swiftSettings: strict),
    .target(name: "TPM", dependencies: ["CTSS", "SecureMemory"], path: "Sources/Vault/TPM", swiftSettings: strict),
    // Layer 3
    .target(name: "Recordings", dependencies: ["Primitives"], path: "Sources/Reader/Recordings", swiftSettings: strict),
    .target(
      name: "Confinement", dependencies: ["CLinux", "Fingerprint"], path: "Sources/Reader/Confinement",
      swiftSettings: strict),
    .target(
      name: "ReaderBus", dependencies: ["Processes", "SDBus", "SecureMemory", "Fingerprint"],
      path: "Sources/Reader/ReaderBus", swiftSettings: strict),
    .target(
      name: "SecretModel", dependencies: ["Primitives", "SecureMemory", "Fingerprint", "KeySchemes"],
      path: "Sources/Vault/SecretModel", swiftSettings: onTheWay),
    // Layers 4 to 7: the vault. Only Presence makes evidence that a person was there.
    .target(
      name: "VaultStore",
      dependencies: [
        "CSQLite", "Executors", "Fingerprint", "Keys", "Primitives", "Processes", "SecretModel", "SecureMemory", "TPM",
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      path: "Sources/Vault/VaultStore", swiftSettings: onTheWay),
    .target(
      name: "Presence",
      dependencies: [
        "Executors", "Fingerprint", "Keys", "Primitives", "Processes", "SecretModel", "SecureMemory", "TPM",
        "VaultStore",
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      path: "Sources/Vault/Presence", swiftSettings: onTheWay),
    .target(
      name: "VaultItems",
      dependencies: [
        "Fingerprint", "KeySchemes", "Keys", "Presence", "Primitives", "SecretModel", "SecureMemory", "VaultStore",
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      path: "Sources/Vault/VaultItems", swiftSettings: onTheWay),
    .target(
      name: "Vault",
      dependencies: [
        "Executors", "Fingerprint", "KeySchemes", "Keys", "Presence", "Primitives", "Processes", "SecretModel",
        "SecureMemory", "TPM", "VaultItems", "VaultStore", .product(name: "GRDB", package: "GRDB.swift"),
      ],
      path: "Sources/Vault/Vault", swiftSettings: onTheWay),
    // Layer 4
    .target(
      name: "ReaderService",
      dependencies: ["CFprint", "CPNG", "GLibKit", "SDBus", "SecureMemory", "Fingerprint", "ReaderBus"],
      path: "Sources/Reader/ReaderService", swiftSettings: strict),
    .target(
      name: "ReaderClient",
      dependencies: ["Executors", "Processes", "SDBus", "Fingerprint", "ReaderBus", "Recordings"],
      path: "Sources/Reader/ReaderClient", swiftSettings: strict),
    .target(
      name: "VaultBus",
      dependencies: [
        "Executors", "Processes", "SecureMemory", "KeySchemes", "SDBus", "Fingerprint", "ReaderBus", "SecretModel",
      ],
      path: "Sources/Vault/VaultBus", swiftSettings: onTheWay),
    // Files in age's format
    .target(
      name: "AgeFormat", dependencies: ["Keys", "SecretModel", "SecureMemory"], path: "Sources/Vault/AgeFormat",
      swiftSettings: strict),
    // Permissions from logind and polkit
    .target(
      name: "SystemPolicy", dependencies: ["Executors", "Processes", "SDBus", "SecretModel"],
      path: "Sources/Vault/SystemPolicy", swiftSettings: strict),
    // Layer 5
    .target(
      name: "VaultHost",
      dependencies: [
        "AgeFormat", "CLinux", "CSystemd", "Executors", "Fingerprint", "Keys", "Primitives", "Processes", "ReaderBus",
        "ReaderClient", "SDBus", "SecretModel", "SecureMemory", "SystemPolicy", "TPM", "Presence", "Vault",
        "VaultItems", "VaultStore",
      ],
      path: "Sources/Vault/VaultHost", swiftSettings: onTheWay),
    .target(
      name: "Wallets",
      dependencies: ["CLinux", "Primitives", "Processes", "SDBus", "SecretModel", "SecureMemory"],
      path: "Sources/Client/Wallets", swiftSettings: onTheWay),
    .target(
      name: "SystemVault", dependencies: ["CLinux", "Processes", "SDBus", "SecretModel", "VaultBus"],
      path: "Sources/Vault/SystemVault", swiftSettings: strict),
    .target(
      name: "PrivateVault", dependencies: ["Processes", "SDBus", "SecretModel", "VaultBus"],
      path: "Sources/Vault/PrivateVault", swiftSettings: onTheWay),
    // Layer 6
    .target(
      name: "Whorl",
      dependencies: [
        "Executors", "CLinux", "KeySchemes", "Primitives", "TerminalGuard", "SecureMemory", "SDBus", "SecretModel",
        "Fingerprint", "PrivateVault", "SystemVault",
      ],
      path: "Sources/Client/Whorl", swiftSettings: onTheWay),

    // Layer 7 and 8: what other programs keep secrets in, and the Apple-shaped API
    .target(
      name: "OtherStores",
      dependencies: ["CExpat", "Primitives", "Processes", "SDBus", "SecretModel", "SecureMemory", "VaultBus", "Whorl"],
      path: "Sources/Client/OtherStores", swiftSettings: onTheWay),
    .target(
      name: "KeychainServices",
      dependencies: ["SDBus", "Whorl", "SecretModel", "Fingerprint", "Keys", "KeySchemes", "SecureMemory"],
      path: "Sources/Client/KeychainServices", swiftSettings: onTheWay),
    .target(
      name: "LocalAuthentication",
      dependencies: ["Executors", "KeychainServices", "Whorl", "SecretModel", "Fingerprint", "SecureMemory"],
      path: "Sources/Client/LocalAuthentication", swiftSettings: strict),
    // The same under the name of Apple's module, for code that cannot be changed: it makes `canImport(Security)` true
    // in every target of a build.
    .target(
      name: "Security", dependencies: ["KeychainServices"], path: "Sources/Client/Security", swiftSettings: strict),

    .target(
      name: "SessionPrompts",
      dependencies: [
        "CSystemd", "Executors", "Fingerprint", "Processes", "SDBus", "SecretModel", "SecureMemory", "Whorl",
      ],
      path: "Sources/Session/SessionPrompts", swiftSettings: strict),
    .target(
      name: "SecretService",
      dependencies: [
        "Executors", "Keys", "SDBus", "SecretModel", "SecureMemory", "SessionPrompts", "VaultBus", "Whorl",
      ],
      path: "Sources/Session/SecretService", swiftSettings: onTheWay),
    .target(
      name: "SSHAgent",
      dependencies: [
        "CLinux", "Executors", "KeySchemes", "Keys", "Primitives", "SDBus", "SecretModel", "SecureMemory",
        "SessionPrompts", "Whorl",
      ],
      path: "Sources/Session/SSHAgent", swiftSettings: onTheWay),

    // For the tests of programs that use Whorl
    .target(
      name: "WhorlTesting",
      dependencies: ["Fingerprint", "Processes", "SecretModel", "SecureMemory", "VirtualFinger", "Whorl"],
      path: "Sources/Testing/WhorlTesting", swiftSettings: strict),

    // Layer 9: thin executables
    .executableTarget(
      name: "whorl",
      dependencies: [
        "CLinux", "Confinement", "Executors", "Fingerprint", "KeySchemes", "OtherStores", "Primitives", "Processes",
        "ReaderBus", "ReaderClient", "Recordings", "SDBus", "SecretModel", "SecureMemory", "SessionPrompts", "Wallets",
        "Whorl", argumentParser,
      ],
      path: "Sources/Programs/CommandLine", swiftSettings: strict),
    .executableTarget(
      name: "whorld",
      dependencies: [
        "CLinux", "CSystemd", "Fingerprint", "Keys", "Processes", "SecretModel", "SystemPolicy", "Presence", "Vault",
        "VaultItems", "VaultStore", "VaultBus",
        "VaultHost",
      ],
      path: "Sources/Programs/whorld", swiftSettings: strict),
    .executableTarget(
      name: "whorl-reader",
      dependencies: ["ReaderService", "Confinement", "ReaderBus", "SDBus", "Fingerprint", "CSystemd"],
      path: "Sources/Programs/whorl-reader", swiftSettings: strict),
    // May inspect every process, so it is small and written in C.
    .executableTarget(
      name: "whorl-program-path", path: "Sources/Programs/whorl-program-path",
      cSettings: [.enableWarning("all"), .enableWarning("extra"), .treatAllWarnings(as: .error)]),
    // Attacks from within the confinement of the reader process, for tests.
    .executableTarget(
      name: "whorl-intruder", dependencies: ["Confinement", "Processes", "Fingerprint", "CLinux"],
      path: "Tests/Support/whorl-intruder", swiftSettings: strict),
    // Checks of GLibKit, for tests: the test runner does not link GLib.
    .executableTarget(
      name: "glib-checks", dependencies: ["CFprint", "GLibKit"], path: "Tests/Support/glib-checks",
      swiftSettings: strict),
    .executableTarget(
      name: "whorl-agent",
      dependencies: [
        "CLinux", "CSystemd", "Executors", "Processes", "SDBus", "SSHAgent", "SecretModel", "SecretService",
        "SessionPrompts", "Whorl", argumentParser,
      ],
      path: "Sources/Programs/whorl-agent", swiftSettings: strict),
    .executableTarget(
      name: "whorl-finger", dependencies: ["VirtualFinger", "Fingerprint", argumentParser],
      path: "Sources/Programs/whorl-finger", swiftSettings: strict),

    // Layer 10: the programs in Swift that are installed, to build them together (scripts/build).
    .target(
      name: "InstalledPrograms", dependencies: ["whorl", "whorld", "whorl-reader", "whorl-agent", "whorl-finger"],
      path: "Sources/Programs/InstalledPrograms", swiftSettings: strict),

    .executableTarget(
      name: "whorl-bench",
      dependencies: [
        "CSQLite", "Processes", "SecureMemory", "Keys", "KeySchemes", "Fingerprint", "ReaderClient", "SecretModel",
        "VirtualFinger", "Whorl", "Security", "SDBus", "VaultBus", "Executors",
      ],
      path: "Benchmarks/whorl-bench", swiftSettings: strict),

    // The examples, which `Examples/Package.swift` builds as a separate package. They are also built here, so that the
    // tests can run them.
    .executableTarget(
      name: "bound-secret", dependencies: ["LocalAuthentication", "KeychainServices"], path: "Examples/BoundSecret",
      swiftSettings: client),
    .executableTarget(
      name: "biometry-states", dependencies: ["LocalAuthentication"], path: "Examples/BiometryStates",
      swiftSettings: client),
    .executableTarget(
      name: "sign-in", dependencies: ["LocalAuthentication"], path: "Examples/SignIn", swiftSettings: client),
    .executableTarget(
      name: "feature-gate", dependencies: ["Whorl"], path: "Examples/FeatureGate", swiftSettings: client),
    .executableTarget(
      name: "internet-password", dependencies: ["LocalAuthentication", "KeychainServices"],
      path: "Examples/InternetPassword", swiftSettings: client),
    .executableTarget(
      name: "password-helper", dependencies: ["LocalAuthentication", "KeychainServices"],
      path: "Examples/PasswordHelper", swiftSettings: client),

    // Sample code from published articles, as a program that tests run with a simulated user.
    .executableTarget(
      name: "published-code", dependencies: ["LocalAuthentication", "Security"], path: "Tests/Support/PublishedCode",
      swiftSettings: client),

    // Layer T: fingers for machines without a reader
    .target(
      name: "VirtualFinger", dependencies: ["Fingerprint", "CPNG"], path: "Sources/Testing/VirtualFinger",
      swiftSettings: strict),
    // and code that the tests of several layers share: running the programs, searching their own memory, a vault with a
    // simulated user
    .target(
      name: "ProgramDriver", dependencies: ["SDBus", "Fingerprint", "ReaderClient", "VirtualFinger"],
      path: "Tests/Support/ProgramDriver", swiftSettings: strict),
    .target(name: "Introspection", path: "Tests/Support/Introspection", swiftSettings: strict),
    .target(
      name: "SoftwareTPM", dependencies: ["CLinux", "TPM"], path: "Tests/Support/SoftwareTPM", swiftSettings: strict),
    // In C, since its functions take the place of the C library's.
    .target(name: "DiskWrites", path: "Tests/Support/DiskWrites"),
    .target(
      name: "MemorySearch", dependencies: ["SecureMemory"], path: "Tests/Support/MemorySearch", swiftSettings: strict),
    .target(
      name: "VaultDriver",
      dependencies: [
        "Executors", "Keys", "SecretModel", "SecureMemory", "Fingerprint", "Presence", "Vault", "VaultItems",
        "VaultStore", "ReaderClient", "VirtualFinger",
      ],
      path: "Tests/Support/VaultDriver", swiftSettings: strict),

    // Tests, a target per layer. None depends on a program: SwiftPM would link the program's objects into the test
    // runner, and libfprint with those of the reader. The programs are built with the tests, into the folder of the
    // runner.
    .testTarget(
      name: "PrimitivesTests", dependencies: ["Primitives"], path: "Tests/Common/PrimitivesTests",
      swiftSettings: strict),
    .testTarget(
      name: "SecureMemoryTests", dependencies: ["SecureMemory"], path: "Tests/Common/SecureMemoryTests",
      swiftSettings: strict),
    .testTarget(
      name: "ExecutorsTests", dependencies: ["Executors"], path: "Tests/Common/ExecutorsTests", swiftSettings: strict),
    .testTarget(
      name: "SDBusTests", dependencies: ["MemorySearch", "Primitives", "SDBus", "SecureMemory"],
      path: "Tests/Common/SDBusTests", swiftSettings: strict),
    .testTarget(
      name: "RecordingsTests", dependencies: ["Recordings"], path: "Tests/Reader/RecordingsTests", swiftSettings: strict
    ),
    .testTarget(
      name: "GLibKitTests", dependencies: ["ProgramDriver"], path: "Tests/Reader/GLibKitTests", swiftSettings: strict),
    .testTarget(
      name: "FingerprintTests", dependencies: ["Fingerprint"], path: "Tests/Common/FingerprintTests",
      swiftSettings: strict),
    .testTarget(
      name: "ProcessesTests", dependencies: ["CLinux", "Processes", "ProgramDriver"],
      path: "Tests/Common/ProcessesTests", swiftSettings: strict),
    .testTarget(
      name: "KeysTests",
      dependencies: ["Primitives", "MemorySearch", "Keys", "KeySchemes", "SecureMemory", "COpenSSL"],
      path: "Tests/Vault/KeysTests", swiftSettings: strict),
    // With swtpm, a TPM in software.
    .testTarget(
      name: "TPMTests", dependencies: ["MemorySearch", "SecureMemory", "SoftwareTPM", "TPM"],
      path: "Tests/Vault/TPMTests", swiftSettings: strict),
    .testTarget(
      name: "AgeFormatTests", dependencies: ["AgeFormat", "Keys", "Primitives", "SecretModel", "SecureMemory"],
      path: "Tests/Vault/AgeFormatTests", swiftSettings: strict),
    // Readers are tested through the real `whorl-reader` process.
    .testTarget(
      name: "ReaderTests",
      dependencies: [
        "ReaderClient", "ReaderBus", "Confinement", "Processes", "SDBus", "SecureMemory", "Fingerprint",
        "VirtualFinger", "ProgramDriver", "Introspection",
      ],
      path: "Tests/Reader/ReaderTests", swiftSettings: strict),
    .testTarget(
      name: "VirtualFingerTests", dependencies: ["VirtualFinger", "Fingerprint", "Processes", "ReaderClient"],
      path: "Tests/Support/VirtualFingerTests", swiftSettings: strict),
    .testTarget(
      name: "VaultTests",
      dependencies: [
        "Presence", "Vault", "VaultItems", "VaultStore", "SecretModel", "Keys", "KeySchemes", "SecureMemory",
        "Fingerprint", "ReaderClient", "VirtualFinger",
        "VaultDriver",
        "ProgramDriver", "SoftwareTPM", "TPM", "DiskWrites",
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      path: "Tests/Vault/VaultTests", swiftSettings: strict),
    // A private vault: the real `whorld` process.
    .testTarget(
      name: "PrivateVaultTests",
      dependencies: [
        "Fingerprint", "PrivateVault", "Processes", "ProgramDriver", "SDBus", "SecretModel", "SecureMemory",
      ],
      path: "Tests/Vault/PrivateVaultTests", swiftSettings: strict),
    .testTarget(
      name: "VaultBusTests",
      dependencies: [
        "CLinux", "VaultBus", "VaultHost", "Presence", "Vault", "VaultItems", "VaultStore", "SecretModel",
        "SecureMemory", "KeySchemes", "SDBus", "Fingerprint",
        "ReaderBus", "ReaderClient", "VaultDriver", "VirtualFinger", "Introspection", "ProgramDriver",
      ],
      path: "Tests/Vault/VaultBusTests", swiftSettings: strict),
    // The service in this process: many users' stores behind a listening socket, and how clients find it.
    .testTarget(
      name: "VaultHostTests",
      dependencies: [
        "Executors", "Fingerprint", "Keys", "Processes", "ProgramDriver", "ReaderBus", "ReaderClient", "SDBus",
        "SecretModel",
        "SecureMemory", "SoftwareTPM", "SystemPolicy", "SystemVault", "TPM", "Presence", "Vault", "VaultItems",
        "VaultStore", "VaultBus", "VaultDriver",
        "VaultHost", "VirtualFinger", "Wallets", "Whorl",
      ],
      path: "Tests/Vault/VaultHostTests", swiftSettings: strict),
    .testTarget(
      name: "SystemPolicyTests", dependencies: ["SystemPolicy", "SecretModel", "SDBus", "Processes", "ProgramDriver"],
      path: "Tests/Vault/SystemPolicyTests", swiftSettings: strict),
    .testTarget(
      name: "SecurityTests",
      dependencies: [
        "Security", "Whorl", "Presence", "Vault", "VaultItems", "VaultStore", "Keys", "SecureMemory", "Fingerprint",
        "VaultDriver", "VirtualFinger",
      ],
      path: "Tests/Client/SecurityTests", swiftSettings: strict),
    // Sample code from published articles, in the language mode it was written for.
    .testTarget(
      name: "SecurityClientTests",
      dependencies: [
        "LocalAuthentication", "Security", "Whorl", "Presence", "Vault", "VaultItems", "VaultStore", "VaultDriver",
      ],
      path: "Tests/Client/SecurityClientTests", swiftSettings: [.swiftLanguageMode(.v5)]),
    .testTarget(
      name: "LocalAuthenticationTests",
      dependencies: [
        "LocalAuthentication", "Security", "Whorl", "Presence", "Vault", "VaultItems", "VaultStore", "Fingerprint",
        "SecureMemory", "ReaderClient",
        "VaultDriver", "VirtualFinger",
      ],
      path: "Tests/Client/LocalAuthenticationTests", swiftSettings: strict),
    // The library with vaults that end and programs that are missing.
    .testTarget(
      name: "WhorlTests",
      dependencies: [
        "Fingerprint", "Whorl", "SecretModel", "SecureMemory", "VaultBus", "VaultHost", "VaultDriver", "ProgramDriver",
      ],
      path: "Tests/Client/WhorlTests", swiftSettings: strict),
    .testTarget(
      name: "SSHAgentTests",
      dependencies: [
        "Executors", "KeySchemes", "Keys", "Processes", "ProgramDriver", "SDBus", "SSHAgent", "SecretModel",
        "SecureMemory",
        "SessionPrompts", "VaultDriver", "Whorl",
      ],
      path: "Tests/Session/SSHAgentTests", swiftSettings: strict),
    // The Secret Service on a private bus, with secret-tool, Python's clients and a client of its own.
    .testTarget(
      name: "SecretServiceTests",
      dependencies: [
        "Fingerprint", "Keys", "ProgramDriver", "SDBus", "SecretModel", "SecretService", "SecureMemory",
        "SessionPrompts", "Presence", "Vault", "VaultItems", "VaultStore", "VaultDriver", "Whorl",
      ],
      path: "Tests/Session/SecretServiceTests", swiftSettings: strict),
    // The wallets of a desktop, with the real gnome-keyring-daemon.
    .testTarget(
      name: "WalletsTests",
      dependencies: [
        "OtherStores", "ProgramDriver", "SDBus", "SecretModel", "SecureMemory", "Presence", "Vault", "VaultItems",
        "VaultStore", "VaultDriver", "Wallets",
        "Whorl",
      ],
      path: "Tests/Client/WalletsTests", swiftSettings: strict),
    // Files of other password managers, the real gpg, and a Secret Service that answers as it is told.
    .testTarget(
      name: "OtherStoresTests",
      dependencies: [
        "MemorySearch", "OtherStores", "ProgramDriver", "SDBus", "SecretModel", "SecureMemory", "VaultDriver", "Whorl",
      ],
      path: "Tests/Client/OtherStoresTests", swiftSettings: strict),
    // The product for clients' tests, through its public interface only.
    .testTarget(
      name: "WhorlTestingTests",
      dependencies: ["WhorlTesting", "Whorl", "LocalAuthentication", "KeychainServices", "VaultDriver"],
      path: "Tests/Client/WhorlTestingTests", swiftSettings: strict),
    // The built programs, run as a user would run them; and checks of the package itself.
    .testTarget(
      name: "CommandLineTests",
      dependencies: [
        "Primitives", "Confinement", "Executors", "ProgramDriver", "VirtualFinger", "Fingerprint", "Presence", "Vault",
        "VaultItems", "VaultStore",
        "SecureMemory", "ReaderClient", "VaultDriver",
      ],
      path: "Tests/Programs/CommandLineTests", swiftSettings: strict),
    // Attacks on the security promises: kills, faults, restores, many clients at once.
    .testTarget(
      name: "HardeningTests",
      dependencies: [
        "ProgramDriver", "VaultDriver", "MemorySearch", "Presence", "Vault", "VaultItems", "VaultStore", "Keys",
        "SecureMemory", "Fingerprint",
        "ReaderClient", "Executors", "VirtualFinger",
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      path: "Tests/Programs/HardeningTests", swiftSettings: strict),
    .testTarget(name: "PackageTests", path: "Tests/PackageTests", swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
