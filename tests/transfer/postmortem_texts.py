"""Three post-mortems as people write them: by labels, by headings, as data."""

from __future__ import annotations

LABELLED = """---
title: Incident on 2024-03-15 - Replica lag after a bulk delete
weight: 3
---

# Incident on 2024-03-15 - Replica lag after a bulk delete

- **Key events**
  - First detected 2024-03-15 10:15
  - Resolved 2024-03-15 11.40

- **Severity**: SEV-2

- **Identified**: The lag alert of db-2 fired.

- **Impact**: Reports were ten minutes old.

- **Context**:
  - 2024-03-15 10:02 The purge job deleted 40 million rows.

- **Resolution**:
  - We ran `mysql -e 'KILL 42'` and throttled the job, which is used to run `mysql --purge`.

- **Review actions**:
  - Delete in batches of 5,000.
"""
HEADED = """# Checkout was down

## Summary

The queue was full. ADR 7 had us keep orders there.

## Detection

A customer called.

## Root cause

### Five whys

Nobody watched the queue.

```
# Impact: not a heading
kubectl delete everything
```

## Lessons learned

### What went well

The rollback took a minute.
"""
DATA = """
incident_id: 2024-queue
title: Queue lost its messages
date: "2024-05-06"
severity: critical
category: data-loss
trigger: A broker restarted.
root_cause: Its queue was not durable.
prevention: Declare queues durable.
tags: [queue, broker]
blast_radius:
  scope: all orders of one hour
  counts: [3, 4]
"""
