from __future__ import annotations

import math


class Value:
    """A number that remembers how it was made, and its gradient."""

    def __init__(
        self,
        data: float,
        inputs: tuple[Value, ...] = (),
        slopes: tuple[float, ...] = (),
    ) -> None:
        """Keep the number, and what `backward` will need.

        You may change the arguments after `data`.
        """
        ### BEGIN SOLUTION
        self.data = float(data)
        self.grad = 0.0
        self._inputs = inputs
        self._slopes = slopes
        ### END SOLUTION

    def __add__(self, other: Value | float) -> Value:
        ### BEGIN SOLUTION
        other = _value(other)
        return Value(self.data + other.data, (self, other), (1.0, 1.0))
        ### END SOLUTION

    def __mul__(self, other: Value | float) -> Value:
        ### BEGIN SOLUTION
        other = _value(other)
        return Value(self.data * other.data, (self, other), (other.data, self.data))
        ### END SOLUTION

    def __pow__(self, power: float) -> Value:
        ### BEGIN SOLUTION
        slope = power * self.data ** (power - 1) if power else 0.0
        return Value(self.data**power, (self,), (slope,))
        ### END SOLUTION

    def exp(self) -> Value:
        ### BEGIN SOLUTION
        out = math.exp(self.data)
        return Value(out, (self,), (out,))
        ### END SOLUTION

    def relu(self) -> Value:
        ### BEGIN SOLUTION
        return Value(max(self.data, 0.0), (self,), (float(self.data > 0),))
        ### END SOLUTION

    def __neg__(self) -> Value:
        ### BEGIN SOLUTION
        return self * -1.0
        ### END SOLUTION

    def __sub__(self, other: Value | float) -> Value:
        ### BEGIN SOLUTION
        return self + -_value(other)
        ### END SOLUTION

    def __truediv__(self, other: Value | float) -> Value:
        ### BEGIN SOLUTION
        return self * _value(other) ** -1
        ### END SOLUTION

    def __rsub__(self, other: float) -> Value:
        ### BEGIN SOLUTION
        return -self + other
        ### END SOLUTION

    def __rtruediv__(self, other: float) -> Value:
        ### BEGIN SOLUTION
        return self**-1 * other
        ### END SOLUTION

    def __radd__(self, other: float) -> Value:
        ### BEGIN SOLUTION
        return self + other
        ### END SOLUTION

    def __rmul__(self, other: float) -> Value:
        ### BEGIN SOLUTION
        return self * other
        ### END SOLUTION

    def backward(self) -> None:
        ### BEGIN SOLUTION
        gradients = {id(self): 1.0}
        for node in _uses_first(self):
            node.grad += gradients[id(node)]
            for used, slope in zip(node._inputs, node._slopes, strict=True):
                gradients[id(used)] = gradients.get(id(used), 0.0) + slope * gradients[id(node)]
        ### END SOLUTION


### BEGIN SOLUTION
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


### END SOLUTION
