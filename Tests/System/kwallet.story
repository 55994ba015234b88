# KWallet of KDE 5, on Debian 12.
. /usr/share/whorl-tests/common.sh
. /usr/share/whorl-tests/desktop.sh
daemon=kwalletd5
. /usr/share/whorl-tests/kwallet.sh
exit 0
