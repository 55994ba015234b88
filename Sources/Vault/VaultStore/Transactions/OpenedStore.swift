package import Keys

/// An open store without its rows: its folder, its root keys and its owner. Inside a transaction only this is in reach,
/// so that no transaction can begin another one.
package class OpenedStore {
  package let directory: StoreDirectory
  package let keys: RootKeys
  /// The owner of the items and fingers.
  package let owner: UInt32
  package let clock: BootClock
  /// The lowest permitted cost of scrypt; lower in tests alone.
  package let floor: Scrypt.Floor
  /// Which classes of items are open.
  package let classKeys: ClassKeys
  /// What the keys of the device slot and the passcode's slot are sealed in.
  package internal(set) var seal: DeviceSeal

  init(
    directory: StoreDirectory, keys: consuming RootKeys, owner: UInt32, clock: BootClock, floor: Scrypt.Floor,
    classKeys: ClassKeys, seal: DeviceSeal
  ) {
    self.directory = directory
    self.keys = keys
    self.owner = owner
    self.clock = clock
    self.floor = floor
    self.classKeys = classKeys
    self.seal = seal
  }
}
