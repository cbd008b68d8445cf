"""The JSON edge: parse, one call of a service or selector, render."""
