"""Proofs that are kept until something they depend on changes.

A *proof* is a pass that was seen: a test that passed, the states in which an exercise's checks took every answer to it,
a page in which axe found nothing, a chapter that ran. It is stored under a `Key`: what kind of proof it is, of which
subject, and the digest of each thing that it depends on (bytes of files, versions, the processor). While all of these
are the same, the stored proof stands and the work is not done again. Nothing but a pass is ever stored, so that a
failure is always found anew.

A key is as good as the list of its parts. When in doubt a part is a whole folder, read from the disk: a folder is the
boundary, and no list of files is kept by hand. Each kind of key has a test that changes one part after another and
sees the proof made again (`tests/proofs`).

To distrust all of it: `make test FRESH=1` keeps no proof from before that run (and stores those that it makes), and the
weekly workflow runs so. The store is a folder of JSON files, `TORCHBOOK_PROOFS` or a folder in the user's cache; it may
be deleted at any time, or copied to another machine: what differs there is in the keys.
"""

from torchbook_proofs.content import digest, installed, processor
from torchbook_proofs.store import Key, Store

__all__ = ["Key", "Store", "digest", "installed", "processor"]
