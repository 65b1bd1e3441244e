"""What is done with the printed book: run it elsewhere (drift, launches) and pack it to be taken away (bundle)."""
