"""The output formats, one module each: a function from a report to text.

`document` writes JSON and YAML, `panels` draws `rich`, and `color`, `grid` and `plain` need
no library. `layout` has what the formats for people share. A printer must not change what a
report says. It passes every name through `terminal.visible`: names come from repositories and
must not control a terminal.
"""
