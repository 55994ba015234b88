# age with a key of the installed service: files are encrypted by anybody, each is decrypted after a touch for a prompt that
# names the key and age, and another finger, an empty seat, a locked store and a removed key decrypt nothing.
. /usr/share/whorl-tests/common.sh

sensor=/run/service-reader/socket
right=right-index:1
user alice

mkdir -p /etc/whorl/whorld.conf.d /etc/systemd/system/whorld.service.d
printf 'reader = virtual-image:%s\n' "$sensor" >/etc/whorl/whorld.conf.d/virtual.conf
printf '[Service]\nRuntimeDirectory=service-reader\nRuntimeDirectoryPreserve=yes\n' \
  >/etc/systemd/system/whorld.service.d/virtual.conf
expect 0 "/etc/whorl/system" env SYSTEM=1 PREFIX=/usr BIN=/usr/src/whorl/bin /usr/src/whorl/scripts/install
own_password_is_typed
at_seat alice 'umask 077; echo "open sesame, please" >passcode'
expect 0 "" at_seat alice 'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
expect 0 "is enrolled" touching "$right $right $right $right $right $right $right $right" \
  at_seat alice 'whorl enroll right-index --passcode-fd 3 3<passcode'

# An identity that holds no secret, and a file that needs neither Whorl nor the identity.
expect 0 "Public key: age1" at_seat alice 'whorl age add work --access any-finger >identity.txt'
expect 0 "" at_seat alice 'echo "the contents" >plain; whorl age public work >recipient
  PATH=/nonexistent /usr/bin/age -R recipient -o file.age plain'

# decrypt: age passes on what its plugin writes to standard error for AGEDEBUG. The display cannot be reached: it stands
# for a place where prompts are seen.
decrypt='AGEDEBUG=plugin DISPLAY=:9 age -d -i identity.txt file.age'
expect 0 "use “work”, for: decrypt a file with the age key work" touching "$right" at_seat alice "$decrypt"
case $output in *"the contents"*) ;; *) fail "not decrypted: $output" ;; esac
case $output in *"age wants to"*) ;; *) fail "the prompt does not name age: $output" ;; esac

# Another finger, then nobody to show a prompt to, and a login over the network: nothing is decrypted.
expect 1 "whorl plugin: " touching "left-index:9 left-index:9 left-index:9" at_seat alice "$decrypt"
case $output in *"the contents"*) fail "decrypted by another finger" ;; esac
expect 1 "whorl plugin: " at_seat alice 'age -d -i identity.txt file.age'
case $output in *"the contents"*) fail "decrypted without a prompt" ;; esac
expect 1 "whorl plugin: " elsewhere alice "$decrypt"
case $output in *Touch* | *Swipe* | *"the contents"*) fail "asked or decrypted where nobody is: $output" ;; esac

# The lockout of fingers: the passcode ends it, and does not take the place of the finger for this key.
expect 1 "whorl plugin: " touching "left-index:9 left-index:9" at_seat alice "$decrypt"
expect 1 "whorl plugin: " at_seat alice "$decrypt"
expect 0 "" at_seat alice 'whorl unlock --passcode-fd 3 3<passcode'
expect 0 "the contents" touching "$right" at_seat alice "$decrypt"

# A closed store, with nobody to type its passcode.
expect 0 "" at_seat alice 'whorl lock'
expect 1 "whorl plugin: " at_seat alice 'AGEDEBUG=plugin age -d -i identity.txt file.age'
expect 0 "" at_seat alice 'whorl unlock --passcode-fd 3 3<passcode'
expect 0 "the contents" touching "$right" at_seat alice "$decrypt"

# To an identity, as passage encrypts: no touch.
expect 0 "" at_seat alice 'age -e -i identity.txt -o second.age plain'
expect 0 "the contents" touching "$right" at_seat alice "${decrypt%file.age}second.age"

# A hostile program of the user says to be age: it is named, and gets nothing without a touch.
cat >/home/alice/hostile.sh <<'END'
share=$(sed -n 's/^-> X25519 //p' file.age)
body=$(sed -n '/^-> X25519 /{n;p;}' file.age)
printf -- '-> add-identity %s\n\n-> recipient-stanza 0 X25519 %s\n%s\n-> done\n\n-> ok\n\n-> ok\n\n' \
  "$(grep ^AGE identity.txt)" "$share" "$body" | DISPLAY=:9 age-plugin-whorl --age-plugin=identity-v1
END
expect 0 "error identity 0" touching "left-index:9 left-index:9 left-index:9" at_seat alice 'bash hostile.sh'
case $output in *file-key*) fail "a file key without a touch" ;; esac
case $output in *"age wants to"*) fail "the prompt takes the program for age: $output" ;; esac
expect 0 "" at_seat alice 'whorl unlock --passcode-fd 3 3<passcode'

# Removed: the file is closed, and age says so.
expect 0 "" at_seat alice 'whorl age rm work --yes'
expect 1 "no identity matched" at_seat alice "$decrypt"
exit 0
