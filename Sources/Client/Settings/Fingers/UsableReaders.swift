internal import Glibc
internal import Processes
internal import ReaderBus
internal import ReaderClient
package import SecretModel
package import Whorl

/// The readers that can be listed and tested: those that this user may open, or that the service lends.
package struct UsableReaders {
  package let context: any SettingsContext

  package init(_ context: any SettingsContext) { self.context = context }

  /// The readers for commands that test or list them. If the system service is installed, users cannot open libfprint's
  /// readers themselves, and the service lends them. fprintd serves all users, and root can open every device.
  package func tested() async throws(Failure) -> any FingerprintReader {
    guard try areLent else { return context.ownReaders.reader() }
    let lent = try await lentReader()
    guard context.selection == .automatic else { return lent }
    let (own, fprintd) = (context.ownReaders, context.configuration.fprintd)
    return AutomaticReader { $0.opensDevice ? lent : own.reader(ReaderSelection($0, device: nil), fprintd: fprintd) }
  }

  /// Whether the service must lend the selected readers.
  package var areLent: Bool {
    get throws(Failure) {
      guard context.selection.adapter?.opensDevice != false, context.selection.nature == .physical, geteuid() != 0
      else { return false }
      return try context.isStoreOfService
    }
  }

  /// Lists the attached readers without claiming one.
  ///
  /// - Returns: also why some may be missing, if those of one adapter cannot be listed.
  package func attached() async throws(Failure) -> (readers: [ReaderDescription], gap: Failure?) {
    let reader = try await tested()
    let found: Result<[ReaderDescription], Failure>
    var gap: Failure?
    do {
      found = .success(try await reader.readers())
      gap = await (reader as? AutomaticReader)?.listingFailure.map { context.explained($0) }
    } catch {
      found = .failure(context.explained(error))
    }
    try? await reader.close()
    return (try found.get(), gap)
  }

  /// The attached readers and the one to use, without a store, whose enrolled fingers would decide otherwise.
  package func readers(of reader: any FingerprintReader) async throws -> SecretModel.ReaderList {
    let found = try await reader.readers()
    guard !found.isEmpty else { return SecretModel.ReaderList(readers: [], chosen: nil, problem: .reader(.absent)) }
    return SecretModel.ReaderList(
      readers: found, chosen: try chosen(from: found, named: context.selection.device), problem: nil)
  }

  /// The reader to use among the attached ones.
  package func chosen(from readers: [ReaderDescription], named device: String?) throws(Failure) -> ReaderDescription {
    if let device {
      if let named = readers.first(where: { $0.id == device || $0.name == device }) { return named }
    } else if let first = readers.first {
      return first
    }
    throw context.explained(ReaderError.absent)
  }

  private func lentReader() async throws(Failure) -> any FingerprintReader {
    let connection = try await context.connect(to: .own)
    let socket = try await context.explained { () async throws(VaultError) in
      try await connection.lendReader().release()
    }
    return ReaderProcess(lent: socket, selection: context.selection)
  }
}
