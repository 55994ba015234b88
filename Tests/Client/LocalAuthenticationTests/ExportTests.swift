import LocalAuthentication
import Testing

@Suite("What LocalAuthentication re-exports")
struct ExportTests {
  @Test("LocalAuthentication re-exports Security and Foundation, as on Apple's systems")
  func reexports() {
    let key: CFString = kSecClass
    #expect(key as String == "class")
    #expect(Data([1]).count == 1)
  }
}
