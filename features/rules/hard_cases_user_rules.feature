@disk
Feature: The user's own ignore rules count in a sandbox
  What the user never wants in git may be a secret: it is not captured either.

  Scenario Outline: The user's own rules count too: <place>
    Given a project in which the user has run `<command>`
    And a sandbox in which the agent has run `echo 1 > a.secret`
    When the agent runs `echo 2 > a.secret`, and then the sandbox is rolled back
    Then what was left alone is a.secret (ignored)

    Examples:
      | place                         | command                                                                       |
      | the project's info/exclude    | echo '*.secret' >> .git/info/exclude                                          |
      | the user's ignore file        | mkdir -p ~/.config/git; echo '*.secret' > ~/.config/git/ignore                |
      | a file that is configured     | echo '*.secret' > ~/rules; git config core.excludesFile '~/rules'             |
