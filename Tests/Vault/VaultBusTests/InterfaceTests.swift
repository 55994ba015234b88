import Foundation
import Introspection
import SDBus
import SecretModel
import Testing
import VaultBus

@Suite("The vault's D-Bus interface")
struct InterfaceTests {
  @Test("has the members and signatures in its XML")
  func introspection() throws {
    let read = try IntrospectionReader(of: VaultInterface.target.interface)
    #expect(read.nodes == [VaultInterface.target.path])
    #expect(read.interfaces == [VaultInterface.target.interface])
    var served = VaultCall.all.reduce(into: [:]) {
      $0["method \($1.member)"] = "\($1.arguments) -> \($1.results)"
    }
    served["signal \(VaultInterface.eventSignal)"] = "\(VaultInterface.eventSignalArguments) -> "
    #expect(read.members == served)
  }

  @Test("for logins has the members in its XML")
  func loginIntrospection() throws {
    let read = try IntrospectionReader(of: LoginInterface.target.interface)
    #expect(read.nodes == [LoginInterface.target.path])
    #expect(read.interfaces == [LoginInterface.target.interface])
    #expect(
      read.members
        == LoginInterface.Method.allCases.reduce(into: [:]) {
          $0["method \($1.rawValue)"] = "\($1.arguments) -> \(LoginInterface.results)"
        })
  }

  @Test("documents every error")
  func errors() throws {
    let text = try String(contentsOf: IntrospectionReader.file(of: VaultInterface.target.interface), encoding: .utf8)
    let words = Set(text.split { !$0.isLetter })
    for name in VaultErrorName.allCases {
      #expect(words.contains(Substring(name.word)), "\(name) is not documented")
    }
  }

  @Test("numbers every call with its first argument")
  func numbers() {
    for method in VaultCall.all { #expect(method.arguments.hasPrefix("t")) }
  }
}
