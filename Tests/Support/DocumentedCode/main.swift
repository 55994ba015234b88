// Checks LocalAuthentication and Security against what Apple's documentation says.
// Run by a person with an enrolled finger, who touches the sensor whenever asked.
// In macOS, sign the tool with a keychain access group: the data protection keychain needs one
// (https://developer.apple.com/documentation/technotes/tn3137-on-mac-keychains).

import Foundation

await checkContext()
await checkContextFailures()
await checkRights()
await checkRightStore()
await checkEnvironment()
checkAccessControl()
checkKeychainItems()
checkSynchronizableItems()
await checkProtectedItems()
await checkSecureEnclaveKey()
checkResultCodes()
exit(Report.shared.finish())
