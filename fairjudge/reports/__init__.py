"""Tables, Markdown and HTML from finished numbers; no arithmetic."""
