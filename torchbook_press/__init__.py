"""What prints the book: run every chapter with papermill, keep the outputs honest, build the site."""
