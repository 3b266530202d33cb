# tries: import the judge's modules by other finders, by the machinery below import, and from what gc still holds
# expect: wrong answer
# needs: kernel
import gc, importlib, importlib.machinery, importlib.util, pkgutil, sys, types

NAMES = ["judge", "judge.compare", "judge.oracle", "reference", "reference.norms", "problems", "cli"]


def by_path(name):
    spec = importlib.machinery.PathFinder.find_spec(name, ["@REPOSITORY@", *sys.path])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def by_hook(name):
    sys.path_importer_cache.clear()
    sys.path.insert(0, "@REPOSITORY@")
    sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__name__ != "_Refuse"]
    return importlib.import_module(name)


def by_pkgutil(name):
    return pkgutil.get_loader(name) if hasattr(pkgutil, "get_loader") else pkgutil.resolve_name(name)


def solve(x, y):
    for name in NAMES:
        for way in (by_path, by_hook, by_pkgutil):
            try:
                if way(name) is not None:
                    print("LEAK", way.__name__, name)
            except (ImportError, AttributeError, ValueError):
                pass
    for thing in gc.get_objects():
        if isinstance(thing, types.ModuleType) and thing.__name__ in ("judge.compare", "judge.oracle", "judge.mutants"):
            print("LEAK module", thing.__name__)
    return x @ y
