"""What prints the book: run every chapter with papermill, keep the outputs honest, build the site."""

import sys

# jsonschema, which nbformat brings, would compile a grammar of IRIs in each process, for two seconds; no notebook has
# one. Here, as workers that run chapters begin with modules of this package, and not with the command.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
