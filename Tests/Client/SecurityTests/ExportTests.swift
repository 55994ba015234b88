import Security
import Testing

@Suite("What Security brings along")
struct ExportTests {
  @Test("Foundation comes with it, as on Apple's systems")
  func reexports() {
    let key: CFString = kSecClass
    #expect(key as String == "class")
    #expect(Data([1]).count == 1)
  }
}
