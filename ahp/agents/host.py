"""Each client of a coding agent as a host (`ahp.hosts.table`): `ahp.agents.host:claude`."""

import os
import sys

from ahp.agents import clients, install, pack
from ahp.facts.actor import LAUNCHER
from ahp.hosts.table import Check
from ahp.protocol.text import one_line
from ahp.system.git import Repository
from ahp.system.terminal import prose


class Client:
    """One client, by its name in `ahp.agents.clients.CLIENTS`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def hook(self, arguments: tuple[str, ...]) -> int:
        """Judges an event of the client, and ends the process."""
        from ahp.agents import main

        sys.argv[1:] = ["agent", "", "", "", "git", self.name, *arguments]
        main.main()
        return 0

    def found(self, root: str, env: dict[str, str]) -> bool:
        """Whether this project has settings for the client, or it is on PATH."""
        from ahp.system import process

        return install.works_in(root, self.name) or process.find(self.name, env) is not None

    def install(self, user: bool) -> list[str]:
        """Adds our hooks to the client's settings. Raises AhpError."""
        from ahp.hosts.asking import repository_here, user_policy

        repo = repository_here()
        done = install.install(repo, self.name, user_policy(), user=user)
        share = "" if user else "; commit it, so that everybody's agent is judged"
        said = "hooks in" if done.changed else "nothing to change in"
        lines = [prose(f"{self.name}: {said} {one_line(done.path, 1000)}{share}")]
        lines += [prose(f"{self.name}: {done.todo}")] if done.todo else []
        told = pack.bring(repo, user_policy(), user=user)
        return [*lines, prose(f"policy: {one_line(told, 1000)}")] if told else lines

    def uninstall(self, user: bool, named: bool) -> list[str]:
        """Takes our hooks out of the client's settings. Raises AhpError."""
        from ahp.hosts.asking import repository_here

        repo = repository_here()
        was_there = install.uninstall(repo, self.name, user=user)
        if not (was_there or named):
            return []
        path = one_line(install.settings_path(repo.root, self.name, user), 1000)
        return [f"{self.name}: hooks removed from {path}" if was_there else f"{self.name}: nothing of ours in {path}"]

    def examine(self, repo: Repository) -> list[Check]:
        """Whether the client's hooks come to the gate."""
        from ahp.agents import doctor

        return doctor.examine(repo, self.name)

    @staticmethod
    def renew(repo: Repository) -> None:
        """Writes the launcher of all clients anew, where one is installed. Raises AhpError."""
        from ahp.hosts.asking import user_policy

        if os.path.lexists(repo.ahp_dir + LAUNCHER):
            install.launcher(repo, user_policy())


def __getattr__(name: str) -> Client:
    if name not in clients.CLIENTS:
        raise AttributeError(name)
    return Client(name)
