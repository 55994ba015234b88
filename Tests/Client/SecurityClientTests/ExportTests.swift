import Security
import Testing

@Suite("What Security re-exports")
struct ExportTests {
  @Test("a client program that imports Security gets Foundation too, as on Apple's systems")
  func reexports() {
    let key: CFString = kSecClass
    #expect(key as String == "class")
    #expect(Data([1]).count == 1)
  }
}
