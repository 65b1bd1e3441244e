"""The error that says what is not as it must be in an exercise."""


class ExerciseError(Exception):
    """An exercise's folder is not as it must be; the message names file, line and remedy."""
