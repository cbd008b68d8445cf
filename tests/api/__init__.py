"""The JSON edge on a real database."""
