"""How programs that tests start (*_child.py) import what they are about.

What is imported here is imported when it is needed: a test may be about what is loaded by then.
"""

import sys


def load(path):
    """The module that a file holds; others can import it by its name from now on."""
    import importlib.util
    import pathlib

    name = pathlib.Path(path).stem
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def compile_packages(names, compile_source):
    """These packages and modules, once imported, are what compile_source(bytes, path) makes of their sources."""
    import importlib.machinery

    class Loader(importlib.machinery.SourceFileLoader):
        def source_to_code(self, data, path, *, _optimize=-1):
            if not isinstance(data, bytes):
                return super().source_to_code(data, path, _optimize=_optimize)
            return compile_source(bytes(data), path)

        def path_stats(self, path):
            raise OSError("never from a cache")

    class Finder:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if not any(name == chosen or name.startswith(chosen + ".") for chosen in names):
                return None
            spec = importlib.machinery.PathFinder.find_spec(name, path, target)
            if spec is not None and type(spec.loader) is importlib.machinery.SourceFileLoader:
                spec.loader = Loader(spec.loader.name, spec.loader.path)
            return spec

    sys.meta_path.insert(0, Finder)


def instrumenter():
    """A compile_source that instruments every line; monitorch is imported now."""
    import monitorch._instrument

    return lambda data, path: monitorch._instrument.compile_source(data, path, all=True)[0]
