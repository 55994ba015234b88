import CSystemd
import Primitives
import SecretModel

/// A log entry in the format of the system's journal: fields with the prefix `WHORL_`, and a `MESSAGE_ID` for each kind
/// of request (systemd.journal-fields(7)).
struct JournalEntry: Sendable, Hashable {
  /// `NAME=value`, in the order in which they are sent.
  let fields: [String]

  init(_ entry: AuditEntry, of user: UInt32) {
    let program = (entry.program ?? "a program") + (entry.behalf.map { " for \($0)" } ?? "")
    var fields = [
      "MESSAGE=\(entry.request.rawValue) by \(program) of user \(user): \(entry.outcome.rawValue)",
      "MESSAGE_ID=\(entry.request.messageID)",
      // LOG_INFO for what was done, LOG_NOTICE for what was not
      "PRIORITY=\(entry.outcome == .done ? 6 : 5)",
      "WHORL_REQUEST=\(entry.request.rawValue)", "WHORL_UID=\(user)", "WHORL_OUTCOME=\(entry.outcome.rawValue)",
    ]
    if let program = entry.program { fields.append("WHORL_PROGRAM=\(program)") }
    if let process = entry.process { fields.append("WHORL_PID=\(process)") }
    if let behalf = entry.behalf { fields.append("WHORL_BEHALF=\(behalf)") }
    fields += entry.items.map { "WHORL_ITEM=\(Hexadecimal.text(of: $0.bytes))" }
    fields += entry.prompts.map { "WHORL_PROMPT=\($0.rawValue)" }
    if entry.wrongPasscodes > 0 { fields.append("WHORL_WRONG_PASSCODES=\(entry.wrongPasscodes)") }
    if entry.unmatchedTouches > 0 { fields.append("WHORL_UNMATCHED_TOUCHES=\(entry.unmatchedTouches)") }
    if entry.isSetChanged { fields.append("WHORL_SET_CHANGED=1") }
    if entry.omitted > 0 { fields.append("WHORL_OMITTED=\(entry.omitted)") }
    self.fields = fields
  }

  /// Sends it to the journal, if there is one. Blocks while the journal is busy.
  func send() {
    var bytes = fields.map { Array($0.utf8) }
    withAreas(&bytes[...], []) { areas in
      // Borrows the fields for the call. The result is ignored: without a journal there is nowhere to report the
      // failure.
      _ = sd_journal_sendv(areas, Int32(areas.count))
    }
  }

  /// Calls `body` with pointers to all fields. Each field stays in place for the call.
  private func withAreas(_ rest: inout ArraySlice<[UInt8]>, _ areas: [iovec], _ body: ([iovec]) -> Void) {
    guard var first = rest.popFirst() else { return body(areas) }
    first.withUnsafeMutableBytes { bytes in
      withAreas(&rest, areas + [iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)], body)
    }
  }
}

extension AuditEntry.Request {
  /// The journal's message ID of this kind of request. It must never change.
  fileprivate var messageID: String {
    switch self {
    case .makeStore: "acdf0f01ab5f42b690413a91dd0bf5bf"
    case .rebuildDeviceKey: "e2dde1b58ae346d2a71a047c3fc9d10a"
    case .read: "6a723863dd514c8ca9d09f96f51bf63d"
    case .add: "da32130aaf6449709d74f8c876b85d9f"
    case .change: "9ea0a71d78e34667aaa2da86e546a8e7"
    case .delete: "d0e597778ad340948ddc6023890bcd6c"
    case .useKey: "59f7db7496d74688a6b28b07e20e718b"
    case .makePasskey: "2eabe1c650b64607bd1576e0fd97468c"
    case .assertPasskey: "9573cf79d5aa41f3a196cdda47180f44"
    case .evaluate: "4728c167f9ca41a68f9e93d0fd5010d8"
    case .enroll: "63a4eac8fe334319bc233383bf7b831a"
    case .unenroll: "a8e9a22cbd93497dbb183caae192b229"
    case .unlock: "37a6e60681714bc7bfaa11b034d24632"
    case .lock: "0afd4f4457a34d558205cb7268588a27"
    case .changePasscode: "917b381e788f4da6a3b06391fd21199c"
    case .removePasscode: "ef285803b2cb43b8a61b9248f25664a6"
    case .recover: "fb66439f06e94000bdb5479642a55944"
    case .newRecoveryKey: "0021fbd78f54426db6fce2f3c33709f0"
    case .reseal: "c53866aa61ab9432999183b45a65f0d7"
    case .setFirstUnlock: "6f8f2c255f4b4a8f8fd127984fda58dc"
    case .acceptRestore: "0c85dc529ab343c49c6f3f16d0cea256"
    case .sealCopy: "a91ceb3ad3d446528204b8952af1f84b"
    case .backUp: "830dbf0e1582457489dbd903c0832290"
    case .restore: "1697fdc3c9a1484e9b9da7b3f52914a4"
    case .useAdapter: "5b14c930bc254d3892a5b70b291558b9"
    case .joinCircle: "fd00b485d4c3445b984b0aca5729a69b"
    case .changeCircle: "a4cf5006131746749b67a0dca648fe31"
    case .resolve: "01fbfc60085c406581531ad213223813"
    case .verifyLogin: "ecbab7df87fb45b7adfb13112ea0ba31"
    case .unlockScreen: "c4718af01a6a9ddf52187e848fe85d54"
    case .loginPassword: "2607578154214131afc761f185582f3e"
    }
  }
}
