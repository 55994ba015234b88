# Another reader of the same kind with another serial number; and two at once.
. "${here:?}/common.sh"
begins enrolled
reader other match-on-chip --serial c0ffee000002

# The other reader, in place of the first one, has no fingers, so none of alice's items opens.
unplug own
plug other
seen c0ffee000002
expect 69 "does not hold the print" at_seat alice 'whorl get bank/alice --timeout 20'
expect 0 "0" tell other prints
expect 0 "right-index" at_seat alice 'whorl fingers'
# The first one again.
unplug other
plug own
expect 0 "gold" touching right at_seat alice 'whorl get bank/alice --timeout 60'
# Both.
plug other
seen c0ffee000002
expect 0 "c0ffee000002" at_seat alice 'whorl reader list'
expect 0 "gold" touching right at_seat alice 'whorl get bank/alice --timeout 60'
unplug other
expect 0 "gold" touching right at_seat alice 'whorl get bank/alice --timeout 60'
