"""Build references: questions that the sources answer differently, with grouped answers."""
