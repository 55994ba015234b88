internal import SecretModel
internal import SecureMemory

/// Writes the contents of an export into a socket, whose other end encrypts them.
final class ItemFileWriter {
  private let socket: Int32
  /// Bytes that are not written yet, secrets included.
  private var pending = SecretBytes(count: 0)
  private(set) var items = 0

  private static let pendingLimit = 64 << 10

  /// - Parameter socket: borrowed for as long as this exists.
  init(to socket: Int32) throws(VaultError) {
    self.socket = socket
    try append(JSONLine.line(ItemFileFormat.Beginning()))
  }

  /// Writes an item that can be read. Ignores a damaged one, which is never released.
  func write(_ released: ReleasedItem) throws(VaultError) {
    guard let itemClass = released.item.itemClass else { return }
    let item = NewItem(
      itemClass, released.item.attributes,
      access: AccessControl(unchecked: released.item.access.flags.subtracting(.privateKeyUsage)),
      accessibility: released.item.accessibility)
    let head = DescribedItem(item, secret: released.secret.count)
    try append(JSONLine.line(ItemFileFormat.Line(item: head)))
    released.secret.withUnsafeBytes { keep($0) }
    try append([UInt8(ascii: "\n")])
    items += 1
  }

  /// Writes the last line.
  func end() throws(VaultError) {
    try append(JSONLine.line(ItemFileFormat.Line(end: items)))
    try flush()
  }

  private func append(_ bytes: [UInt8]) throws(VaultError) {
    bytes.withUnsafeBytes { keep($0) }
    if pending.count >= Self.pendingLimit { try flush() }
  }

  private func keep(_ bytes: UnsafeRawBufferPointer) {
    let filled = pending.count
    pending.resize(to: filled + bytes.count)
    pending.withUnsafeMutableBytes { UnsafeMutableRawBufferPointer(rebasing: $0[filled...]).copyMemory(from: bytes) }
  }

  private func flush() throws(VaultError) {
    do throws(WriteError) {
      try pending.write(to: socket)
    } catch {
      throw .inputOutput("the export: \(error)")
    }
    pending.resize(to: 0)
  }
}
