"""Forks recorded programs in which something fails: python failing_child.py PLAN.json

The plan names the instrumented source, the folder, modules to import first, and the runs: (name,
environment). Each run has its own process, its output in FOLDER/NAME.out, its trace in
FOLDER/NAME.mtrace. Writes FOLDER/ended.json: how each ended.
"""

import importlib
import json
import os
import sys
import traceback
import types


def run_child(plan, name, environment):
    out = os.open(os.path.join(plan["folder"], name + ".out"), os.O_WRONLY | os.O_CREAT)
    errors = os.open(os.path.join(plan["folder"], name + ".err"), os.O_WRONLY | os.O_CREAT)
    os.dup2(out, 1)
    os.dup2(errors, 2)
    # What fails is read from the environment when the recorder is loaded.
    os.environ.update(environment)
    if environment.pop("FILE_SIZE_LIMIT", None):
        import resource

        # Python ignores the signal that comes with it: system calls fail.
        limit = plan["file_size_limit"]
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    import monitorch

    recording = monitorch.record(os.path.join(plan["folder"], name + ".mtrace"), sample=8)
    started = True
    try:
        recording.start()
    except (MemoryError, OSError) as error:
        # The one moment at which a program may be told.
        print("not started:", type(error).__name__, file=sys.stderr)
        started = False
    program = types.ModuleType("program")
    sys.modules["program"] = program
    with open(plan["source"], "rb") as file:
        code = compile(file.read(), plan["source"], "exec", dont_inherit=True)
    exec(code, program.__dict__)
    result = program.main()
    if started:
        recording.stop()
    print(json.dumps(result))
    sys.stdout.flush()


def run(plan, name, environment):
    child = os.fork()
    if child == 0:
        code = 1
        try:
            run_child(plan, name, environment)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main():
    with open(sys.argv[1]) as file:
        plan = json.load(file)
    for name in plan["modules"]:
        importlib.import_module(name)
    ended = {name: run(plan, name, environment) for name, environment in plan["runs"]}
    with open(os.path.join(plan["folder"], "ended.json"), "w") as file:
        json.dump(ended, file)


if __name__ == "__main__":
    main()
