import Keys
import Primitives
package import SecretModel
import VaultStore

/// The members whose signatures are accepted, with their keys ready for use.
package struct Authors: Sendable {
  private let keys: [MemberID: PublicKey]

  package init(_ members: [Member]) throws(VaultError) {
    var keys: [MemberID: PublicKey] = [:]
    for member in members {
      do throws(KeysError) {
        let key = try PublicKey(external: member.signingKey.bytes, family: .ed25519)
        keys[try Self.id(of: member)] = key
      } catch .badParameters {
        // No signature is valid for a malformed key.
        continue
      } catch {
        throw VaultError(cause: error)
      }
    }
    self.keys = keys
  }

  private static func id(of member: Member) throws(KeysError) -> MemberID {
    guard let id = try? member.id else { throw .badParameters("a member has no identifier") }
    return id
  }

  package func contains(_ member: MemberID) -> Bool { keys[member] != nil }

  /// - Throws: `fileUnreadable`.
  func verify(_ signature: [UInt8], of message: borrowing SecretBytes, by signer: MemberID) throws(VaultError) {
    guard let key = keys[signer] else { throw .fileUnreadable("no member has signed it") }
    let isValid: Bool
    do throws(KeysError) {
      isValid = try key.verify(signature, of: message)
    } catch {
      throw VaultError(cause: error)
    }
    guard isValid else { throw .fileUnreadable("its signature is not valid") }
  }
}
