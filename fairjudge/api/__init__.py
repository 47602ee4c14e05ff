"""The Python interface: values in, values out. `fairjudge` itself exports all of it, lazily."""
