# A reader that sends images of fingers, which libfprint matches. The fingers are synthetic.
. "${here:?}/common.sh"
begins alice

for impression in 0 1 2 3 4 5 6 7 8; do
  inside sh -c "whorl-finger image right-index --impression $impression --output /tmp/finger.png && base64 /tmp/finger.png" |
    base64 -d >"$state/right-$impression.png"
done
inside sh -c "whorl-finger image left-index --output /tmp/finger.png && base64 /tmp/finger.png" | base64 -d >"$state/left.png"
reader own picture --serial c0ffee000004
plug own
seen c0ffee000004
expect 0 "uru4000" at_seat alice 'whorl reader list'
touches=
for impression in 0 1 2 3 4 5 6; do touches="$touches $state/right-$impression.png"; done
expect 0 "enroll-completed" touching "$touches" at_seat alice 'fprintd-enroll -f right-index-finger'
expect 0 "right-index" at_seat alice 'whorl fingers'
expect 0 "" at_seat alice 'printf gold | whorl set bank/alice --access current-set'
expect 0 "gold" touching "$state/right-7.png" at_seat alice 'whorl get bank/alice --timeout 60'
expect 0 "gold" touching "$state/left.png $state/right-8.png" at_seat alice 'whorl get bank/alice --timeout 60'
expect 77 "" touching "$state/left.png $state/left.png $state/left.png" at_seat alice 'whorl get bank/alice --timeout 60'
# Pulled out while it is armed.
beside at_seat alice 'whorl get bank/alice --timeout 60'
tell own wanted 60 >/dev/null
unplug own
ended 69 "unplugged"
plug own
expect 0 "gold" touching "$state/right-8.png" at_seat alice 'whorl get bank/alice --timeout 60'
