"""Experiments of the laboratory page: kept as rows, replayed by the worker, watched by their owner. Edges only use this."""
