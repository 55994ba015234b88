import LocalAuthentication
import Security
import Testing

extension ClientCode {
  /// Names that programs mention, mostly without depending on their effect.
  @Suite("Names of Apple's frameworks in client code")
  struct MentionTests {
    @Test("CFNull, CFError, string encodings and times of Core Foundation compile and work")
    func coreFoundation() {
      let null: CFNull = kCFNull
      #expect(CFGetTypeID(null) == CFNullGetTypeID())
      #expect(CFEqual(null, NSNull()))
      let info = [kCFErrorLocalizedDescriptionKey as String: "it broke"] as CFDictionary
      let error: CFError = CFErrorCreate(kCFAllocatorDefault, kCFErrorDomainOSStatus, CFIndex(errSecParam), info)
      #expect(CFErrorGetCode(error) == Int(errSecParam))
      #expect(CFErrorGetDomain(error) as String == NSOSStatusErrorDomain)
      #expect(CFErrorCopyDescription(error) as String == "it broke")
      #expect((error as Error as NSError).localizedDescription == "it broke")
      #expect(CFErrorGetCode(CFErrorCreate(nil, "own" as CFErrorDomain, 7, nil)) == 7)
      let encoding: CFStringEncoding = kCFStringEncodingUTF8
      #expect(encoding == 0x0800_0100)
      let before = Date().timeIntervalSinceReferenceDate
      let now: CFAbsoluteTime = CFAbsoluteTimeGetCurrent()
      #expect(before <= now && now <= Date().timeIntervalSinceReferenceDate)
    }

    @Test("LAPolicy constants for watches and companions have Apple's values, and no companion is available")
    func policies() async throws {
      let store = try await ClientStore()
      defer { withExtendedLifetime(store) {} }
      let all: [LAPolicy] = [
        .deviceOwnerAuthenticationWithWatch, .deviceOwnerAuthenticationWithBiometricsOrWatch,
        .deviceOwnerAuthenticationWithCompanion, .deviceOwnerAuthenticationWithBiometricsOrCompanion,
      ]
      #expect(all.map(\.rawValue) == [3, 4, 3, 4])
      #expect(kLAPolicyDeviceOwnerAuthenticationWithWatch == 3 && kLAPolicyDeviceOwnerAuthenticationWithCompanion == 3)
      #expect(kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrWatch == 4)
      #expect(kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrCompanion == 4)
      var error: NSError?
      let context = LAContext()
      #expect(!context.canEvaluatePolicy(.deviceOwnerAuthenticationWithWatch, error: &error))
      #expect((error as? LAError)?.code == .companionNotAvailable)
      #expect(error?.localizedDescription.isEmpty == false)
      do {
        _ = try await context.evaluatePolicy(.deviceOwnerAuthenticationWithCompanion, localizedReason: "see")
        Issue.record("no companion answers")
      } catch {
        #expect((error as? LAError)?.code == .companionNotAvailable)
      }
    }
  }
}
