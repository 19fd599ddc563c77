Feature: What a plan made
  The artifacts of a plan are the paths that are other than before it, each with the tool that made it.

  Background:
    Given a plan that ran `echo new > new.txt; echo more >> README.md; rm src/app.py; ln -s new.txt link` on a project with a list of 19 lines

  Scenario: Before it is applied
    When the user asks for the plan's artifacts
    Then the artifacts are
      | path       | type    | change   | size | tool  |
      | README.md  | file    | modified | 12   | shell |
      | link       | symlink | created  | 7    | shell |
      | new.txt    | file    | created  | 4    | shell |
      | src/app.py | file    | deleted  |      | shell |
    And the summary of the artifacts is 4 in all, 2 written, 1 edited, 1 deleted, 23 bytes, not applied

  Scenario: After it was applied
    Given the plan has been applied
    When the user asks for the plan's artifacts
    Then the summary of the artifacts is 4 in all, 2 written, 1 edited, 1 deleted, 23 bytes, applied
    And the artifacts name the project's last commit
