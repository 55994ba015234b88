import Security
import Testing

@Suite("SecAccessControl")
struct AccessControlTests {
  private func create(_ flags: SecAccessControlCreateFlags, _ protection: Any = kSecAttrAccessibleWhenUnlocked)
    -> (SecAccessControl?, Int?)
  {
    var error: Unmanaged<CFError>?
    let control = SecAccessControlCreateWithFlags(kCFAllocatorDefault, protection, flags, &error)
    return (control, error?.takeRetainedValue().code)
  }

  @Test("SecAccessControlCreateFlags have Apple's values")
  func bits() {
    let bits: [(SecAccessControlCreateFlags, UInt)] = [
      (.userPresence, 0), (.biometryAny, 1), (.touchIDAny, 1), (.biometryCurrentSet, 3), (.touchIDCurrentSet, 3),
      (.devicePasscode, 4), (.watch, 5), (.companion, 5), (.or, 14), (.and, 15), (.privateKeyUsage, 30),
      (.applicationPassword, 31),
    ]
    for (flag, bit) in bits { #expect(flag.rawValue == 1 << bit) }
  }

  @Test("SecAccessControlCreateWithFlags accepts valid combinations of flags without an error")
  func allowed() {
    let allowed: [SecAccessControlCreateFlags] = [
      [], .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .privateKeyUsage, .applicationPassword,
      [.userPresence, .privateKeyUsage], [.userPresence, .applicationPassword],
      [.biometryAny, .or, .devicePasscode], [.biometryCurrentSet, .and, .devicePasscode],
      [.biometryAny, .devicePasscode], [.biometryAny, .or, .watch],
      [.privateKeyUsage, .biometryCurrentSet, .applicationPassword],
      [.userPresence, .privateKeyUsage, .applicationPassword], [.devicePasscode, .or, .companion],
    ]
    for flags in allowed {
      let (control, error) = create(flags)
      #expect(control != nil, "\(flags)")
      #expect(error == nil, "\(flags)")
    }
  }

  @Test("SecAccessControlCreateWithFlags gives nil and errSecParam for invalid combinations of flags")
  func refused() {
    let refused: [SecAccessControlCreateFlags] = [
      [.biometryAny, .devicePasscode, .or, .and], [.biometryAny, .biometryCurrentSet], [.userPresence, .biometryAny],
      [.userPresence, .devicePasscode], [.userPresence, .or], [.userPresence, .watch], .watch, [.watch, .or],
      [.watch, .biometryAny], [.watch, .and, .biometryAny], [.watch, .or, .privateKeyUsage],
      [.watch, .or, .applicationPassword], [.userPresence, .biometryCurrentSet], [.userPresence, .and],
      [.privateKeyUsage, .or, .and], SecAccessControlCreateFlags(rawValue: 1 << 7),
    ]
    for flags in refused {
      let (control, error) = create(flags)
      #expect(control == nil, "\(flags)")
      #expect(error == -50, "\(flags)")
    }
    #expect(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [.or, .and], nil) == nil)
  }

  @Test("SecAccessControlCreateWithFlags refuses a companion alone, with `and`, or with user presence")
  func companionAndPresence() {
    for flags in [
      SecAccessControlCreateFlags.companion, [.companion, .and, .biometryAny], [.companion, .userPresence],
    ] {
      let (control, error) = create(flags)
      #expect(control == nil && error == Int(errSecParam), "\(flags)")
    }
    let (control, error) = create(.userPresence, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly)
    #expect(control != nil && error == nil)
    #expect(control == create(.userPresence, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly).0)
    #expect(control != create(.userPresence).0, "with another accessibility")
  }

  @Test("SecAccessControlCreateWithFlags accepts every known protection, as String or CFString, and no other")
  func protections() {
    for name in ["ak", "ck", "dk", "aku", "cku", "dku", "akpu"] {
      #expect(create(.userPresence, name).0 != nil)
      #expect(create(.userPresence, name as CFString).0 != nil)
      #expect(create(.userPresence, name as CFTypeRef).0 != nil)
    }
    for name in ["f", "", kSecClass, 5] as [Any] { #expect(create(.userPresence, name).1 == -50) }
  }

  @Test("two access controls of the same protection and flags are equal")
  func equality() {
    #expect(create(.userPresence).0 == create(.userPresence).0)
    #expect(create(.userPresence).0?.hash == create(.userPresence).0?.hash)
    #expect(create(.userPresence).0 != create(.biometryAny).0)
    #expect(create(.userPresence, "ak").0 != create(.userPresence, "aku").0)
    #expect(CFGetTypeID(create([]).0) == SecAccessControlGetTypeID())
  }
}
