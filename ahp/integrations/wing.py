"""This wing adds nothing to ahp's tables (`ahp.system.wings`): programs import its modules, one a framework."""
