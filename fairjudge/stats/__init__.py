"""Statistics: arrays in, frozen results out."""
