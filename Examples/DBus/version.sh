#!/bin/sh
# Asks the system service of Whorl which version of its interface it speaks, and for which features. A shell has one call
# for each connection, and the first has to be this one: scripts use `whorl --json` for the rest.
#
# usage: version.sh [SOCKET]
set -eu
dbus-send --peer="unix:path=${1:-/run/whorl/bus}" --type=method_call --print-reply --reply-timeout=5000 \
  /org/whorl/Vault org.whorl.Vault1.Hello uint64:1 uint32:0 array:string:
