#!/usr/bin/python3
"""A program that attacks the service. Prints the result; the status is 1 if it got more than it may.

usage: hostile-client.py WHAT [ARGUMENT...]

  answers ITEM             while a touch is waited for, says in many ways that it was given
  hold ITEM FILE           reads the item with a touch, in a context that keeps what was shown, writes the handle of the
                           context to FILE, reads once more, and stays until FILE is removed
  replay FILE COUNT ITEM…  uses that handle on connections of its own, COUNT times in all
  crowd ITEM COUNT TOUCHES has COUNT requests wait at once, until TOUCHES of them were answered
  sessions COUNT CLIENTS ITEM SECRET
                           COUNT sessions, CLIENTS at once, each of which reads the item
  connections ITEM SECRET  as many connections as one process may have, one more, and again one in the place of another
  little                   deletes and changes items without saying which
  everything FILE          calls every method with the handle in FILE and little else, before Hello and after it
  stranger                 calls what only a login program may call
"""
import importlib.machinery
import importlib.util
import os
import select
import sys
import time
import xml.etree.ElementTree

from jeepney import DBusAddress, HeaderFields, MessageType, new_method_call, new_signal

# The example for programs in Python, which has the vault's interface.
loader = importlib.machinery.SourceFileLoader("example", os.path.join(os.path.dirname(__file__), "get-secret.py"))
example = importlib.util.module_from_spec(importlib.util.spec_from_loader("example", loader))
loader.exec_module(example)
Vault, Refused = example.Vault, example.Refused

INTERFACES = "/usr/share/dbus-1/interfaces/"
# Calls that a connection may make without a prompt: they read its user's store or add to it. None releases a secret.
HARMLESS = (
    "Add AddAll AddKey Biometry Cancel CloseContext DetectedRestore DraftRecoveryKey Items Log Losses MakeKeyPair "
    "OpenClasses OpenContext PasskeyReadiness Problems Readers Respond SetApplicationPassword Status Surroundings "
    "PresentSets SyncStatus"
).split()


def opened():
    vault = Vault(example.connect(None))
    vault.call("Hello", "uas", 0, [])
    vault.call("Open", "a{sv}", {})
    return vault


def options(keeps=False):
    return {
        "interaction-not-allowed": ("b", False),
        "prefer-passcode": ("b", False),
        "passcode-supplied": ("b", False),
        "fallback": ("s", "never"),
        "keeps-evidence": ("b", keeps),
        "reuse": ("x", 0),
        "timeout": ("x", 60 * 10**9),
    }


def searched(**conditions):
    """A search that names nothing but these conditions."""
    search = {
        "every-group": ("b", False),
        "attributes": ("a(ay(sv))", []),
        "synchronizable": ("s", "no"),
        "ignores-case": ("b", False),
        "states": ("as", ["living", "dead", "damaged"]),
        "interaction": ("s", "allow"),
    }
    return {**search, **{name.replace("_", "-"): value for name, value in conditions.items()}}


def named(*items):
    pairs = [tuple(part.encode() for part in item.partition("/")[::2]) for item in items]
    return {"names": ("a(ayay)", pairs)}


def asking(context=None):
    return {"context": ("ay", context)} if context else {}


def secret_of(results):
    items, files = results
    descriptor = files[0].to_raw_fd()
    try:
        return b"".join(os.pread(descriptor, count, offset) for _, offset, count in items)
    finally:
        os.close(descriptor)


def read(vault, item, context=None, on_event=None):
    return secret_of(vault.call("Secrets", "a{sv}a{sv}", named(item), asking(context), on_event=on_event))


def refused(call):
    """The error that a call ends with; ends the program where it succeeds."""
    try:
        results = call()
    except Refused as error:
        return str(error).partition(":")[0]
    sys.exit(f"it was allowed, and gave {results!r}")


def counted(words):
    counts = {word: words.count(word) for word in sorted(set(words))}
    return ", ".join(f"{count} {word}" for word, count in counts.items())


