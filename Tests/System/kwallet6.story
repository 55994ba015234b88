# KWallet of KDE 6, on Debian 13.
. /usr/share/whorl-tests/common.sh
. /usr/share/whorl-tests/desktop.sh
daemon=kwalletd6
. /usr/share/whorl-tests/kwallet.sh
exit 0
