"""Coding agents: what their clients' hooks ask, and the answers in each client's own words (design §9)."""
