"""The demonstration: a real survey, four people, a round of questions through the real worker."""
