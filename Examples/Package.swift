// swift-tools-version: 6.2
import PackageDescription

// A separate package, as a client of Whorl writes it. It uses only the three library products.
let localAuthentication = Target.Dependency.product(name: "LocalAuthentication", package: "whorl")
let security = Target.Dependency.product(name: "Security", package: "whorl")
let whorl = Target.Dependency.product(name: "Whorl", package: "whorl")

let package = Package(
  name: "examples",
  dependencies: [.package(name: "whorl", path: "..")],
  targets: [
    .executableTarget(name: "bound-secret", dependencies: [localAuthentication], path: "BoundSecret"),
    .executableTarget(name: "biometry-states", dependencies: [localAuthentication], path: "BiometryStates"),
    .executableTarget(name: "sign-in", dependencies: [localAuthentication], path: "SignIn"),
    .executableTarget(name: "feature-gate", dependencies: [whorl], path: "FeatureGate"),
    .executableTarget(name: "internet-password", dependencies: [localAuthentication], path: "InternetPassword"),
    .executableTarget(
      name: "password-helper", dependencies: [localAuthentication, security], path: "PasswordHelper"),
  ],
  // The language mode that most existing code uses.
  swiftLanguageModes: [.v5]
)
