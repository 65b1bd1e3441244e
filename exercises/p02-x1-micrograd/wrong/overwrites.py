# test_used_twice: replaces the gradient instead of adding to it
from __future__ import annotations

import math


class Value:
    """A number that remembers how it was made, and its gradient."""

    def __init__(self, data: float, inputs: tuple[Value, ...] = (), slopes: tuple[float, ...] = ()) -> None:
        """Keep the number, and what is needed to differentiate it; change the arguments as you like."""
        self.data = float(data)
        self.grad = 0.0
        self._inputs = inputs
        self._slopes = slopes

    def __add__(self, other: Value | float) -> Value:
        other = _value(other)
        return Value(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other: Value | float) -> Value:
        other = _value(other)
        return Value(self.data * other.data, (self, other), (other.data, self.data))

    def __pow__(self, power: float) -> Value:
        return Value(self.data**power, (self,), (power * self.data ** (power - 1),))

    def exp(self) -> Value:
        out = math.exp(self.data)
        return Value(out, (self,), (out,))

    def relu(self) -> Value:
        return Value(max(self.data, 0.0), (self,), (float(self.data > 0),))

    def __neg__(self) -> Value:
        return self * -1.0

    def __sub__(self, other: Value | float) -> Value:
        return self + -_value(other)

    def __truediv__(self, other: Value | float) -> Value:
        return self * _value(other) ** -1

    def __rsub__(self, other: float) -> Value:
        return -self + other

    def __rtruediv__(self, other: float) -> Value:
        return self**-1 * other

    def __radd__(self, other: float) -> Value:
        return self + other

    def __rmul__(self, other: float) -> Value:
        return self * other

    def backward(self) -> None:
        gradients = {id(self): 1.0}
        for node in _uses_first(self):
            node.grad += gradients[id(node)]
            for used, slope in zip(node._inputs, node._slopes, strict=True):
                gradients[id(used)] = slope * gradients[id(node)]


def _value(number: Value | float) -> Value:
    return number if isinstance(number, Value) else Value(number)


def _uses_first(root: Value) -> list[Value]:
    """All nodes below `root`, each before its inputs."""
    order: list[Value] = []
    seen: set[int] = set()
    waiting: list[tuple[Value, bool]] = [(root, False)]
    while waiting:
        node, done = waiting.pop()
        if done:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            waiting.append((node, True))
            waiting += [(used, False) for used in node._inputs]
    return order[::-1]
