/// Told how far an export or an import is: what is done, and of how much.
package typealias MoveProgress = @Sendable (_ done: Int, _ all: Int) -> Void
