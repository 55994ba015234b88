import Glibc

extension timespec {
  /// Its whole seconds. Read as the first member, since release builds do not find the name `tv_sec`.
  var wholeSeconds: Int64 { withUnsafeBytes(of: self) { Int64($0.load(as: time_t.self)) } }
}
