"""Reports about plans: their status, their log, what they changed, and how they ended.

`plan` shows a plan or a list of plans, `lifecycle` a plan that stopped early, `log` its
events, `diffs` and `artifacts` what it changed, `conflicts` what subplans disagree about, and
`apply` how its result gets into the project.
"""
