"""git asks: the hooks it runs, and putting them in place (design §9)."""
