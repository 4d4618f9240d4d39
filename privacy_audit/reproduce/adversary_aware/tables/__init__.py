"""Paper U's tables, and what they mean for real lists of secrets."""
