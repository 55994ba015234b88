internal import SecretModel
package import Whorl

/// A row in the list of login entries.
package struct LoginRow: Encodable {
  package var kind: String
  package var name: String
  package var spoken: String
  /// The item whose secret is delivered; "gone" if it no longer exists. Nil for an entry with its own secret.
  package var item: String?

  /// The words after `whorl` that take it back.
  var undo: [String] {
    let chosen: [LoginItem.Kind] = [.gnomeKeyring, .kwallet, .passcode]
    return chosen.map(\.rawValue).contains(kind) ? ["login", "disable", kind] : ["login", "rm", spoken]
  }
}

extension LoginRow {
  /// The entries of a store, each with the title of its item.
  package static func all(in store: SecretStore) async throws(Failure) -> [LoginRow] {
    do throws(VaultError) {
      return try await store.call { vault throws(VaultError) in
        var rows: [LoginRow] = []
        for (entry, _) in try await LoginEntries(in: vault).all() {
          var item: String?
          if let source = entry.source {
            let search = ItemSearch(groups: .all, ids: [source], synchronizable: .any)
            item = try await vault.allItems(search).first.map { $0.title ?? $0.id.spoken } ?? "gone"
          }
          rows.append(LoginRow(kind: entry.kind.rawValue, name: entry.name, spoken: entry.spoken, item: item))
        }
        return rows
      }
    } catch {
      throw Failure(error)
    }
  }
}

extension LoginItem {
  /// The entry as written on the command line: its kind and, if the kind has several, its name.
  package var spoken: String {
    switch kind {
    case .gnomeKeyring, .kwallet: "\(kind.rawValue) \(name)"
    case .environment: "env:\(name)"
    case .file: "file:\(name)"
    case .command: "command:\(name)"
    case .passcode: "passcode"
    }
  }
}
