"""Running a command that owns the terminal, as if it had been started directly.

The command is a child in the same process group, with the same streams, and there is no pty. So
the terminal sends Ctrl-C and Ctrl-Z to the command by itself, and this process only has to survive
them. Signals that are sent to this process alone are passed on. When the command stops, this
process stops too, so that the shell takes the terminal back.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess  # nosec B404 # the user's own command, never through a shell
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

NOT_EXECUTABLE = 126
NOT_FOUND = 127
_SIGNALLED = 128

_SURVIVED = (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP)
"""The terminal sends these to the command as well; passing them on would send them twice."""
_PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)


class CommandNotStartedError(Exception):
    """The command could not be started; `exit_code` is what `env` would return."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code


def require_command(name: str, environment: Mapping[str, str]) -> None:
    """Raises CommandNotStartedError unless there is such a program, before anything is made."""
    if "/" in name:
        if os.path.exists(name):
            return
    elif shutil.which(name, path=environment.get("PATH", os.defpath)):
        return
    elif found := shutil.which(name, os.F_OK, environment.get("PATH", os.defpath)):
        raise CommandNotStartedError(f"{found}: {os.strerror(errno.EACCES)}", NOT_EXECUTABLE)
    raise CommandNotStartedError(f"{name}: {os.strerror(errno.ENOENT)}", NOT_FOUND)


def run_in_foreground(
    command: Sequence[str],
    directory: str,
    environment: Mapping[str, str],
    before: Callable[[], None] | None = None,
) -> int:
    """Runs a command to its end, and returns its exit code, or 128 + n for signal n.

    Args:
        command: The command.
        directory: Where it starts.
        environment: All of its variables.
        before: Called in the child, before that enters the directory and becomes the command.

    Raises:
        CommandNotStartedError: the system refused to start it.
    """
    with _signals() as forward_to:
        try:
            child = _start(command, directory, environment, before)
        except subprocess.SubprocessError as error:
            message = f"{command[0]}: what the command is to see cannot be shown to it"
            raise CommandNotStartedError(message, NOT_EXECUTABLE) from error
        except FileNotFoundError as error:
            raise CommandNotStartedError(f"{command[0]}: {error.strerror}", NOT_FOUND) from error
        except OSError as error:
            message = f"{command[0]}: {error.strerror}"
            raise CommandNotStartedError(message, NOT_EXECUTABLE) from error
        forward_to(child.pid)
        code = _wait(child.pid)
        child.returncode = code  # It is reaped: `Popen` must not wait for it again.
        return code


def _start(
    command: Sequence[str],
    directory: str,
    environment: Mapping[str, str],
    before: Callable[[], None] | None,
) -> subprocess.Popen[bytes]:
    def prepare() -> None:
        if before is not None:
            before()
        os.chdir(directory)

    def started(arguments: list[str]) -> subprocess.Popen[bytes]:
        if before is None:
            return subprocess.Popen(arguments, cwd=directory, env=environment)  # nosec B603
        # The directory may be another one after `before`.
        return subprocess.Popen(  # nosec B603
            arguments,
            env=environment,
            preexec_fn=prepare,  # noqa: PLW1509 # it only calls the system
        )

    try:
        return started(list(command))
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
    # A script without `#!`: shells and `env` give it to `sh`.
    path = shutil.which(command[0], path=environment.get("PATH", os.defpath)) or command[0]
    return started(["/bin/sh", path, *command[1:]])


def in_view(environment: Mapping[str, str], tmux: Path) -> dict[str, str]:
    """Returns the variables of a command in a private view.

    Servers that run outside of the view would change the real files: the command gets a tmux
    server of its own, and its git asks no file system monitor.

    Args:
        environment: All variables of the command.
        tmux: A directory for the socket of that server; it is made.
    """
    tmux.mkdir(mode=0o700, parents=True, exist_ok=True)
    count = environment.get("GIT_CONFIG_COUNT", "")
    number = int(count) if count.isascii() and count.isdigit() else 0
    outer = {"TMUX", "TMUX_PANE"}
    return {
        **{name: value for name, value in environment.items() if name not in outer},
        "TMUX_TMPDIR": str(tmux),
        f"GIT_CONFIG_KEY_{number}": "core.fsmonitor",
        f"GIT_CONFIG_VALUE_{number}": "false",
        "GIT_CONFIG_COUNT": str(number + 1),
    }


def _wait(pid: int) -> int:
    while True:
        _, status = os.waitpid(pid, os.WUNTRACED)
        if os.WIFSTOPPED(status):
            os.kill(os.getpid(), signal.SIGSTOP)
            # Here it continues after `fg`. The command may have stopped by itself, without us.
            os.kill(pid, signal.SIGCONT)
        elif os.WIFSIGNALED(status):
            return _SIGNALLED + os.WTERMSIG(status)
        else:
            return os.WEXITSTATUS(status)


@contextmanager
def _signals() -> Generator[Callable[[int], None]]:
    """Handles signals in the block; the yielded function says which process gets them.

    A handler, unlike `SIG_IGN`, is not inherited by the command. A signal that was ignored before,
    by `nohup` for example, stays ignored here and in the command.
    """
    child: list[int] = []
    early: list[int] = []

    def pass_on(number: int, _: FrameType | None) -> None:
        if child:
            os.kill(child[0], number)
        else:
            early.append(number)

    def forward_to(pid: int) -> None:
        child.append(pid)
        for number in early:
            os.kill(pid, number)

    before = {number: signal.getsignal(number) for number in (*_SURVIVED, *_PASSED_ON)}
    handled = [number for number in before if before[number] is not signal.SIG_IGN]
    for number in handled:
        signal.signal(number, pass_on if number in _PASSED_ON else _survive)
    try:
        yield forward_to
    finally:
        for number in handled:
            signal.signal(number, before[number] or signal.SIG_DFL)


def _survive(number: int, frame: FrameType | None) -> None:
    """Does nothing: the command got the signal too, and decides."""
    del number, frame
