"""Notes what a process reads of the book and imports, and what it asks about: see `torchbook_press.reads`. Refuses what
a chapter may not do: see `torchbook_press.world`.

Python's `site` loads this file at the start of a chapter's kernel, and of every Python that the kernel starts, because
PYTHONPATH begins with its folder. A process that would not load it is noted as unseen by the one that starts it.
Standard library only, and little of it: this is in the way of every start.
"""

import os
import sys


def _watch() -> None:
    log, folder = os.environ["TORCHBOOK_READS"], os.path.dirname(os.path.abspath(__file__))
    prefixes, beside = (
        tuple(root + os.sep for root in os.environ[name].split(os.pathsep))
        for name in ("TORCHBOOK_READS_UNDER", "TORCHBOOK_READS_BESIDE")
    )
    lines: set[str] = set()
    write, close, create, flags = os.write, os.close, os.open, os.O_WRONLY | os.O_APPEND | os.O_CREAT
    absolute, fspath = os.path.abspath, os.fsdecode

    def note(kind: str, what: str) -> None:
        line = f"{kind} {what}\n"
        if line not in lines:
            lines.add(line)
            try:
                descriptor = create(log, flags, 0o666)
            except OSError:  # the run is over, and its folder gone
                return
            write(descriptor, line.encode(errors="surrogateescape"))
            close(descriptor)

    def opened(path: object, _mode: object = None, flags: int = 0) -> None:
        if isinstance(path, str | bytes | os.PathLike):
            name = fspath(path)
            name = name if name.startswith(os.sep) else absolute(name)
            if name.startswith(prefixes):
                note("file", name)
            elif not name.startswith(beside):
                note("made" if flags & _WRITES else "outside", name)

    def imported(name: str, *_: object) -> None:
        note("module", name.partition(".")[0])

    def started(command: object, arguments: object, variables: object) -> None:
        """Whether a process that is started will load this file."""
        environment = os.environ if variables is None else variables
        try:
            names = {fspath(name): fspath(value) for name, value in environment.items()}  # type: ignore[attr-defined]
        except (AttributeError, TypeError):
            names = {}
        words = [command, *(arguments if isinstance(arguments, list | tuple) else [arguments])]
        text = " ".join(fspath(word) for word in words if isinstance(word, str | bytes | os.PathLike))
        # -I, -E and -S, alone or among other letters, make Python deaf to PYTHONPATH or to `site`.
        deaf = (
            any(word[:1] == "-" and word[1:].isalpha() and set("IES") & set(word) for word in text.split())
            and "python" in text
        )
        path = names.get("PYTHONPATH", "").split(os.pathsep)
        without = path[0] != folder or names.get("TORCHBOOK_READS") != log
        if deaf or (without and _may_be_python(text)):
            note("unseen", os.path.basename(text.split(" ", 1)[0]))

    guards = _guards()
    actions = {
        "open": opened,
        "import": imported,
        "subprocess.Popen": lambda command, arguments, _folder, variables: started(command, arguments, variables),
        "os.exec": started,
        "os.posix_spawn": started,
        "os.spawn": lambda _mode, command, arguments, variables: started(command, arguments, variables),
        "os.system": lambda command: started(command, [], None),
    }

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        guard = guards.get(event)
        if guard:
            guard(*arguments)  # type: ignore[operator]
        action = actions.get(event)
        if action:
            try:
                action(*arguments)  # type: ignore[operator]
            except Exception as error:
                note("unseen", f"{event}-{type(error).__name__}")

    class Asked:
        """Finds nothing; notes which modules and distributions are looked for, without being imported perhaps."""

        @staticmethod
        def find_spec(name: str, *_: object) -> None:
            imported(name)

        @staticmethod
        def find_distributions(context: object = None) -> tuple[()]:
            name = getattr(context, "name", None)
            if name:
                note("distribution", name)
            return ()

    note("process", "python")
    for name in list(sys.modules):
        imported(name)
    sys.meta_path.insert(0, Asked)
    sys.addaudithook(hook)


# Names of addresses that are this machine.
_HERE = ("localhost", "127.", "::1", "0.0.0.0", "<broadcast>")
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


def _guards() -> "dict[str, object]":
    """What refuses events, by event."""
    roots = os.environ.get("TORCHBOOK_PROTECTED", "").split(os.pathsep)
    protected = tuple(root + os.sep for root in roots if root)
    own = os.path.dirname(os.environ.get("HOME", os.sep)) + os.sep
    absolute, fspath = os.path.abspath, os.fsdecode

    def write(*paths: object) -> None:
        for path in paths:
            if isinstance(path, str | bytes | os.PathLike):
                name = absolute(fspath(path))
                if name.startswith(protected) and not name.startswith(own) and "__pycache__" not in name:
                    raise PermissionError(13, "a chapter writes in its own folder, not in the book's", name)

    def opened(path: object, _mode: object, flags: int) -> None:
        if flags & _WRITES:
            write(path)

    def connect(_socket: object, address: object) -> None:
        host = address[0] if isinstance(address, tuple) and address else "localhost"
        if isinstance(host, str) and not host.startswith(_HERE) and host != os.uname().nodename:
            message = f"a chapter that connects to {host} says so in its contract: needs: [network]"
            raise PermissionError(13, message)

    guards: dict[str, object] = {}
    if protected:
        first, second = (lambda path, *_: write(path)), (lambda _, path, *__: write(path))
        guards |= {"open": opened, "os.rename": lambda old, new, *_: write(old, new)}
        guards |= dict.fromkeys(("os.remove", "os.rmdir", "os.mkdir", "os.truncate"), first)
        guards |= dict.fromkeys(("os.link", "os.symlink"), second)
    if os.environ.get("TORCHBOOK_NETWORK") == "":
        guards |= {"socket.connect": connect, "socket.sendto": connect}
    return guards


def _may_be_python(command: str) -> bool:
    """Whether a command names Python, or a script that does; ldconfig and compilers do not."""
    from shutil import which

    for word in command.split():
        if "python" in word:
            return True
        path = which(word)
        if path:
            with open(path, "rb") as file:
                if file.read(2) == b"#!" and b"python" in file.read():
                    return True
    return False


def _next() -> None:
    """Load the `sitecustomize` that this one stands before, if there is one."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if entry != folder]
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec and spec.loader:
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


if "TORCHBOOK_READS" in os.environ:
    _watch()
    _next()
