/// The steps of `whorl setup`, in order.
package enum SetupStep: String, CaseIterable, Sendable {
  case service, store, passcode, reader, fingers
  case login, keyring, kwallet, sudo, polkit, screen
  case secrets, passkeys, ssh, git, gpg, sync
}
