import BrowserLogins
import Testing

@Suite("The address of a site")
struct SiteAddressTests {
  /// Whether a login that was saved for the first address is given to the second.
  private func covers(_ saved: String, _ page: String) -> Bool {
    guard let saved = SiteAddress(saved: saved), let page = SiteAddress(page: page) else { return false }
    return saved.covers(page)
  }

  @Test(
    "a login is given to the very host, and to names below it",
    arguments: [
      ("https://example.com", "https://example.com/"), ("example.com", "https://example.com/login?next=/#top"),
      ("https://Example.COM/login", "https://example.com:443/"), ("https://example.com", "https://login.example.com/"),
      ("https://example.com:8443", "https://example.com:8443/"), ("http://example.com", "http://example.com/"),
      ("http://example.com", "https://example.com/"), ("https://ann:pw@example.com", "https://example.com/"),
      ("https://example.com", "https://evil.test@example.com/"),
      ("https://bücher.example", "https://xn--bcher-kva.example/"),
      ("https://BÜCHER.example", "https://bücher.example/"), ("https://[::1]:8443", "https://[0:0::1]:8443/"),
      ("https://192.0.2.7", "https://192.0.2.7/"), ("http://localhost:8080", "http://localhost:8080/"),
      ("https://example.co.uk", "https://a.b.example.co.uk/"), ("https://my.github.io", "https://my.github.io/"),
      ("https://co.uk", "https://co.uk/"), ("https://my_host.example", "https://my_host.example/"),
    ])
  func same(saved: String, page: String) {
    #expect(covers(saved, page), "\(saved) is for \(page)")
  }

  @Test(
    "a login is given to no other host, whatever part of its name is the same",
    arguments: [
      ("https://example.com", "https://example.com.evil.test/"), ("https://example.com", "https://notexample.com/"),
      ("https://example.com", "https://example.org/"), ("https://example.com", "https://examp1e.com/"),
      ("https://example.com", "https://example.com@evil.test/"),
      ("https://example.com", "https://evil.test/example.com"),
      ("https://example.com", "https://evil.test/?https://example.com"),
      ("https://example.com", "https://evil.test#@example.com"), ("https://login.example.com", "https://example.com/"),
      ("https://www.example.com", "https://login.example.com/"), ("https://example.com", "https://com/"),
      ("https://example.com", "https://exаmple.com/"), ("https://com", "https://example.com/"),
      ("https://co.uk", "https://example.co.uk/"), ("https://github.io", "https://evil.github.io/"),
      ("https://my.github.io", "https://evil.github.io/"), ("https://0.2.7", "https://192.0.2.7/"),
      ("https://2.7", "https://192.0.2.7/"), ("https://192.0.2.7", "https://1.192.0.2.7/"),
      ("https://test", "https://evil.test/"), ("https://localhost", "https://evil.localhost/"),
      ("https://example.com", "https://.example.com/"), ("https://example.com.", "https://example.com/"),
      ("https://example.com", "https://example.com./"), ("https://", "https:///"), ("", "https://example.com/"),
      ("https://*.example.com", "https://a.example.com/"), ("https://example.com\\.evil.test", "https://example.com/"),
      ("https://exa%6Dple.com", "https://example.com/"), ("https://[::1]", "https://[::2]/"),
      ("https://[::1]", "https://::1/"), ("https://[::1%25eth0]", "https://[::1]/"),
    ])
  func other(saved: String, page: String) {
    #expect(!covers(saved, page), "\(saved) is not for \(page)")
  }

  @Test(
    "a login is given to no other port, and to no page without encryption",
    arguments: [
      ("https://example.com", "http://example.com/"), ("example.com", "http://example.com/"),
      ("https://example.com", "https://example.com:8443/"), ("https://example.com:8443", "https://example.com/"),
      ("http://example.com:8080", "https://example.com:8080/"), ("http://example.com", "https://example.com:80/"),
      ("https://example.com", "ftp://example.com/"), ("https://example.com", "file:///example.com"),
      ("https://example.com", "example.com"), ("ftp://example.com", "https://example.com/"),
      ("https://example.com:0", "https://example.com/"), ("https://example.com:99999", "https://example.com/"),
      ("https://example.com:443x", "https://example.com/"), ("https://example.com:-443", "https://example.com/"),
    ])
  func door(saved: String, page: String) {
    #expect(!covers(saved, page), "\(saved) is not for \(page)")
  }

  @Test("every text is an address or none, and each is the same one again")
  func random() {
    let parts = [
      "https://", "http://", "@", ":", "[", "]", "/", ".", "..", "example", "com", "é", "\u{0}", "%", "1", "xn--", "::",
      "\\", "#",
    ]
    for _ in 0..<2_000 {
      let text = (0..<Int.random(in: 0..<9)).map { _ in parts.randomElement() ?? "" }.joined()
      guard let address = SiteAddress(saved: text) else { continue }
      #expect(SiteAddress(page: address.text) == address, "\(text) became \(address.text)")
    }
  }
}
