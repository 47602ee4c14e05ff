"""Options of what talks to models: each declared once, for commands, Python and study files."""
