import Security
import Testing

@Suite("The names of Core Foundation")
struct CoreFoundationTests {
  @Test("kCFBooleanTrue, kCFBooleanFalse and kCFAllocatorDefault are optional where Apple's are")
  func constants() {
    let query: [CFString: Any] = [kSecReturnData: kCFBooleanTrue!, kSecReturnRef: kCFBooleanFalse as Any]
    #expect(query[kSecReturnData] as? Bool == true)
    #expect(query[kSecReturnRef] as? Bool == false)
    #expect(CFBooleanGetValue(kCFBooleanTrue))
    let allocator: CFAllocator? = kCFAllocatorDefault
    #expect(allocator == nil)
  }

  @Test("keychain constants work as dictionary keys, values and strings")
  func bridging() {
    let literal = [kSecClass: kSecClassGenericPassword, kSecAttrAccount: "a", kSecReturnData: true] as CFDictionary
    let typed: [String: Any] = [
      kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "a", kSecReturnData as String: true,
    ]
    let untyped: [NSObject: AnyObject] = [
      kSecClass: kSecClassGenericPassword, kSecAttrAccount: "a" as NSString, kSecReturnData: kCFBooleanTrue,
    ]
    #expect(literal.isEqual(typed as CFDictionary))
    #expect(literal.isEqual(untyped as CFDictionary))
    #expect(String(kSecClass) == "class")
    #expect("\(kSecClass)" == "class")
  }

  @Test("a CFError has a code, a domain, a description and user info")
  func errors() throws {
    var error: Unmanaged<CFError>?
    #expect(SecAccessControlCreateWithFlags(nil, "?", [], &error) == nil)
    let made = try #require(error).takeRetainedValue()
    #expect(CFErrorGetCode(made) == -50)
    #expect(CFErrorGetDomain(made) as String == NSOSStatusErrorDomain)
    #expect(CFErrorGetDomain(made) == kCFErrorDomainOSStatus)
    #expect(kCFErrorDomainPOSIX as String == NSPOSIXErrorDomain && kCFErrorDomainCocoa as String == NSCocoaErrorDomain)
    #expect(
      (CFErrorCopyUserInfo(made) as? [CFString: Any])?[kCFErrorLocalizedDescriptionKey] as? String
        == made.localizedDescription)
    #expect((CFErrorCopyDescription(made) as String).contains("protection"))
    #expect((CFErrorCopyUserInfo(made) as? [String: Any])?[NSLocalizedDescriptionKey] is String)
    #expect((made as any Error as NSError).code == -50)
    #expect(CFErrorCopyFailureReason(made) == nil)
  }

  @Test("equal Core Foundation objects have the same hash and a description")
  func hashes() throws {
    let key = try newKey()
    let again = try #require(SecKeyCopyPublicKey(key))
    let bytes = try #require(SecKeyCopyExternalRepresentation(again, nil))
    let attributes = [kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeyClass: kSecAttrKeyClassPublic] as CFDictionary
    let read = try #require(SecKeyCreateWithData(bytes, attributes, nil))
    #expect(CFEqual(read, again) && CFHash(read) == CFHash(again))
    #expect(CFHash("a" as CFString) == CFHash(NSString(string: "a")))
    #expect(CFHash(nil) == 0)
    #expect((CFCopyDescription(read) as String).contains("EC public"))
    #expect(CFCopyDescription(nil) == nil)
  }

  @Test("Core Foundation objects of different types have different type identifiers")
  func types() throws {
    let objects: [(CFTypeRef, CFTypeID)] = [
      ("x" as NSString, CFStringGetTypeID()), (NSData(), CFDataGetTypeID()), (NSDictionary(), CFDictionaryGetTypeID()),
      (NSArray(), CFArrayGetTypeID()), (NSNumber(value: true), CFBooleanGetTypeID()),
      (NSNumber(value: 1), CFNumberGetTypeID()), (NSDate(), CFDateGetTypeID()),
      (NSError(domain: "d", code: 1), CFErrorGetTypeID()), (NSSet(), CFSetGetTypeID()), (NSNull(), CFNullGetTypeID()),
      (NSURL(fileURLWithPath: "/"), CFURLGetTypeID()),
    ]
    for (object, type) in objects { #expect(CFGetTypeID(object) == type, "\(object)") }
    #expect(Set(objects.map(\.1)).count == objects.count)
    #expect(CFEqual("x" as NSString, "x" as NSString))
    #expect(!CFEqual("x" as NSString, nil))
    #expect(CFEqual(nil, nil))
  }

  @Test("the bytes of a CFData can be read and copied")
  func bytes() throws {
    let data = try #require(
      [UInt8](arrayLiteral: 1, 2, 3).withUnsafeBufferPointer {
        CFDataCreate(nil, $0.baseAddress, $0.count)
      })
    #expect(CFDataGetLength(data) == 3)
    #expect(CFDataGetBytePtr(data)?[2] == 3)
    #expect(data as Data == Data([1, 2, 3]))
  }

  @Test("SecRandomCopyBytes fills buffers of any size with random bytes")
  func random() {
    var one = [UInt8](repeating: 0, count: 32)
    var other = Data(count: 32)
    #expect(SecRandomCopyBytes(kSecRandomDefault, one.count, &one) == errSecSuccess)
    #expect(
      other.withUnsafeMutableBytes { SecRandomCopyBytes(kSecRandomDefault, 32, $0.baseAddress!) } == errSecSuccess)
    #expect(one != [UInt8](repeating: 0, count: 32))
    #expect(Data(one) != other)
    #expect(SecRandomCopyBytes(kSecRandomDefault, 0, &one) == errSecSuccess)
    #expect(SecRandomCopyBytes(kSecRandomDefault, -1, &one) != errSecSuccess)
    // More than the limit of locked memory.
    var many = Data(count: 16 << 20)
    #expect(many.withUnsafeMutableBytes { SecRandomCopyBytes(nil, $0.count, $0.baseAddress!) } == errSecSuccess)
    #expect(many.suffix(32) != Data(count: 32))
  }
}
