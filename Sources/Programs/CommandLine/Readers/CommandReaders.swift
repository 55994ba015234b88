import Glibc
import Processes
import ReaderBus
import ReaderClient
import SecretModel
import Whorl

/// The readers for commands that list and test them: those that this user may open, or that the service lends.
struct CommandReaders {
  let session: Session

  /// The readers for commands that test or list them. If the system service is installed, users cannot open libfprint's
  /// readers themselves, and the service lends them. fprintd serves all users, and root can open every device.
  func tested() async throws(Failure) -> any FingerprintReader {
    guard try areLent else { return session.ownReaders.reader() }
    let lent = try await lentReader()
    guard session.selection == .automatic else { return lent }
    let (own, fprintd) = (session.ownReaders, session.configuration.fprintd)
    return AutomaticReader { $0.opensDevice ? lent : own.reader(ReaderSelection($0, device: nil), fprintd: fprintd) }
  }

  /// Whether the service must lend the selected readers.
  var areLent: Bool {
    get throws(Failure) {
      guard session.selection.adapter?.opensDevice != false, session.selection.nature == .physical, geteuid() != 0
      else { return false }
      return try session.isStoreOfService
    }
  }

  /// Lists the attached readers without claiming one. A line says that some may be missing if those of one adapter cannot
  /// be listed.
  func attached() async throws(Failure) -> [ReaderDescription] {
    let reader = try await tested()
    let found: Result<[ReaderDescription], Failure>
    do {
      found = .success(try await reader.readers())
      if let error = await (reader as? AutomaticReader)?.listingFailure {
        StandardError.line("A reader may be missing: \(session.explained(error).what). 'whorl doctor' says more.")
      }
    } catch {
      found = .failure(session.explained(error))
    }
    try? await reader.close()
    return try found.get()
  }

  /// Opens a reader for a test, for which the service may have polkit ask for an administrator's password.
  func opened(_ chosen: ReaderDescription, _ reader: any FingerprintReader) async throws(Failure) -> ReaderDescription {
    let open = { () async throws(Failure) -> ReaderDescription in
      do throws(ReaderError) { return try await reader.open(chosen.id) } catch { throw session.explained(error) }
    }
    guard chosen.identity.adapter.opensDevice, try areLent else { return try await open() }
    return try await session.withPasswordAgent(open)
  }

  /// The attached readers and the one to use, without a store, whose enrolled fingers would decide otherwise.
  func readers(of reader: any FingerprintReader) async throws -> SecretModel.ReaderList {
    let found = try await reader.readers()
    guard !found.isEmpty else { return SecretModel.ReaderList(readers: [], chosen: nil, problem: .reader(.absent)) }
    return SecretModel.ReaderList(
      readers: found, chosen: try chosen(from: found, named: session.selection.device), problem: nil)
  }

  /// The reader to use among the attached ones.
  func chosen(from readers: [ReaderDescription], named device: String?) throws(Failure) -> ReaderDescription {
    if let device {
      if let named = readers.first(where: { $0.id == device || $0.name == device }) { return named }
    } else if let first = readers.first {
      return first
    }
    throw session.explained(ReaderError.absent)
  }

  private func lentReader() async throws(Failure) -> any FingerprintReader {
    let connection = try await session.connect(to: .own)
    let socket = try await session.explained { () async throws(VaultError) in
      try await connection.lendReader().release()
    }
    return ReaderProcess(lent: socket, selection: session.selection)
  }
}
