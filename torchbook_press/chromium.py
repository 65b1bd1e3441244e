"""How Chromium is started: the one place where its arguments stand, for the press and for the tests."""

# The last one puts every other host out of reach.
ARGUMENTS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
UNBOXED = "--no-sandbox"  # needed by root, and where the system lets nobody else make a sandbox
