# shellcheck shell=sh
# The machine's TPM for stories, replaced by swtpm at $tpm. Its state is in /var/lib/software-tpm.
tpm=/run/software-tpm/socket

cat >/etc/systemd/system/software-tpm.service <<END
[Service]
RuntimeDirectory=software-tpm
StateDirectory=software-tpm
ExecStart=/usr/bin/swtpm socket --tpm2 --tpmstate dir=/var/lib/software-tpm --flags not-need-init,startup-clear \\
  --server type=unixio,path=$tpm,mode=0666 \\
  --ctrl type=unixio,path=$tpm.ctrl,mode=0666
END
systemctl daemon-reload

# end_service: ends the service, which the next call starts again. systemd refuses a service that starts five times in
# ten seconds.
end_service() {
  systemctl stop whorld.service 2>/dev/null || :
  systemctl reset-failed whorld.service whorld.socket 2>/dev/null || :
  systemctl start whorld.socket
}

# power_off: ends the service and the machine's TPM in order. A TPM that just loses power counts a wrong passcode.
power_off() {
  end_service
  [ ! -S "$tpm" ] || python3 - "$tpm" <<'END'
import socket, sys
tpm = socket.socket(socket.AF_UNIX)
tpm.connect(sys.argv[1])
# TPM2_Shutdown(TPM_SU_CLEAR), as the kernel sends it
tpm.sendall(bytes.fromhex("8001 0000000c 00000145 0000"))
assert tpm.recv(10).hex() == "80010000000a00000000"
END
  systemctl stop software-tpm.service
}

# power_on: starts the machine's TPM, and the service with no state in memory.
power_on() {
  power_off
  systemctl start software-tpm.service
  wait_for "swtpm did not start" test -S "$tpm.ctrl"
}
