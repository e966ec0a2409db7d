"""Reading text without a model: words, sentences, names, numbers."""
