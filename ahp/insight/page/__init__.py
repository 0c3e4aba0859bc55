"""The page of `ahp report --html`: what a log tells, to be looked at."""