def show_touch(vault):
    def handle(context, number, kind, details):
        example.answer(vault, context, number, kind, details)

    return handle


def answers(item):
    vault = opened()
    (context,) = vault.call("OpenContext", "a{sv}", options())
    serial = vault.send("Secrets", "a{sv}a{sv}", named(item), asking(context))
    wanted = False
    while not wanted:
        message = vault.receive()
        wanted = message.header.message_type is MessageType.signal and message.body[2] == "touch-wanted"
    vault.send("Respond", "aysxah", context, "ready", message.body[1], [])
    reader = DBusAddress("/org/whorl/Reader", bus_name="org.whorl.Reader1", interface="org.whorl.Reader1")
    for number in range(2_000):
        for word in "ready", "match", "matched", "verified", "touch":
            vault.send("Respond", "aysxah", context, word, number, [])
        descriptor = example.sealed(b"match")
        vault.send("Respond", "aysxah", context, "secret", number, [descriptor])
        os.close(descriptor)
        match = (bytes(32), "match", bytes([number % 256]) * 16, "", time.monotonic_ns())
        vault.serial += 1
        for message in (
            new_signal(reader, "Scan", "ts", (number, "finger-present")),
            new_method_call(reader, "Identify", "tay", (number, bytes(32))),
        ):
            vault.serial += 1
            vault.link.sendall(message.serialise(serial=vault.serial))
        for kind in MessageType.method_return, MessageType.error:
            answer = new_method_call(reader, "Identify", "aysayst", match)
            answer.header.message_type = kind
            answer.header.fields = {HeaderFields.reply_serial: number, HeaderFields.signature: "aysayst"}
            if kind is MessageType.error:
                answer.header.fields[HeaderFields.error_name] = "org.whorl.Reader1.Error.Busy"
            vault.serial += 1
            vault.link.sendall(answer.serialise(serial=vault.serial))
        # Read the answers to these calls, so that the vault continues to read.
        while select.select([vault.link], [], [], 0)[0]:
            message = vault.receive()
            if message.header.fields.get(HeaderFields.reply_serial) == serial:
                if message.header.message_type is MessageType.method_return:
                    sys.exit("a secret was released without a touch")
                print(f"refused: {message.header.fields[HeaderFields.error_name]}")
                return
    vault.send("Cancel", "")
    vault.link.close()
    print("refused: nothing was released")


def hold(item, file):
    vault = opened()
    (context,) = vault.call("OpenContext", "a{sv}", options(keeps=True))
    first = read(vault, item, context, show_touch(vault))
    if read(vault, item, context) != first:
        sys.exit("the second time it was another secret")
    with open(file, "wb") as handle:
        handle.write(context)
    print("holding", flush=True)
    while os.path.exists(file):
        time.sleep(0.1)
    # Meanwhile the context still serves its own connection.
    if read(vault, item, context) != first:
        sys.exit("the last time it was another secret")
    print("held")


def replay(file, count, *items):
    with open(file, "rb") as handle:
        context = handle.read()
    errors = []
    for start in range(0, int(count), 500):
        vault = opened()
        for number in range(start, min(start + 500, int(count))):
            errors.append(refused(lambda: read(vault, items[number % len(items)], context)))
        vault.link.close()
    print("refused:", counted(errors))


