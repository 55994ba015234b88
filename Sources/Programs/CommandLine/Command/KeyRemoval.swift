import CommandBase
internal import Prompts
import SecretModel
import Settings

extension Session {
  /// Removes keys, after a question that shows them unless the person has answered it with `--yes`.
  func remove(_ keys: [some StoredKey], isAssenting: Bool) async throws(Failure) {
    if !isAssenting {
      for key in keys { StandardError.line(Visible.text("\(key.name): \(key.publicText)")) }
      try answers().confirm("Remove \(Spoken.plural(keys.count, "key")) for good?", assent: "--yes")
    }
    let ids = keys.map(\.id)
    _ = try await request { try await $0.delete(.ids(ids)) }
  }
}
