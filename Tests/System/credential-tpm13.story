# The same with systemd 257 of Debian 13.
. /usr/share/whorl-tests/credential-tpm.story
