"""Reading records of architecture decisions from the files people keep them in."""
