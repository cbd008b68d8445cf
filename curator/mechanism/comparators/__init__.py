"""What other allocators would have spent on the same public stream of events: one protocol, one table, one replay.

Nothing here can answer a question: there is no count, no noise and no released value in an event, only descriptors, prices and
weights. Sections of the mechanism are shared, not rewritten: every allocator calls the controller's own `decide`, so a difference
between two of them is a difference of one rule (credit, ledger or weight) and never of two copies of the arithmetic.
"""
