"""Which cells show what is another in each run: clocks, random numbers without a seed, addresses, the machine.

A chapter's code is followed from its first cell to its last, as data flows through it: what a source gives is followed
through names, tuples, containers, attributes and the chapter's own functions to where a cell shows it, by its last
expression, `print`, `display` or `glue`. A time that only an assertion looks at harms nothing. What is shown without
being named here, `torchbook run --twice` finds.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Union

from torchbook_press.world import INHERITED

TAG = "varies"  # of a cell whose outputs may be others in each run

# What a value comes of: sources, by the words that name them. A tuple, or a dictionary with constant keys, has those of
# each part; `Items` are alike.
Flat = frozenset[str]
Parts = dict[object, "Value"]
Value = Union[Flat, Parts, "Items"]
NOTHING: Flat = frozenset()
_ENVIRONMENT = "os.environ"
_ARGUMENT = "its argument"  # of a function that is looked at by itself


@dataclass(frozen=True)
class Items:
    """A list, a set or an iterator, whose items come of these sources."""

    each: Value


_CLOCKS = {
    *(f"time.{name}{unit}" for name in ("time", "perf_counter", "monotonic", "process_time") for unit in ("", "_ns")),
    *("time.thread_time", "time.ctime", "time.localtime", "time.gmtime", "time.strftime", "os.times"),
    *("datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today", "datetime.date.today"),
    *("timeit.timeit", "timeit.repeat", "timeit.Timer", "timeit.default_timer", "torch.utils.benchmark.Timer"),
    *("resource.getrusage", "os.getloadavg"),
}
_MACHINE = {
    *("os.cpu_count", "os.process_cpu_count", "multiprocessing.cpu_count", "joblib.cpu_count", "os.sched_getaffinity"),
    *("psutil.cpu_count", "psutil.virtual_memory", "psutil.cpu_percent", "psutil.cpu_freq", "psutil.Process"),
    *("platform.node", "platform.processor", "platform.platform", "platform.uname", "platform.release"),
    *("socket.gethostname", "os.uname", "os.getcwd", "pathlib.Path.cwd", "pathlib.Path.home", "shutil.disk_usage"),
}
_CHANCE = {"os.urandom", "uuid.uuid1", "uuid.uuid4", "random.SystemRandom", "torch.seed", "torch.random.seed"}
_ADDRESSES = {"id", "os.getpid", "os.getppid", "threading.get_ident", "threading.get_native_id"}
_ADDRESS_METHODS = {"data_ptr", "const_data_ptr", "mutable_data_ptr"}
_SOURCES = _CLOCKS | _MACHINE | _CHANCE | _ADDRESSES
# Whole modules of random numbers: what seeds each, and what of it gives none.
_SEEDS = {"random": "random.seed", "numpy.random": "numpy.random.seed", "torch": "torch.manual_seed"}
_SEEDS_ALL = "torchbook.runtime.seed_everything"
_NO_NUMBERS = {"seed", "getstate", "setstate", "get_state", "set_state", "Generator", "RandomState", "SeedSequence"}
_GENERATORS = {"random.Random", "numpy.random.default_rng", "numpy.random.RandomState"}  # by chance without a seed
_TORCH = {
    *("rand", "randn", "randint", "randperm", "normal", "bernoulli", "multinomial", "poisson"),
    *("rand_like", "randn_like", "randint_like"),
}
# Variables that name folders of the one run.
_PLACES = ("HOME", "USERPROFILE", "TMPDIR", "TEMP", "IPYTHONDIR")
_SHOW = {
    "print",
    "display",
    "IPython.display.display",
    "torchbook.glue",
    "torchbook.holds",
    "sys.stdout.write",
    "sys.stderr.write",
}
# What says nothing of the value that it is given.
_BLIND = {"len", "type", "isinstance", "issubclass", "callable", "hasattr", "range", "warnings.warn"}
_BLIND_ATTRIBUTES = {"shape", "dtype", "device", "ndim", "numel", "stride", "size", "is_contiguous", "__name__"}
_CHANGE = {"append", "add", "extend", "insert", "update", "appendleft", "setdefault"}
_RETURN_NOTHING = _CHANGE - {"setdefault"} | {"sort", "clear", "close", "wait", "join_thread", "start", "sleep"}


def flat(value: Value) -> Flat:
    """All sources of a value."""
    if isinstance(value, Items):
        return flat(value.each)
    if isinstance(value, dict):
        return NOTHING.union(*map(flat, value.values()))
    return value


def joined(values: Iterable[Value]) -> Value:
    """What may be any of these values, whose parts stay apart where all have the same."""
    rest = [value for value in values if value != NOTHING]
    if not rest:
        return NOTHING
    first = rest[0]
    if isinstance(first, dict) and all(isinstance(value, dict) and value.keys() == first.keys() for value in rest):
        return {key: joined(value[key] for value in rest if isinstance(value, dict)) for key in first}
    if isinstance(first, Items) and all(isinstance(value, Items) for value in rest):
        return Items(joined(value.each for value in rest if isinstance(value, Items)))
    return rest[0] if len(rest) == 1 else NOTHING.union(*map(flat, rest))


def items(value: Value) -> Value:
    """What iteration over a value gives."""
    if isinstance(value, Items):
        return value.each
    return joined(value.values()) if isinstance(value, dict) else value


@dataclass
class Scope:
    """Names of a chapter, or of one function of it."""

    names: dict[str, Value] = field(default_factory=dict)
    functions: dict[str, ast.FunctionDef | ast.Lambda] = field(default_factory=dict)
    outer: Scope | None = None

    def value(self, name: str) -> Value:
        """Of a name, here or further out."""
        scope: Scope | None = self
        while scope:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        return NOTHING

    def function(self, name: str) -> ast.FunctionDef | ast.Lambda | None:
        """The chapter's own function of a name."""
        scope: Scope | None = self
        while scope:
            if name in scope.functions or name in scope.names:
                return scope.functions.get(name)
            scope = scope.outer
        return None


