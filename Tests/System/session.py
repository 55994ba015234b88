#!/usr/bin/python3
"""Logs in as a greeter does and stays logged in: session.py SERVICE USER [NAME=VALUE...]

Types the first line of standard input wherever the PAM service asks. Prints "open" when the session is, and ends it when
standard input ends. The words NAME=VALUE are put into PAM's environment.
"""
import ctypes
import sys

PAM_SUCCESS, PAM_TTY = 0, 3
PAM_PROMPT_ECHO_OFF, PAM_PROMPT_ECHO_ON = 1, 2
PAM_ESTABLISH_CRED, PAM_DELETE_CRED = 2, 4


class Message(ctypes.Structure):
    _fields_ = [("style", ctypes.c_int), ("text", ctypes.c_char_p)]


class Response(ctypes.Structure):
    # Not c_char_p: PAM frees the text.
    _fields_ = [("text", ctypes.c_void_p), ("status", ctypes.c_int)]


Converse = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.POINTER(Message)), ctypes.POINTER(ctypes.POINTER(Response)),
    ctypes.c_void_p)


class Conversation(ctypes.Structure):
    _fields_ = [("call", Converse), ("data", ctypes.c_void_p)]


pam, libc = ctypes.CDLL("libpam.so.0"), ctypes.CDLL("libc.so.6")
libc.calloc.restype = libc.strdup.restype = ctypes.c_void_p
pam.pam_strerror.restype = ctypes.c_char_p
password = sys.stdin.buffer.readline().rstrip(b"\n")


def converse(count, messages, responses, _):
    answers = ctypes.cast(libc.calloc(count, ctypes.sizeof(Response)), ctypes.POINTER(Response))
    for number in range(count):
        message = messages[number].contents
        if message.style in (PAM_PROMPT_ECHO_OFF, PAM_PROMPT_ECHO_ON):
            answers[number].text = libc.strdup(password)
        else:
            print((message.text or b"").decode(), file=sys.stderr, flush=True)
    responses[0] = answers
    return PAM_SUCCESS


service, user, *variables = sys.argv[1:]
handle = ctypes.c_void_p()
conversation = Conversation(Converse(converse), None)
pam.pam_start(service.encode(), user.encode(), ctypes.byref(conversation), ctypes.byref(handle))


def require(call, *arguments):
    status = getattr(pam, call)(handle, *arguments)
    if status != PAM_SUCCESS:
        raise SystemExit(f"{call}: {pam.pam_strerror(handle, status).decode()}")


require("pam_set_item", PAM_TTY, ctypes.c_char_p(b":0"))
for variable in ["XDG_SEAT=seat0", "XDG_SESSION_TYPE=x11", "XDG_SESSION_CLASS=user", *variables]:
    require("pam_putenv", variable.encode())
require("pam_authenticate", 0)
require("pam_acct_mgmt", 0)
require("pam_setcred", PAM_ESTABLISH_CRED)
require("pam_open_session", 0)
print("open", flush=True)
sys.stdin.buffer.read()
require("pam_close_session", 0)
require("pam_setcred", PAM_DELETE_CRED)
pam.pam_end(handle, PAM_SUCCESS)
