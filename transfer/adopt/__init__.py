"""Adopting a memory that lives in plain MySQL tables, the Neo4j beside them, and runs as JSON lines."""
