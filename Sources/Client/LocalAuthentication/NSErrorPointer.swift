public import KeychainServices

/// Where a call leaves its error: `nil`, or `&error` with `var error: NSError?`.
///
/// Foundation has it only where there is an Objective-C runtime.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?
