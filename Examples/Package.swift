// swift-tools-version: 6.2
import PackageDescription

// A package of its own, as a client of Whorl writes it: nothing here reaches beyond the three library products.
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
  // That of the code that people bring along.
  swiftLanguageModes: [.v5]
)
