internal import SecretModel

/// The limits for the clients of a listening socket.
package struct ServingLimits: Sendable {
  /// The most connections at a time.
  package var connections = 4_096
  /// The most connections of one user at a time.
  package var connectionsOfOneUser = 64
  /// The most connections of one process, so that it leaves some to the others of its user. `whorl-agent` has one for
  /// each of its clients that it serves.
  package var connectionsOfOneProcess = 48
  /// The most connections of one user that wait for another one of the user to end: as of a script that starts `whorl get`
  /// many times at once.
  package var waitingOfOneUser = 448
  /// How long they wait. After that their calls are refused.
  package var waitingTime = Duration.seconds(10)
  /// How long a client may take for its hello, as its program may wait for a processor or its disk. One that has said
  /// hello may wait for ever, so this protects nothing but the places of programs that hang.
  package var greeting = Duration.seconds(30)
  /// The memory that the open calls of one user may take, in bytes.
  package var callBytesOfOneUser = 128 << 20
  /// The memory that the open contexts of one user may take, in bytes.
  package var contextBytesOfOneUser = 16 << 20
  /// The memory that answers to prompts and other calls that end the waiting of one user's calls may take, in bytes.
  package var endingBytesOfOneUser = 16 << 20
  /// The memory that the unread answers of one user may take, in bytes: as much as the largest answer.
  package var answerBytesOfOneUser = ReleasedItem.sizeLimit + VaultInterface.answerLimit

  package init() {}
}
