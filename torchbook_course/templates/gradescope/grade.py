"""The program in the autograder's zip: prepares the image, or grades the submission that Gradescope has laid out."""

import sys
from pathlib import Path

from torchbook_course import gradescope

if __name__ == "__main__":
    source = Path(__file__).resolve().parent
    gradescope.prepare(source) if "--prepare" in sys.argv else gradescope.grade(source)
