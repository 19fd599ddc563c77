"""Where plans and checkpoints are recorded: SQLAlchemy models, repositories, migrations."""
