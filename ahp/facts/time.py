"""`time`: now, in the zone the policy states, else the machine's (design §4, §6)."""

TRIGGERS = None

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

SCHEMA = {
    "hour": {"type": "int", "min": 0, "max": 23, "doc": "hour of the day"},
    "minute": {"type": "int", "min": 0, "max": 59, "doc": "minute of the hour"},
    "weekday": {"type": "str", "enum": list(WEEKDAYS), "doc": "English name of the day, lower case"},
    "date": {"type": "str", "doc": "2026-02-09"},
}
