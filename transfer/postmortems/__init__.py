"""Post-mortems and incident reports as people keep them in files -> runs, run memories, pitfalls and outcomes."""
