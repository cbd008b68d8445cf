"""The worker's side of the house: files become frozen codes, and regions become exact counts. No edge can import it."""
