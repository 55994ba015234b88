package import Moving
package import SecretModel
package import Whorl

/// What an import from another program would bring, and the import itself, for a program that shows the one and then asks.
package struct ImportPreview: Sendable {
  package let plan: ImportPlan
  private let source: any ImportSource
  private let store: SecretStore
  private let access: AccessControl

  /// Reads the other program's secrets, for which that program may ask, and stores nothing.
  ///
  /// - Parameters:
  ///   - path: of a file or folder. A pipe or a device is refused: reading it may never end.
  ///   - access: of all items that come.
  package init(
    of program: OtherProgram, at path: String?, into store: SecretStore, access: AccessControl
  ) async throws(Failure) {
    if let path, EntryFile.isPipeOrDevice(path) {
      throw Failure(.malformed("\(path) is a pipe or a device: name a file"))
    }
    let source: any ImportSource
    do throws(ImportError) { source = try await program.source(at: path) } catch { throw Failure(error) }
    (self.source, self.store, self.access) = (source, store, access)
    plan = try await store.call { vault throws(Failure) in
      do throws(VaultError) {
        return try await ItemImport(from: source, to: vault, access: access, accessibility: .whenUnlocked).plan()
      } catch {
        throw Failure(error)
      }
    }
  }

  /// Stores what the plan has. What is there already stays as it is.
  package func bring() async throws(Failure) -> ImportOutcome {
    // A result, since a call that throws because the vault has ended is made again, and then would find what it had stored.
    let result = try await store.call { vault throws(Failure) -> Result<ImportOutcome, Failure> in
      do {
        let work = ItemImport(from: source, to: vault, access: access, accessibility: .whenUnlocked)
        return .success(try await work.bring(plan))
      } catch let error as VaultError {
        return .failure(Failure(error))
      } catch let error as ImportError {
        return .failure(Failure(error))
      } catch {
        return .failure(.defect(error))
      }
    }
    return try result.get()
  }
}
