"""One module a CI platform: what its variables and files say of a change."""
