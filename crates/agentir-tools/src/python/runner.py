"""Calls one function of a bot. Reads {"folder", "file", "function", "arguments", "cpu_seconds",
"memory_bytes", "file_bytes"} from its input and writes {"value"} or {"error", "missing"} to what its output was at
the beginning.

Prints of the function go to the error output, whoever makes them, so they cannot be taken for an
answer."""

import json
import os
import sys


def main():
    end_with_parent()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    request = json.loads(sys.stdin.buffer.read().decode("utf-8"))
    # The function reads nothing of ours.
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    limit(request)
    answer = call(request)
    try:
        text = json.dumps(answer, ensure_ascii=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError, MemoryError) as problem:
        text = json.dumps({"error": "gives something that is no JSON: %s" % problem})
    answers.write(text + "\n")
    answers.flush()
    sys.stdout.flush()
    sys.stderr.flush()
    # Threads of the function do not keep the call open.
    os._exit(0)


def end_with_parent():
    """Asks the system to kill this process when its parent ends. Only Linux can."""
    if not sys.platform.startswith("linux"):
        return
    try:
        import ctypes
        import signal

        PR_SET_PDEATHSIG = 1
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    except (ImportError, OSError, AttributeError):
        # An interpreter without ctypes; the parent ends it in all but one case.
        pass


def limit(request):
    """Limits what this process and those that it starts may use."""
    try:
        import resource
    except ImportError:
        # Windows has none of this.
        return
    for kind, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, request["cpu_seconds"]),
        (resource.RLIMIT_AS, request["memory_bytes"]),
        (resource.RLIMIT_FSIZE, request["file_bytes"]),
    ):
        _, hard = resource.getrlimit(kind)
        if hard != resource.RLIM_INFINITY:
            most = min(most, hard)
        try:
            resource.setrlimit(kind, (most, most))
        except (ValueError, OSError):
            # macOS does not have all of them.
            pass


def call(request):
    sys.path.insert(0, request["folder"])
    os.chdir(request["folder"])
    file = request["file"]
    space = {"__name__": "tools", "__file__": file}
    try:
        with open(file, "rb") as source:
            exec(compile(source.read(), file, "exec"), space)
    except BaseException as problem:
        return {"error": "cannot be loaded: %s" % described(problem)}
    function = space.get(request["function"])
    if not callable(function):
        return {"error": "", "missing": True}
    try:
        return {"value": function(**request["arguments"])}
    except BaseException as problem:
        return {"error": "failed: %s" % described(problem)}


def described(problem):
    """The kind of an exception, its words, and the line it comes from."""
    import traceback

    place = ""
    for frame in traceback.extract_tb(problem.__traceback__):
        if frame.filename != "<string>":
            place = " (%s, line %s)" % (os.path.basename(frame.filename), frame.lineno)
    words = str(problem)
    kind = type(problem).__name__
    return "%s%s" % ("%s: %s" % (kind, words) if words else kind, place)


main()
