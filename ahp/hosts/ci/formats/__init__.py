"""One module an output format of a report."""
