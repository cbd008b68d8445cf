"""Replays of workloads through every allocator: reading them, making them up, showing what came out.

Needs no data and spends nothing. Shared by `manage.py laboratory` and the laboratory page; imports only the mechanism.
"""
