"""Calls one function of a bot. Reads {"folder", "files", "function", "arguments"} from its input and
writes {"value"} or {"error", "missing"} to what its output was at the beginning.

Prints of the function go to the error output, whoever makes them, so they cannot be taken for an
answer."""

import json
import os
import sys


def main():
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    request = json.loads(sys.stdin.buffer.read().decode("utf-8"))
    # The function reads nothing of ours.
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    answer = call(request)
    try:
        text = json.dumps(answer, ensure_ascii=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as problem:
        text = json.dumps({"error": "gives something that is no JSON: %s" % problem})
    answers.write(text + "\n")
    answers.flush()
    sys.stdout.flush()
    sys.stderr.flush()
    # Threads of the function do not keep the call open.
    os._exit(0)


def call(request):
    sys.path.insert(0, request["folder"])
    os.chdir(request["folder"])
    function = None
    try:
        # A later file wins, as in MICA.
        for file in request["files"]:
            space = {"__name__": "tools", "__file__": file}
            with open(file, "rb") as source:
                exec(compile(source.read(), file, "exec"), space)
            function = space.get(request["function"], function)
    except BaseException as problem:
        return {"error": "cannot be loaded: %s" % described(problem)}
    if not callable(function):
        return {"error": "is no function of the bot", "missing": True}
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
