#!/usr/bin/env python3
"""The virtual machine of the stories.

usage: vm.py serve STATE GUEST DELIVERY     serves orders on STATE/orders until it is ended; the guest's disk is
                                            STATE/disk.qcow2, and DELIVERY is a file that it sees as /dev/vdb
       vm.py STATE ORDER [WORD...]          gives an order, prints the answer and ends with its status

Orders:
  boot [no-tpm]           powers on and waits until the system runs; says how long that took
  wait                    waits until the guest that is booting runs
  resume SNAPSHOT         powers on in a snapshot, without booting
  save SNAPSHOT, load SNAPSHOT
  run [-i TEXT] COMMAND   in the guest, as root; its output and status are the answer
  off                     ends the machine at once; what the disks have not been told to keep is lost with the memory
  end                     shuts the system down in order
  reboot                  in order; waits until the system runs again, and says how long that took
  reset                   presses the reset button
  power-key               presses the power key, which also wakes a machine from s2idle
  wake                    wakes a machine from S3
  plug NAME [powered]     plugs in the reader whose usb-redir socket is STATE/NAME.usb; `powered` is a port for readers of
                          high speed, which keeps its power in s2idle
  unplug NAME             pulls it out
  disk NAME SOCKET        attaches the NBD export at SOCKET as a disk with the serial NAME
  take NAME               takes that disk away
  clear-tpm               forgets the state of the TPM, while the machine is off
  qmp COMMAND [JSON]      a command of QEMU's machine protocol
"""
import asyncio
import json
import os
import shutil
import signal
import socket
import sys
import time


class Failure(Exception):
    """Why an order failed, for the program that sent it."""


