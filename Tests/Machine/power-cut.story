# The machine loses power while a store is changed, and with it the cache of its disk. Afterwards the store has the old
# state or the new one. CUTS times (10 by default; SEED), each after a random number of writes: the processor stops, and
# the disk keeps a random half of the sectors that were written since its last flush.
. "${here:?}/common.sh"
begins alice

# The stores are on a disk of their own, with key files: each round begins in a snapshot, which a TPM would detect.
rm -f "$state/disk.log"
"$here/disk.py" "$state/disk" "$state/disk.orders" 256 >"$state/disk.log" &
readers="$readers $!"
wait_for "the disk did not start" grep -q ready "$state/disk.log"
other() { [ "$current" = passcode ] && echo next || echo passcode; }
stores() { # the disk is there, with the stores on it
  "$here/usb-reader/reader" tell "$state/disk.orders" power >/dev/null
  machine disk stores "$state/disk"
  wait_for "the guest does not see the disk" inside test -e /dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_stores
  inside sh -c 'mount /dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_stores /var/lib/whorl && systemctl start whorld.socket'
}
inside sh -c 'systemctl stop whorld.socket whorld.service whorl-reader-libfprint.socket \
  whorl-reader-fprintd.socket && rm -rf /var/lib/whorl/* && mkdir -p /etc/whorl/whorld.conf.d && echo "tpm = no" >/etc/whorl/whorld.conf.d/tpm.conf'
at_seat alice 'umask 077; cat passcode next >passcode-next && cat next passcode >next-passcode'
machine save bare
machine disk stores "$state/disk"
wait_for "the guest does not see the disk" inside test -e /dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_stores
inside sh -c 'mkfs.ext4 -q /dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_stores &&
  mount /dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_stores /var/lib/whorl && chown whorl:whorl /var/lib/whorl &&
  chmod 700 /var/lib/whorl && systemctl start whorld.socket'
expect 0 "" at_seat alice 'rm -f recovery; whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery &&
  printf 0 | whorl set count/alice --access none && printf iron | whorl set deep/alice --access passcode'
inside sh -c 'systemctl stop whorld.socket whorld.service; sync; umount /var/lib/whorl'
machine take stores
machine load bare

# look: checks which passcode opens the store, its items, and what `doctor` says, in one session. A passcode takes seconds
# on an emulated processor, so the item that needs it also opens the store.
look() {
  at_seat alice "for word in $current $(other) neither; do
      deep=\$(whorl get deep/alice --passcode-fd 3 3<\$word 2>&1) && break; done
    echo opened \$word; echo deep \$deep
    echo count \$(whorl get count/alice 2>&1)
    whorl doctor || :"
}

seed=${SEED:-$(date +%s)}
cuts=${CUTS:-10}
echo "  seed $seed"
current=passcode # the last change that was answered has left this one; `sure` if the cut came after the answer
sure=yes
count=0
# The round after the last cut only checks.
for round in $(seq $((cuts + 1))); do
  stores
  found=$(look)
  case $found in
    "opened $current"*) ;;
    "opened $(other)"*)
      [ "$sure" = no ] || fail "round $round: an answered change is lost"
      current=$(other)
      ;;
    *) fail "round $round: neither passcode opens the store: $found" ;;
  esac
  case $found in *"deep iron"*"whole"*) ;; *) fail "round $round: the data is not whole: $found" ;; esac
  found=$(echo "$found" | sed -n 's/^count //p')
  [ "$found" -ge "$count" ] || fail "round $round: '$found', after $count was stored"
  [ "$round" -le "$cuts" ] || break

  sure=yes
  if [ $((round % 2)) = 0 ]; then
    change="whorl passcode --passcode-fd 3 3<$current-$(other)"
  else
    change="for i in \$(seq $((found + 1)) $((found + 50))); do printf \$i | whorl set count/alice --replace --access none && echo kept \$i; done"
  fi
  beside at_seat alice "$change"
  writes=$(awk -v seed="$seed$round" 'BEGIN { srand(seed); print 1 + int(rand() * 25) }')
  lost=$("$here/usb-reader/reader" tell "$state/disk.orders" cut "$writes" 60 "$seed$round")
  machine qmp stop >/dev/null
  machine take stores
  machine load bare
  finished
  if [ $((round % 2)) = 0 ]; then
    # An acknowledged change must be stored; otherwise the old or the new state.
    case $outcome in *"status 0") current=$(other) ;; *) sure=no ;; esac
  else
    kept=$(echo "$outcome" | sed -n 's/^kept //p' | tail -n 1)
    count=${kept:-$count}
  fi
  echo "  round $round: $(echo "$change" | cut -c 1-14)…, $(echo "$outcome" | tail -n 1): $writes writes, $lost"
done
