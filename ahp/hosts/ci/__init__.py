"""The check that nobody can skip: a range of commits judged where its author cannot reach (authority §6)."""
