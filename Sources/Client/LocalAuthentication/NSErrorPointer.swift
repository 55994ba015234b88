public import KeychainServices

/// A pointer to which a call writes its error: `nil`, or `&error` with `var error: NSError?`.
///
/// Foundation defines it only on systems with an Objective-C runtime.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?
