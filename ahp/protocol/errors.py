from ahp.system.errors import AhpError, Timeout

__all__ = ["AhpError", "Timeout"]