def crowd(item, count, touches):
    """One program, many requests. Each touch may answer one of them."""
    vaults = [opened() for _ in range(int(count) // 50)]
    calls = {}
    for vault in vaults:
        for _ in range(50):
            (context,) = vault.call("OpenContext", "a{sv}", options())
            calls[vault, vault.send("Secrets", "a{sv}a{sv}", named(item), asking(context))] = bytes(context)
    waiting = {calls[key]: key for key in calls}
    prompts, most, released, errors = set(), 0, 0, []
    end = time.monotonic() + 120
    while released < int(touches) and time.monotonic() < end:
        for link in select.select([vault.link for vault in vaults], [], [], 1)[0]:
            vault = next(each for each in vaults if each.link is link)
            message = vault.receive()
            fields = message.header.fields
            if message.header.message_type is MessageType.signal:
                context, number, kind, details = message.body
                if kind == "touch-wanted" and bytes(context) in waiting:
                    prompts.add(bytes(context))
                    most = max(most, len(prompts))
                example.answer(vault, context, number, kind, details)
                continue
            context = calls.pop((vault, fields.get(HeaderFields.reply_serial)), None)
            if context is None:
                continue
            waiting.pop(context)
            prompts.discard(context)
            if message.header.message_type is MessageType.method_return:
                released += 1
            else:
                errors.append(f"{fields[HeaderFields.error_name].rpartition('.')[2]} {message.body}")
    # Another answer without another touch is an error.
    end = time.monotonic() + 2
    while time.monotonic() < end:
        for link in select.select([vault.link for vault in vaults], [], [], 0.2)[0]:
            vault = next(each for each in vaults if each.link is link)
            message = vault.receive()
            key = vault, message.header.fields.get(HeaderFields.reply_serial)
            if key in calls and message.header.message_type is MessageType.method_return:
                released += 1
    print(f"{released} released, at most {most} prompt at a time, {len(waiting)} wait, errors: {counted(errors)}")
    if released != int(touches) or most != 1:
        sys.exit(1)


def sessions(count, clients, item, secret):
    count, clients = int(count), int(clients)
    for start in range(0, count, clients):
        vaults = [opened() for _ in range(min(clients, count - start))]
        pending = []
        for vault in vaults:
            (context,) = vault.call("OpenContext", "a{sv}", options())
            pending.append((vault, vault.send("Secrets", "a{sv}a{sv}", named(item), asking(context))))
        for vault, serial in pending:
            message = vault.receive()
            while message.header.fields.get(HeaderFields.reply_serial) != serial:
                message = vault.receive()
            if message.header.message_type is not MessageType.method_return:
                sys.exit(f"refused: {message.body}")
            if secret_of(message.body) != secret.encode():
                sys.exit("another user's secret")
        for vault in vaults:
            vault.link.close()
    print(f"{count} sessions")


def connections(item, secret):
    held = [opened() for _ in range(48)]
    print("the next:", refused(opened))
    for vault in held[0], held[47]:
        if read(vault, item) != secret.encode():
            sys.exit("another secret")
    held.pop().link.close()
    for _ in range(50):
        try:
            held.append(opened())
            break
        except Refused:
            time.sleep(0.1)
    if read(held[47], item) != secret.encode():
        sys.exit("another secret")
    print("and one in the place of another")


def little():
    vault = opened()
    everything = searched(**{"class": ("s", "genp"), "every_group": ("b", True)})
    before = len(vault.call("Items", "a{sv}a{sv}", everything, {})[0])
    selections = {
        "nothing": {},
        "no names": {"names": ("a(ayay)", [])},
        "an empty name": {"names": ("a(ayay)", [(b"", b"")])},
        "no ids": {"ids": ("aay", [])},
        "an empty search": {"search": ("a{sv}", {})},
        "a search for nothing": {"search": ("a{sv}", searched())},
        "a search of every group": {"search": ("a{sv}", searched(every_group=("b", True)))},
        "a search with a limit": {"search": ("a{sv}", searched(limit=("x", 1)))},
        "a search for no ids": {"search": ("a{sv}", searched(ids=("aay", [])))},
        "an unknown word": {"all": ("b", True)},
        "two at once": {"ids": ("aay", []), "search": ("a{sv}", {"class": ("s", "genp")})},
    }
    change = {"accessible": ("s", "passcode-set")}
    for words, selection in selections.items():
        for name, call in (
            ("Delete", lambda: vault.call("Delete", "a{sv}", selection)),
            ("Update", lambda: vault.call("Update", "a{sv}a{sv}aha{sv}", selection, change, [], {})),
        ):
            try:
                (count,) = call()
                if count:
                    sys.exit(f"{name} with {words} has met {count} items")
                print(f"{name}, {words}: none")
            except Refused as error:
                print(f"{name}, {words}: {str(error).partition(':')[0]}")
    after = len(vault.call("Items", "a{sv}a{sv}", everything, {})[0])
    print(f"{after} of {before} items are there")
    if after != before or not before:
        sys.exit(1)


def methods(interface):
    node = xml.etree.ElementTree.parse(f"{INTERFACES}{interface}.xml").getroot()
    for method in node.find("interface").findall("method"):
        yield method.get("name"), [
            (argument.get("name"), argument.get("type"))
            for argument in method.findall("arg")
            if argument.get("direction") == "in"
        ]


def filler(name, kind, context):
    """A value for an argument: the handle where it fits, else something that would do for the caller's own."""
    named_so = {
        "asking": asking(context),
        "options": options(),
        "selection": named("bank/alice", "note/alice"),
        "search": searched(**{"class": ("s", "genp")}),
        "proof": {"policy": ("s", "device-owner")},
        "change": {"set": ("a(ay(sv))", []), "remove": ("aay", []), "accessible": ("s", "passcode-set")},
        "place": {},
        "item": {
            "class": ("s", "genp"),
            "attributes": ("a(ay(sv))", [(b"svce", ("text", ("ay", b"planted")))]),
            "access": ("t", 1),
            "accessible": ("s", "when-unlocked"),
        },
    }
    if kind == "a{sv}" and name in named_so:
        return named_so[name]
    known = {"t": 1, "u": 0, "x": 0, "b": True, "s": "fingers", "ay": context, "as": [], "a{sv}": {}}
    if kind in known:
        return known[kind]
    if kind == "(ayay)":
        return (b"planted", b"")
    return [] if kind.startswith("a") else example.sealed(b"open sesame, please")


def everything(file):
    with open(file, "rb") as handle:
        context = handle.read()
    for is_early in True, False:
        results, wrong = [], []
        for name, arguments in methods("org.whorl.Vault1"):
            if name in ("Hello", "LendReader") or (name == "Open" and not is_early):
                continue
            vault = Vault(example.connect(None)) if is_early else opened()
            vault.link.settimeout(5)
            try:
                kinds = "".join(kind for _, kind in arguments[1:])
                body = vault.call(name, kinds, *(filler(*argument, context) for argument in arguments[1:]))
                results.append("answered")
                if is_early or name not in HARMLESS:
                    wrong.append(f"{name} was answered: {body}")
            except Refused as error:
                results.append(str(error).partition(":")[0].strip())
                if "-v" in sys.argv:
                    print(f"  {name}: {error}")
            except TimeoutError:
                results.append("silence")
            except ConnectionError:
                results.append("closed")
            vault.link.close()
        print("before Hello:" if is_early else "after Hello:", counted(results))
        if wrong:
            sys.exit("\n".join(wrong))


def stranger():
    login = DBusAddress("/org/whorl/Login", bus_name="org.whorl.Login1", interface="org.whorl.Login1")
    errors = []
    for name, arguments in methods("org.whorl.Login1"):
        kinds = [kind for _, kind in arguments]
        vault = Vault(example.connect(None))
        values = {"u": os.getuid(), "s": "1", "b": True, "ah": []}
        message = new_method_call(login, name, "".join(kinds), tuple(values[kind] for kind in kinds))
        vault.link.sendall(message.serialise(serial=1))
        answer = vault.receive()
        if answer.header.message_type is not MessageType.error:
            sys.exit(f"{name} was answered: {answer.body}")
        errors.append(answer.header.fields[HeaderFields.error_name].rpartition(".")[2])
        vault.link.close()
    print("refused:", counted(errors))


if __name__ == "__main__":
    commands = (answers, hold, replay, crowd, sessions, connections, little, everything, stranger)
    known = {command.__name__: command for command in commands}
    if sys.argv[1:2] == [] or sys.argv[1] not in known:
        sys.exit(__doc__)
    try:
        known[sys.argv[1]](*sys.argv[2:])
    except (Refused, OSError) as problem:
        sys.exit(f"hostile-client: {problem}")
