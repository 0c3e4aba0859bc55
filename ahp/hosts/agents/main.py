"""Where ahp 0.3 had the agents' hook: what it installed imports this place, until `ahp install` renews it.  [light]"""

from ahp.system import wings

main = wings.load("ahp.agents.main:main")
