"""The laboratory's page and what the worker does for it."""
