def answer(x: float) -> float:
    """Say in a line what it gives."""
    ### BEGIN SOLUTION
    return x
    ### END SOLUTION
