"""Text functions: sentences, chunks, tokens, terms, quotes, scripts, spellings."""