@dataclass
class Ended:
    """What came of a block of code: what it returned, and what it showed."""

    returned: list[Value] = field(default_factory=list)
    shown: set[str] = field(default_factory=set)


class Reader:
    """Follows data through the cells of one chapter, in their order."""

    def __init__(self) -> None:
        self.scope = Scope()
        self.modules: dict[str, str] = {}  # names that were imported, and what they stand for
        self.attributes: dict[str, Value] = {}  # of the chapter's own objects, by name
        self.methods: dict[str, list[ast.FunctionDef]] = {}
        self.fields: dict[str, list[str]] = {}  # of the chapter's own dataclasses and named tuples
        self.seeded: set[str] = set()
        self.called: dict[ast.AST, Ended] = {}  # functions that this statement of the chapter has called

    def cell(self, source: str) -> Flat:
        """What a cell shows that is another in each run."""
        try:
            tree = ast.parse(_plain(source))
        except SyntaxError:  # a cell that raises it on purpose
            return NOTHING
        ended = Ended()
        for statement in tree.body:
            self.called.clear()
            self._statement(statement, ended, sure=True)
        last = tree.body[-1] if tree.body else None
        if isinstance(last, ast.Expr) and not source.rstrip().endswith(";"):
            ended.shown |= flat(self._value(last.value, Ended()))
        return frozenset(ended.shown)

    # Statements.

    def _block(self, statements: Sequence[ast.stmt], ended: Ended, sure: bool = False) -> None:
        for statement in statements:
            self._statement(statement, ended, sure)

    def _statement(self, node: ast.stmt, ended: Ended, sure: bool) -> None:
        """One statement; `sure` says that it runs, so that what it assigns replaces what was there."""
        match node:
            case ast.Import():
                for name in node.names:
                    self.modules[name.asname or name.name.partition(".")[0]] = (
                        name.name if name.asname else name.name.partition(".")[0]
                    )
            case ast.ImportFrom():
                for name in node.names:
                    self.modules[name.asname or name.name] = f"{node.module}.{name.name}"
            case ast.FunctionDef():
                self.scope.functions[node.name] = node
                self.scope.names.pop(node.name, None)
            case ast.ClassDef():
                self._class(node)
            case ast.Assign():
                value = self._value(node.value, ended)
                for target in node.targets:
                    self._assign(target, value, sure, node.value)
            case ast.AnnAssign() if node.value:
                self._assign(node.target, self._value(node.value, ended), sure, node.value)
            case ast.AugAssign():
                self._assign(node.target, self._value(node.value, ended), sure=False)
            case ast.For():
                each = items(self._value(node.iter, ended))
                for _ in range(2):  # what the first turn leaves, the second finds
                    self._assign(node.target, each, sure=True)
                    self._block([*node.body, *node.orelse], ended)
            case ast.While():
                for _ in range(2):
                    self._value(node.test, ended)
                    self._block([*node.body, *node.orelse], ended)
            case ast.If():
                self._value(node.test, ended)
                self._block([*node.body, *node.orelse], ended)
            case ast.With():
                for item in node.items:
                    value = self._value(item.context_expr, ended)
                    if item.optional_vars:
                        self._assign(item.optional_vars, value, sure)
                self._block(node.body, ended, sure)
            case ast.Try():
                self._block(node.body, ended, sure)
                for handler in node.handlers:
                    self._block(handler.body, ended)
                self._block([*node.orelse, *node.finalbody], ended)
            case ast.Return():
                ended.returned.append(self._value(node.value, ended) if node.value else NOTHING)
            case ast.Expr():
                self._value(node.value, ended)
            case ast.Assert():
                self._value(node.test, ended)

    def _class(self, node: ast.ClassDef) -> None:
        """Look at each method by itself: what it leaves in attributes is there for all."""
        names = [
            part.target.id
            for part in node.body
            if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
        ]
        if names and not any(isinstance(part, ast.FunctionDef) and part.name == "__init__" for part in node.body):
            self.fields[node.name] = names
        for statement in node.body:
            if isinstance(statement, ast.FunctionDef):
                self.methods.setdefault(statement.name, []).append(statement)
        for statement in node.body:
            if isinstance(statement, ast.FunctionDef):
                self._called(statement, NOTHING)

    def _assign(self, target: ast.expr, value: Value, sure: bool, source: ast.expr | None = None) -> None:
        match target:
            case ast.Name():
                self.scope.functions.pop(target.id, None)
                if isinstance(source, ast.Lambda):
                    self.scope.functions[target.id] = source
                kept = NOTHING if sure else self.scope.value(target.id)
                self.scope.names[target.id] = joined([kept, value])
            case ast.Starred():
                self._assign(target.value, Items(value), sure)
            case ast.Tuple() | ast.List():
                parts = value if isinstance(value, dict) else {}
                whole = any(isinstance(element, ast.Starred) for element in target.elts)
                for number, element in enumerate(target.elts):
                    part = parts[number] if number in parts and not whole else items(value)
                    self._assign(element, part, sure)
            case ast.Subscript():
                key = target.slice.value if isinstance(target.slice, ast.Constant) else None
                self._mix(target.value, Items(value) if key is None else {key: value})
            case ast.Attribute():
                self._leave(target.attr, value)

    def _mix(self, container: ast.expr, value: Value) -> None:
        """Something is put into a container."""
        if isinstance(container, ast.Attribute):
            self._assign(container, value, sure=False)
        while isinstance(container, ast.Subscript | ast.Attribute):
            container = container.value
        if not isinstance(container, ast.Name):
            return
        before = self.scope.value(container.id)
        if isinstance(before, dict) and isinstance(value, dict):
            self._put(container.id, {**before, **value})
        elif flat(value) or isinstance(before, Items):
            self._put(container.id, joined([before, value]))

    def _put(self, name: str, value: Value) -> None:
        """Change what a name stands for, where it was bound: a function changes a list of its chapter."""
        scope: Scope | None = self.scope
        while scope and name not in scope.names:
            scope = scope.outer
        scope = scope or self.scope
        scope.names[name] = value if scope is self.scope else _with(value, NOTHING)

    # Expressions.

    def _value(self, node: ast.expr | None, ended: Ended) -> Value:
        match node:
            case None | ast.Constant() | ast.Lambda():
                return NOTHING
            case ast.Name():
                return self.scope.value(node.id)
            case ast.Call():
                return self._call(node, ended)
            case ast.Attribute():
                return self._attribute(node, ended)
            case ast.Tuple() | ast.List() if not any(isinstance(part, ast.Starred) for part in node.elts):
                return {number: self._value(part, ended) for number, part in enumerate(node.elts)}
            case ast.Dict() if all(isinstance(key, ast.Constant) for key in node.keys):
                pairs = zip(node.keys, node.values, strict=True)
                return {key.value: self._value(part, ended) for key, part in pairs if isinstance(key, ast.Constant)}
            case ast.Subscript():
                return self._subscript(node, ended)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                return self._comprehension(node.generators, [node.elt], ended)
            case ast.DictComp():
                return self._comprehension(node.generators, [node.key, node.value], ended)
            case ast.NamedExpr():
                value = self._value(node.value, ended)
                self._assign(node.target, value, sure=False)
                return value
            case ast.Compare():
                sources = self._of_all(node, ended)
                return frozenset(name for name in sources if not _is_address(name))
            case ast.BinOp(op=ast.Sub()):
                left, right = (flat(self._value(side, ended)) for side in (node.left, node.right))
                offset = left and right and all(map(_is_address, left | right))  # within a storage
                return NOTHING if offset else left | right
            case ast.IfExp():
                test = self._value(node.test, ended)
                return joined(
                    [
                        *([flat(test)] if flat(test) else []),
                        *(self._value(part, ended) for part in (node.body, node.orelse)),
                    ]
                )
            case _:
                return self._of_all(node, ended)

    def _of_all(self, node: ast.AST, ended: Ended) -> Flat:
        parts = (part for part in ast.iter_child_nodes(node))
        return NOTHING.union(
            *(
                flat(self._value(part, ended)) if isinstance(part, ast.expr) else self._of_all(part, ended)
                for part in parts
            )
        )

    def _subscript(self, node: ast.Subscript, ended: Ended) -> Value:
        if self._dotted(node.value) == _ENVIRONMENT:
            return _variable(node.slice)
        value, index = self._value(node.value, ended), flat(self._value(node.slice, ended))
        if isinstance(value, dict) and isinstance(node.slice, ast.Constant) and node.slice.value in value:
            return value[node.slice.value]
        if isinstance(node.slice, ast.Slice):
            return value if isinstance(value, Items) else Items(items(value))
        return joined([items(value), *([index] if index else [])])

    def _comprehension(
        self, generators: Sequence[ast.comprehension], elements: Sequence[ast.expr], ended: Ended
    ) -> Value:
        inner = Scope(outer=self.scope)
        before, self.scope = self.scope, inner
        try:
            for generator in generators:
                self._assign(generator.target, items(self._value(generator.iter, ended)), sure=True)
                for condition in generator.ifs:
                    self._value(condition, ended)
            values = [self._value(element, ended) for element in elements]
        finally:
            self.scope = before
        return Items(values[0] if len(values) == 1 else {"key": values[0], "value": values[1]})

    def _attribute(self, node: ast.Attribute, ended: Ended) -> Value:
        name = self._dotted(node)
        if name:
            return frozenset({_ENVIRONMENT}) if name == _ENVIRONMENT else NOTHING
        owner = flat(self._value(node.value, ended))
        own = self.attributes.get(node.attr, NOTHING)
        if node.attr in _BLIND_ATTRIBUTES:
            return NOTHING
        return joined([owner, own]) if owner else own

    # Calls.

    def _call(self, node: ast.Call, ended: Ended) -> Value:
        name = self._dotted(node.func)
        ended.shown |= _timed(node)
        arguments = [self._value(argument, ended) for argument in node.args]
        arguments += [self._value(word.value, ended) for word in node.keywords if word.arg != "env"]
        given = NOTHING.union(*map(flat, arguments))
        if name in _SHOW:
            ended.shown |= given if not any(word.arg == "file" for word in node.keywords) else NOTHING
            return NOTHING
        # Of a variable is known what it is, not what comes of it.
        given = frozenset(source for source in given if not source.startswith(_ENVIRONMENT))
        source = self._source(name, node)
        if source:
            return frozenset({source})
        if name in _BLIND:
            return NOTHING
        if name in (f"{_ENVIRONMENT}.get", "os.getenv") and node.args:
            return joined([_variable(node.args[0]), given])
        if isinstance(node.func, ast.Name):
            function = self.scope.function(node.func.id)
            if function:
                return self._result(function, given, ended)
            if node.func.id in self.fields:
                return self._made(node, arguments)
            return _built_in(node.func.id, arguments, given)
        if isinstance(node.func, ast.Attribute) and not name:
            return self._method(node.func, arguments, given, ended)
        return given | flat(self._value(node.func, ended))

    def _made(self, node: ast.Call, arguments: list[Value]) -> Value:
        """An object of one of the chapter's dataclasses: each argument is an attribute."""
        assert isinstance(node.func, ast.Name)
        words = [word.arg for word in node.keywords if word.arg != "env"]
        names = [*self.fields[node.func.id][: len(node.args)], *words]
        for name, value in zip(names, arguments, strict=False):
            if name:
                self._leave(name, value)
        return NOTHING

    def _leave(self, attribute: str, value: Value) -> None:
        """Something is put into an attribute; its sources are those of all attributes of this name."""
        self.attributes[attribute] = joined([self.attributes.get(attribute, NOTHING), _with(value, NOTHING)])

    def _method(self, node: ast.Attribute, arguments: list[Value], given: Flat, ended: Ended) -> Value:
        owner = self._value(node.value, ended)
        if node.attr in _CHANGE and arguments:
            self._mix(node.value, Items(arguments[-1]) if node.attr != "update" else arguments[-1])
        if node.attr in _RETURN_NOTHING | _BLIND_ATTRIBUTES:
            return NOTHING
        if node.attr in _ADDRESS_METHODS:
            return frozenset({f"{node.attr}()"})
        if node.attr in self.methods:
            found = [self._result(method, given, ended) for method in self.methods[node.attr]]
            return joined(found)
        if node.attr in ("items", "values", "keys"):
            return _view(node.attr, owner)
        return given | flat(owner)

    def _result(self, function: ast.FunctionDef | ast.Lambda, given: Flat, ended: Ended) -> Value:
        """What a function of the chapter returns and shows, with these sources in its arguments."""
        own = self._called(function, frozenset({_ARGUMENT}))
        ended.shown |= _filled(frozenset(own.shown), given) - {_ARGUMENT}
        return _with(joined(own.returned), given)

    def _called(self, function: ast.FunctionDef | ast.Lambda, argument: Flat) -> Ended:
        if function in self.called:
            return self.called[function]
        ended = self.called[function] = Ended()
        inner = Scope(outer=self.scope)
        spec = function.args
        for parameter in [*spec.posonlyargs, *spec.args, *spec.kwonlyargs, spec.vararg, spec.kwarg]:
            if parameter:
                inner.names[parameter.arg] = NOTHING if parameter.arg == "self" else argument
        before, self.scope = self.scope, inner
        try:
            if isinstance(function, ast.Lambda):
                ended.returned.append(self._value(function.body, ended))
            else:
                self._block(function.body, ended, sure=True)
                ended.returned += [Items(flat(self._value(part.value, ended))) for part in _yields(function)]
        finally:
            self.scope = before
        return ended

    def _source(self, name: str, node: ast.Call) -> str:
        """The source that a call is, in the words of the chapter's reader; "" when it is none."""
        if name in _SOURCES or name.startswith("secrets."):
            return f"{name}()" if not (name in ("time.strftime", "time.ctime") and len(node.args) > 1) else ""
        for module, seed in _SEEDS.items():
            if name in (seed, _SEEDS_ALL) and node.args:
                self.seeded.add(module)
        if name in _GENERATORS:
            return "" if node.args or node.keywords else f"{name}() without a seed"
        module, _, function = name.rpartition(".")
        if module not in _SEEDS or module in self.seeded or function in _NO_NUMBERS:
            return ""
        if module == "torch" and (function not in _TORCH or any(word.arg == "generator" for word in node.keywords)):
            return ""
        return f"{name}() without {_SEEDS[module]}()" if function.islower() else ""

    def _dotted(self, node: ast.expr) -> str:
        """What a name or an attribute of an imported module stands for; "" for all else. Built-ins by themselves."""
        if isinstance(node, ast.Name):
            if node.id in self.modules:
                return self.modules[node.id]
            return node.id if node.id in _BUILT_IN and not self.scope.function(node.id) else ""
        if isinstance(node, ast.Attribute):
            owner = self._dotted(node.value)
            return f"{owner}.{node.attr}" if owner else ""
        return ""


