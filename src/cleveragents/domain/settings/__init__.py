"""Settings: the registry of configuration keys, their values and their levels.

- `registry.py` lists every key with its type, default and description; the reference page is
  generated from it.
- `values.py` parses and checks the text of a value.
- `formats.py` names the output formats.

A key is added here and nowhere else. `infrastructure/config` reads the files and the environment;
this package never does.
"""
