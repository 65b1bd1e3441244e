"""What instructors run: assignments from exercises, submissions graded in a sandbox, gradebook and feedback.

Needs the extra `course`. The command is `torchbook course`.
"""