_BUILT_IN = {"id", "print", "display", "len", "type", "isinstance", "issubclass", "callable", "hasattr", "range"}


def _built_in(name: str, arguments: list[Value], given: Flat) -> Value:
    """A function of Python that keeps parts apart; any other mixes what it is given."""
    if name == "zip":
        return Items({number: items(argument) for number, argument in enumerate(arguments)})
    if name == "enumerate" and arguments:
        return Items({0: NOTHING, 1: items(arguments[0])})
    if name in ("list", "tuple", "sorted", "reversed", "set", "iter") and arguments:
        return arguments[0] if isinstance(arguments[0], Items) else Items(items(arguments[0]))
    if name == "dict" and len(arguments) == 1:
        return arguments[0]
    return given


def _view(name: str, owner: Value) -> Value:
    """`items()`, `values()` or `keys()` of a dictionary."""
    key, value = NOTHING, items(owner)
    if isinstance(owner, Items) and isinstance(owner.each, dict) and owner.each.keys() == {"key", "value"}:
        key, value = flat(owner.each["key"]), owner.each["value"]
    views: dict[str, Value] = {"items": {0: key, 1: value}, "values": value, "keys": key}
    return Items(views[name])


def _variable(name: ast.expr) -> Flat:
    """A variable of the environment, where a kernel has it of the machine; those that every kernel has are the same."""
    inherited = isinstance(name, ast.Constant) and name.value in (*INHERITED, *_PLACES)
    return frozenset({f"{_ENVIRONMENT}[{ast.unparse(name)}]"}) if inherited else NOTHING


