"""A session of its own for a test that stands in an agent's place: one with a terminal is asked in another way."""
import os
import sys


def leave_terminal():
    """Goes on in a child without a terminal. This process ends with the child's status."""
    child = os.fork()
    if child:
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os._exit(status if status >= 0 else 128 - status)
    os.setsid()
