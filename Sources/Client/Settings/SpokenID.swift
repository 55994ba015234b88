internal import Primitives
package import SecretModel

extension ItemID {
  private static let mark = "id:"

  /// The id as written on the command line: `id:` and 32 hexadecimal digits.
  package var spoken: String {
    Self.mark + Hexadecimal.text(of: bytes)
  }

  /// Nil for text of another form.
  package init?(spoken text: String) {
    guard text.hasPrefix(Self.mark), let bytes = Hexadecimal.bytes(in: text.dropFirst(Self.mark.count)),
      bytes.count == 16
    else { return nil }
    self.init(bytes: bytes)
  }
}
