"""The recorder of a session from the outside: its socket, its requests, its process.

- `address`: where the socket of a session's recorder is
- `channel`: messages over a socket, each as one line of JSON
- `calls`: methods of services, called in another process
- `client`: what a command asks the recorder of a session
- `server`: waits for everything that a recorder waits for
- `processes`: the command of a session and what it started
- `start`: starts the process that records, and another one if that dies

Nothing here knows what a request does: `cleveragents.recorder_process` puts the parts together.
"""
