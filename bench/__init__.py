"""Speed, measured against peers: `make bench`."""
