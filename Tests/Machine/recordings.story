# Recordings of real readers (recordings/README.md), each replayed as a USB device: libfprint's unit drives it, and requests
# every packet.
. "${here:?}/common.sh"
folder=${WHORL_RECORDINGS:-$here/../../../shared/recordings}
[ -d "$folder" ] || { echo "  skipped: no recordings in $folder" && exit 0; }
begins installed

rules="polkit.addRule(function (action, subject) { if (action.id == \"org.whorl.manage\") return polkit.Result.YES; });
$rules"
person alice
# fprintd would open the reader first, and a recording can be played only once.
inside systemctl mask --runtime --now fprintd.service

# plays NAME OPTIONS: runs the recorded steps.
plays() {
  reader "$1" recording "$folder/$1"
  plug "$1"
  sleep 2
  expect 0 "ok" inside timeout 120 systemd-run --quiet --pipe --wait --collect -p PAMName=login -p User=root \
    -p "Environment=XDG_SESSION_CLASS=user XDG_SESSION_TYPE=tty XDG_SEAT=seat0 XDG_VTNR=1" \
    sh -c "whorl-reader-kit test --reader libfprint --format tap --steps $2"
  echo "$output" | grep -E '^(not )?ok' | sed 's/^/    /'
  expect 0 "0 of" tell "$1" left
  echo "  $1: $output"
  unplug "$1"
  inside systemctl stop whorl-reader-libfprint.service
}
for name in $(cd "$folder" && find . -name '*.pcapng' | cut -d / -f 2 | sort); do
  case $name in
    synaptics) plays synaptics "clear,enroll,verify,delete --suspend-during verify" ;;
    elanmoc) plays elanmoc "enroll,list,verify,identify,delete" ;;
    *) plays "$name" capture ;;
  esac
done
