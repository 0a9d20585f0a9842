# SPDX-License-Identifier: MIT
"""Runs a function in several processes at once: the ranks of a test."""
import os
import signal
import sys
import time
import traceback


def run(size, function, *arguments, seconds=600):
    """function(rank, size, *arguments) in each of `size` processes. Raises if one fails; ends all after so many seconds."""
    sys.stdout.flush()
    children = {}
    for rank in range(size):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                function(rank, size, *arguments)
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)
        children[child] = rank
    end, failed = time.monotonic() + seconds, []
    while children:
        child, status = os.waitpid(-1, os.WNOHANG)
        if child in children:
            if status != 0:
                failed.append("rank {}: {}".format(children[child], status))
            del children[child]
        elif time.monotonic() > end:
            for child in children:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
            failed.append("ranks {} did not end in {} s".format(sorted(children.values()), seconds))
            break
        else:
            time.sleep(0.005)
    if failed:
        raise AssertionError("; ".join(failed))


def meeting():
    """A name at which only these ranks meet."""
    return "unix:@chasqui-test-" + os.urandom(16).hex()