class Machine:
    KERNEL = ("root=/dev/vda rw console=ttyS0 quiet mitigations=off nokaslr no_timer_check random.trust_cpu=on "
              "systemd.show_status=0")

    def __init__(self, state, guest, delivery):
        self.state, self.guest, self.delivery = state, guest, delivery
        with open(f"{guest}/accelerator") as file:
            self.accelerator = file.read().strip()
        self.qemu = self.tpm = None
        self.commands, self.number = {}, 0
        self.hello = asyncio.Event()
        self.asking = asyncio.Lock()

    # Power

    async def power_on(self, *more, with_tpm=True):
        if self.qemu:
            raise Failure("the machine is on")
        at = lambda name: f"{self.state}/{name}"
        for name in ("qmp", "agent", "tpm"):
            if os.path.exists(at(name)):
                os.unlink(at(name))
        tpm = []
        if with_tpm:
            os.makedirs(at("tpm-state"), exist_ok=True)
            self.tpm = await asyncio.create_subprocess_exec(
                "swtpm", "socket", "--tpm2", "--tpmstate", f"dir={at('tpm-state')}", "--terminate",
                "--ctrl", f"type=unixio,path={at('tpm')}", "--log", f"file={at('tpm.log')}")
            tpm = ["-chardev", f"socket,id=tpm,path={at('tpm')}", "-tpmdev", "emulator,id=tpm0,chardev=tpm",
                   "-device", "tpm-tis,tpmdev=tpm0"]
            await self.appears(at("tpm"))
        accelerator = "kvm" if self.accelerator == "kvm" else "tcg,thread=multi,tb-size=512"
        self.hello.clear()
        self.qemu = await asyncio.create_subprocess_exec(
            "nice", "-n", "10", "qemu-system-x86_64", "-accel", accelerator, "-cpu", "max", "-machine", "q35,vmport=off",
            "-smp", "2", "-m", "3072", "-nodefaults", "-no-user-config", "-display", "none",
            "-kernel", f"{self.guest}/vmlinuz", "-initrd", f"{self.guest}/initrd", "-append", self.KERNEL,
            "-drive", f"file={at('disk.qcow2')},if=virtio,format=qcow2,cache=unsafe",
            "-drive", f"file={self.delivery},if=virtio,format=raw,readonly=on,file.locking=off",
            "-device", "virtio-rng-pci", "-device", "virtio-scsi-pci,id=scsi", "-device", "qemu-xhci,id=usb",
            "-device", "usb-ehci,id=powered",
            "-device", "virtio-serial-pci", "-chardev", f"socket,id=agent,path={at('agent')},server=on,wait=off",
            "-device", "virtserialport,chardev=agent,name=machine",
            "-serial", f"file:{at('console.log')}", "-qmp", f"unix:{at('qmp')},server=on,wait=off", *tpm, *more,
            stdin=asyncio.subprocess.DEVNULL, stderr=open(at("qemu.log"), "w"))
        await self.appears(at("qmp"))
        self.monitor = await asyncio.open_unix_connection(at("qmp"), limit=1 << 24)
        await self.monitor[0].readline()
        await self.qmp("qmp_capabilities")
        self.agent = await asyncio.open_unix_connection(at("agent"), limit=1 << 24)
        self.listener = asyncio.create_task(self.listen(self.agent[0]))

    async def appears(self, path):
        for _ in range(200):
            if os.path.exists(path):
                return
            if self.qemu and self.qemu.returncode is not None:
                break
            await asyncio.sleep(0.05)
        self.qemu = None
        with open(f"{self.state}/qemu.log") as log:
            raise Failure(f"no {path}: {log.read()}")

    async def listen(self, reader):
        """Handles a message of the agent in the guest."""
        while line := await reader.readline():
            try:
                words = json.loads(line)
            except ValueError:  # the rest of a line of a guest that was reset
                continue
            if "hello" in words:
                self.hello.set()
            elif words.get("id") in self.commands:
                await self.commands[words["id"]].put(words)

    async def runs(self, within):
        began = time.monotonic()
        try:
            await asyncio.wait_for(self.hello.wait(), within)
            await asyncio.wait_for(self.run(["systemctl", "is-system-running", "--wait"], lambda _: None), within)
        except asyncio.TimeoutError:
            raise Failure(f"the guest does not run after {within} seconds: see console.log")
        return time.monotonic() - began

    async def gone(self):
        """QEMU has ended."""
        await self.qemu.wait()
        self.listener.cancel()
        self.monitor[1].close()
        self.agent[1].close()
        self.interrupted()
        self.qemu = None
        if self.tpm:
            await self.tpm.wait()
            self.tpm = None

    def interrupted(self):
        """The guest that ran the commands has ended."""
        for queue in self.commands.values():
            queue.put_nowait({"status": 255})

    async def qmp(self, command, **arguments):
        reader, writer = self.monitor
        async with self.asking:
            writer.write(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
            while line := await reader.readline():
                words = json.loads(line)
                if "error" in words:
                    raise Failure(f"{command}: {words['error']['desc']}")
                if "return" in words:
                    return words["return"]
        raise Failure(f"{command}: QEMU has ended")

    async def human(self, line):
        if said := (await self.qmp("human-monitor-command", **{"command-line": line})).strip():
            raise Failure(f"{line}: {said}")

    async def run(self, command, say, text=""):
        if not self.qemu:
            raise Failure("the machine is off")
        self.number += 1
        number, queue = self.number, asyncio.Queue()
        self.commands[number] = queue
        try:
            self.agent[1].write(json.dumps({"id": number, "run": command, "input": text}).encode() + b"\n")
            while "out" in (words := await queue.get()):
                say(words["out"])
            return words["status"]
        finally:
            del self.commands[number]

    # Orders: each may print text, and may return a status.

    async def order(self, words, say):
        word, *rest = words
        if word == "boot":
            began = time.monotonic()
            await self.power_on(with_tpm=rest != ["no-tpm"])
            await self.runs(within=900)
            say(f"booted in {time.monotonic() - began:.0f} s ({self.accelerator})\n")
        elif word == "wait":
            say(f"runs after {await self.runs(within=900):.0f} s\n")
        elif word == "resume":
            await self.power_on("-loadvm", *rest)
        elif word == "save":
            await self.human(f"savevm {rest[0]}")
        elif word == "load":
            await self.human(f"loadvm {rest[0]}")
            await self.qmp("cont")
            self.interrupted()
        elif word == "run":
            text = ""
            if rest[0] == "-i":
                _, text, *rest = rest
            return await self.run(rest, say, text)
        elif word == "off":
            if self.qemu:
                self.qemu.kill()
                await self.gone()
        elif word == "end":
            asyncio.create_task(self.run(["systemctl", "poweroff"], lambda _: None))
            try:
                await asyncio.wait_for(self.gone(), 90)
            except asyncio.TimeoutError:
                raise Failure("the guest does not power off")
        elif word == "reset":
            self.hello.clear()
            await self.qmp("system_reset")
            self.interrupted()
        elif word == "reboot":
            self.hello.clear()
            await self.run(["systemctl", "--no-block", "reboot"], lambda _: None)
            began = time.monotonic()
            await self.runs(within=900)
            say(f"rebooted in {time.monotonic() - began:.0f} s\n")
            self.interrupted()
        elif word == "power-key":
            await self.qmp("system_powerdown")
        elif word == "wake":
            await self.qmp("system_wakeup")
        elif word == "plug":
            backend = {"type": "socket", "data": {
                "addr": {"type": "unix", "data": {"path": f"{self.state}/{rest[0]}.usb"}}, "server": False}}
            await self.qmp("chardev-add", id=rest[0], backend=backend)
            await self.qmp("device_add", driver="usb-redir", id=f"usb-{rest[0]}", chardev=rest[0],
                           bus=f"{rest[1] if rest[1:] else 'usb'}.0")
        elif word == "unplug":
            await self.qmp("device_del", id=f"usb-{rest[0]}")
            # Its socket goes with it.
            while rest[0] in [chardev["label"] for chardev in await self.qmp("query-chardev")]:
                await asyncio.sleep(0.02)
        elif word == "disk":
            await self.qmp("blockdev-add", driver="raw", **{"node-name": rest[0], "file": {
                "driver": "nbd", "server": {"type": "unix", "path": rest[1]}}})
            await self.qmp("device_add", driver="scsi-hd", id=f"disk-{rest[0]}", drive=rest[0], serial=rest[0])
        elif word == "take":
            await self.qmp("device_del", id=f"disk-{rest[0]}")
            for tries in range(50):  # until the device has let go of it
                try:
                    await self.qmp("blockdev-del", **{"node-name": rest[0]})
                    break
                except Failure:
                    if tries == 49:
                        raise
                    await asyncio.sleep(0.1)
        elif word == "clear-tpm":
            shutil.rmtree(f"{self.state}/tpm-state", ignore_errors=True)
        elif word == "qmp":
            say(json.dumps(await self.qmp(rest[0], **json.loads(rest[1] if rest[1:] else "{}"))) + "\n")
        else:
            raise Failure(f"no order '{word}'")
        return 0


async def serve(state, guest, delivery):
    machine = Machine(state, guest, delivery)

    async def answer(reader, writer):
        say = lambda text: writer.write(json.dumps({"out": text}).encode() + b"\n")
        try:
            status = await machine.order(json.loads(await reader.readline()), say)
        except (Failure, ConnectionError) as failure:
            say(f"machine: {failure}\n")
            status = 99
        writer.write(json.dumps({"status": status}).encode() + b"\n")
        writer.close()

    path = f"{state}/orders"
    if os.path.exists(path):
        os.unlink(path)
    await asyncio.start_unix_server(answer, path, limit=1 << 24)
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    await ended.wait()
    await machine.order(["off"], print)


def give(state, words):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(f"{state}/orders")
        connection.sendall(json.dumps(words).encode() + b"\n")
        with connection.makefile(encoding="utf-8") as answer:
            for line in answer:
                words = json.loads(line)
                if "status" in words:
                    return words["status"]
                sys.stdout.write(words["out"])
                sys.stdout.flush()
    return 98


if len(sys.argv) < 3:
    sys.exit(__doc__)
if sys.argv[1] == "serve":
    asyncio.run(serve(*sys.argv[2:]))
else:
    sys.exit(give(sys.argv[1], sys.argv[2:]))
