"""The ground: settings, database, processes."""
