"""The book on paper and on e-readers: one PDF and one EPUB, made from the built site."""
