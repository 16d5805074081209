"""The inbox: what waits for a person, in queues; list left, record right."""
