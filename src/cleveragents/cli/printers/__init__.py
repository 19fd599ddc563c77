"""One module per way to show a report; each is a function from report to text."""
