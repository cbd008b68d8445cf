"""The database itself refuses to rewrite the record, whoever asks, until somebody switches the triggers off."""
