// Tries attacks of a hostile reader process, for tests: whorl-intruder MODE READER TEMPLATES ATTEMPT=ARGUMENT ... With
// the single argument `namespace`, prints the user namespace that the product's check finds.
//
// MODE is `confined`, `free`, or `late` for a confinement that begins after a second thread has started. Prints a line
// with the result of each attempt.
//
// Started as a vault process starts its reader program, with `--reader virtual-image:FOLDER/sensor`, it attacks the
// stores in FOLDER (`AttackOnStores`).

internal import Glibc
internal import Primitives
internal import Processes

let words = CommandLine.arguments.dropFirst()
if words.elementsEqual(["namespace"]) {
  print(UserNamespace.isInitial ? "initial" : "another")
  exit(0)
}
let virtual = "virtual-image:"
if let reader = words.first(where: { $0.hasPrefix(virtual) && $0.hasSuffix("/sensor") }), words.first == "--reader" {
  AttackOnStores.make(in: String(reader.dropFirst(virtual.count).dropLast("/sensor".count)))
  exit(0)
}
guard words.count >= 3, let selection = ReaderSelection(words[2]) else { exit(64) }
let mode = words[1]
let confinement = ReaderConfinement(
  for: selection, fprintd: FprintdPlace(bus: FprintdPlace.system.bus, templates: words[3]))

if mode == "late" {
  var thread = pthread_t()
  pthread_create(&thread, nil, waitForEver, nil)
}
if mode != "free" {
  do throws(ConfinementError) {
    try confinement.enter()
  } catch {
    print("not confined: \(error.words)")
    exit(1)
  }
}
for word in words.dropFirst(3) {
  let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
  guard let attempt = Attempt(rawValue: parts[0]) else { exit(64) }
  errno = 0
  let result = attempt.make(parts.count == 2 ? parts[1] : "")
  print("\(word): \(result < 0 ? String(cString: strerror(errno)) : "done")")
}

private func waitForEver(_: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  while true { pause() }
}
