/// Called with the progress of an export or an import: the amount done, and the total.
package typealias MoveProgress = @Sendable (_ done: Int, _ all: Int) -> Void
