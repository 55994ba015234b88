package import Primitives
internal import Prompts
internal import SecretModel
package import Settings

extension UsableReaders {
  /// Lists the attached readers. A line says that some may be missing.
  package func listed() async throws(Failure) -> [ReaderDescription] {
    let (readers, gap) = try await attached()
    gap.map(Self.tell)
    return readers
  }

  /// Says that readers may be missing in what is listed.
  package static func tell(of gap: Failure) {
    StandardError.line("A reader may be missing: \(gap.what). 'whorl doctor' says more.")
  }

  /// Opens a reader for a test, for which the service may have polkit ask for an administrator's password.
  package func opened(_ chosen: ReaderDescription, _ reader: any FingerprintReader, _ session: Session)
    async throws(Failure)
    -> ReaderDescription
  {
    let open = { () async throws(Failure) -> ReaderDescription in
      do throws(ReaderError) { return try await reader.open(chosen.id) } catch { throw session.explained(error) }
    }
    guard chosen.identity.adapter.opensDevice, try areLent else { return try await open() }
    return try await session.withPasswordAgent(open)
  }
}
