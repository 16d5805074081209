"""One project as JSON lines, lossless, from any desk into any other."""
