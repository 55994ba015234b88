import Fingerprint
import SecretModel
import Whorl

extension Failure {
  /// The failure for each error of a reader.
  init(_ error: ReaderError) {
    let described = error.described
    self.init(ExitStatus(described.kind), described.explanation, name: described.apple.name)
  }
}
