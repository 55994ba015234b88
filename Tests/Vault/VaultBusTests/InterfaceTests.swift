import Foundation
import Introspection
import SDBus
import SecretModel
import Testing
import VaultBus

@Suite("The vault's D-Bus interface")
struct InterfaceTests {
  @Test("the vault's D-Bus interface has the members and signatures in its XML")
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

  @Test("the vault's D-Bus interface for logins has the members and signatures in its XML")
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

  @Test("the XML of the vault's D-Bus interface documents every error")
  func errors() throws {
    let text = try String(contentsOf: IntrospectionReader.file(of: VaultInterface.target.interface), encoding: .utf8)
    let words = Set(text.split { !$0.isLetter })
    for name in VaultErrorName.allCases {
      #expect(words.contains(Substring(name.word)), "\(name) is not documented")
    }
  }

  @Test("every method of the vault's D-Bus interface has a number as its first argument")
  func numbers() {
    for method in VaultCall.all { #expect(method.arguments.hasPrefix("t")) }
  }
}
