import Glibc
import Primitives
import ProgramDriver
import SecretModel
import Testing

/// `fork`, which Glibc does not export to Swift.
let fork = unsafeBitCast(dlsym(nil, "fork"), to: (@convention(c) () -> pid_t).self)

/// Makes a store without a passcode in the folder, and opens it.
func newStore(_ folder: String, _ vault: any VaultConnection) async throws -> any VaultService {
  let place = StorePlace(directory: "\(folder)/store")
  let draft = try await vault.create(place, passcode: nil)
  try await vault.keep(draft.id)
  return try await vault.open(place)
}

func item(_ account: String, _ constraint: AccessControl.Constraint = .none) throws -> NewItem {
  NewItem(
    .genericPassword, [.service: .text("test"), .account: .text(account)], access: AccessControl(constraint))
}

func secret(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8).span) }

func text(_ secret: borrowing SecretBytes) -> String {
  secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
}

/// The error that the call throws; nil if it throws none.
func vaultError<Value>(_ call: () async throws -> Value) async -> VaultError? {
  do {
    _ = try await call()
    return nil
  } catch {
    if error as? VaultError == nil { Issue.record(error) }
    return error as? VaultError
  }
}

/// Waits up to ten seconds for a condition.
func eventually(_ condition: () throws -> Bool) async throws -> Bool {
  let deadline = ContinuousClock.now + .seconds(10)
  while ContinuousClock.now < deadline {
    if try condition() { return true }
    try await Task.sleep(for: .milliseconds(5))
  }
  return try condition()
}

func openDescriptors() throws -> Int { try folderEntries("/proc/self/fd").count }

func symbolicLink(_ path: String) -> String? {
  let bytes = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
    // readlink: writes no terminator
    count = max(0, buffer.baseAddress.map { readlink(path, $0, buffer.count) } ?? 0)
  }
  return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
}
