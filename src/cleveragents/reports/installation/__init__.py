"""Reports about the installation rather than a plan: health, disk space, settings, tools."""
