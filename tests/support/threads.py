"""Threads, as tests start and await them."""

import functools
import threading


def run(*functions):
    """Calls the functions at once, each in a thread, and waits for all; raises what one of them raised."""
    raised = []
    ready = threading.Barrier(len(functions))

    def guarded(function):
        try:
            ready.wait()
            function()
        except BaseException as error:  # told where it can be seen
            raised.append(error)

    threads = [threading.Thread(target=guarded, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]


def run_for(arguments, function):
    """The same with one function, which gets one of the arguments in each thread."""
    run(*(functools.partial(function, argument) for argument in arguments))