def _timed(node: ast.Call) -> Flat:
    """What a magic of IPython shows by itself."""
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("run_line_magic", "run_cell_magic") and node.args:
        magic = node.args[0]
        if isinstance(magic, ast.Constant) and magic.value in ("time", "timeit", "prun"):
            return frozenset({f"%{magic.value}"})
    return NOTHING


def _filled(sources: Flat, given: Flat) -> Flat:
    return (sources - {_ARGUMENT}) | given if _ARGUMENT in sources else sources


def _with(value: Value, given: Flat) -> Value:
    """A function's result, with the sources of its arguments in their place."""
    if isinstance(value, Items):
        return Items(_with(value.each, given))
    if isinstance(value, dict):
        return {key: _with(part, given) for key, part in value.items()}
    return _filled(value, given)


def _yields(function: ast.AST) -> Iterator[ast.Yield]:
    return (node for node in ast.walk(function) if isinstance(node, ast.Yield))


def _is_address(source: str) -> bool:
    return source.removesuffix("()") in _ADDRESSES | _ADDRESS_METHODS


def _plain(source: str) -> str:
    """A cell as Python, its magics and lines of shell as the calls that they are."""
    if not any(line.lstrip()[:1] in ("%", "!", "?") or "= !" in line or "= %" in line for line in source.splitlines()):
        return source
    from IPython.core.inputtransformer2 import TransformerManager

    return TransformerManager().transform_cell(source)


def shown(sources: Iterable[str]) -> list[Flat]:
    """What each cell shows that is another in each run, by the words that name its sources."""
    reader = Reader()
    return [reader.cell(source) for source in sources]
