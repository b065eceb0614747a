"""Nothing here."""
